#!/bin/bash
# Builds walsizer and runs all its tests, on a machine that may have nothing installed yet.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit

usage() {
  cat <<'END'
Usage: scripts/test.sh [--long] [--keep] [KIND...]

Installs what is missing (apt), builds with gcc and clang, warnings as errors, in a private copy of the tree,
and runs the tests against temporary servers. Needs root, or a user with sudo if something must be installed.
It touches no PostgreSQL cluster and no PostgreSQL file of this machine.

  KIND      unit (engine), cli (the program), regress (pg_regress), pgtap (SQL contract), tap (whole servers),
            upgrade (pg_upgrade from an older server that is installed here too, with its headers), bench (that the
            benchmarks still run, not what they measure), long (the proofs that take minutes, test/t/long);
            default: all but bench and long
  --long    bench and long, too
  --server-only  only what depends on the server: regress, pgtap, tap, upgrade
  --keep    keep the private directory with its logs
  --packages  only tell which Debian packages it needs; those with a "?" only where all of them are to be had

Environment: PG_CONFIG=/path/to/pg_config or PGVERSION=16 (default: the newest PostgreSQL installed, or else
the newest one apt offers), WALSIZER_TMPDIR (where to work; default /var/tmp).
The last line is "N passed, N failed"; the exit status is 0 only if nothing failed and each kind ran tests.
END
}

# What the outer run installs; "-N-" stands for the server's major version. matrix.sh reads it, too.
readonly packages=(make gcc g++ postgresql-N- postgresql-server-dev-N- clang perl libipc-run-perl libgtest-dev
  postgresql-N-pgtap libtap-parser-sourcehandler-pgtap-perl)
# What the program needs: all of it, or the program is left out.
readonly program_packages=(libpq-dev libcli11-dev libfmt-dev nlohmann-json3-dev libre2-dev zlib1g-dev libzstd-dev zstd)

kinds=() long=()
for argument; do
  case $argument in
  --packages) say "${packages[*]} ${program_packages[*]/#/?}" && exit ;;
  --long) long=(bench long) ;;
  --server-only) kinds+=(regress pgtap tap upgrade) ;;
  --keep) keep=1 ;;
  -h | --help) usage && exit ;;
  unit | cli | regress | pgtap | tap | upgrade | bench | long) kinds+=("$argument") ;;
  *) usage >&2 && die "what is $argument?" ;;
  esac
done
((${#kinds[@]})) || kinds=(unit cli regress pgtap tap upgrade)
kinds+=("${long[@]}")

# What stops us before the result is a failure too, and readers of the last line should see one.
handed_over=0 told=0
end_of_run() {
  local result=$?
  clean_up
  ((result == 1 && !told && !handed_over)) && say "0 passed, 1 failed"
  exit "$result"
}

# ---- Outer run: install, then continue in a copy, as an ordinary user ------------------------------------

clean_up_at_exit
trap end_of_run EXIT
if ! is_inner; then
  prepare "${packages[@]}"
  install_if_offered "${program_packages[@]}"
  export WALSIZER_LACKING=${lacking:-}
  [[ " ${kinds[*]} " != *" bench "* ]] || command -v gnuplot >/dev/null || install_missing gnuplot-nox
  make_workdir 2000
  handed_over=1
  hand_over "$@"
  exit
fi

# ---- Inner run -------------------------------------------------------------------------------------------

passed=0 failed=0
logs=$work/logs
mkdir -p "$logs"
cd "$work/src" || exit

# logged NAME COMMAND...: its output goes to $logs/NAME
logged() { in_background "${@:2}" >"$logs/$1" 2>&1; }
# The program takes longer to compile than all the rest: it is built for its own tests only.
[[ " ${kinds[*]} " == *" cli "* ]] && program=yes || program=no
logged_make() { logged "$1" make PG_CONFIG="$PG_CONFIG" WITH_PROGRAM="$program" WERROR=1 "-j$(cores)" "${@:2}"; }

step() {
  printf '   %-52s ' "$1"
  began=$SECONDS
}

show() { cut -c1-200 | sed 's/^/   | /'; }

failure() {
  failed=$((failed + 1))
  say "FAILED: $1"
}

# skip WHY: this kind cannot be tested here
skip() {
  say "   SKIPPED: $1"
  skipped=1
}

# results STATUS LOG PASS_PATTERN FAIL_PATTERN: adds a run's result up, and tells whether all is well. A run
# that broke off counts as one failure at least.
results() {
  local ok not_ok
  ok=$(grep -cE "$3" "$2")
  not_ok=$(grep -E "$4" "$2" | grep -vciE '# *TODO')
  (($1 != 0 && not_ok == 0)) && not_ok=1
  passed=$((passed + ok)) failed=$((failed + not_ok))
  say "$ok of $((ok + not_ok)) passed ($((SECONDS - began)) s)"
  ((not_ok == 0))
}

# ---- Build -----------------------------------------------------------------------------------------------

build() { # DIRECTORY COMPILER MAKE_ARGUMENT...
  step "$("$2" --version | head -n 1)"
  if logged_make "build-$2" -C "$1" "${@:3}"; then
    say "ok ($((SECONDS - began)) s)"
  else
    failure "make ${*:3}"
    tail -n 40 "$logs/build-$2" | show
    return 1
  fi
}

# With the server's assertions in its headers: what a server built with --enable-cassert would compile.
check_assertions() {
  step "compiles with the headers' assertions"
  if logged_make assertions assertions; then
    say "ok ($((SECONDS - began)) s)"
  else
    failure "make assertions"
    tail -n 20 "$logs/assertions" | show
  fi
}

install_walsizer() {
  if ! logged_make install install DESTDIR="$work"; then
    failure "make install"
    tail -n 20 "$logs/install" | show
    return 1
  fi
  if [[ ! -x $work$("$PG_CONFIG" --bindir)/walsizer && $program == yes && -z $WALSIZER_LACKING ]]; then
    failure "make install left no program"
    grep 'walsizer" is not built' "$logs/install" | show
  fi
  step "the library needs no libstdc++ at run time"
  if ! ldd "$work$("$PG_CONFIG" --pkglibdir)/walsizer.so" >"$logs/ldd" 2>&1; then
    failure "ldd walsizer.so"
  elif grep -q 'libstdc++' "$logs/ldd"; then
    failure "an upgrade of the operating system could stop a server from starting"
  else
    say ok
    return
  fi
  show <"$logs/ldd"
}

# shellcheck source-path=SCRIPTDIR source=test_kinds.sh
. scripts/test_kinds.sh || exit

# ---- All of it -------------------------------------------------------------------------------------------

shopt -s nullglob
temporary_installation
pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")/..
# What PostgreSQL::Test::Cluster wants to know; TESTDIR up to 15, the other two from 16 on
export PG_REGRESS=$pgxs/test/regress/pg_regress top_builddir=$work/tap
export TESTDIR=$work/tap TESTDATADIR=$work/tap/tmp_check TESTLOGDIR=$work/tap/tmp_check/log
mkdir -p "$TESTDIR"
say "walsizer's tests on $("$bin/postgres" --version), as user $(id -un), in $work"

heading "Build: warnings are errors"
cp -r "$work/src" "$work/clang"
build "$work/clang" clang CC=clang CXX=clang++ COPT=-O0 # for its warnings alone
build "$work/src" gcc CC=gcc CXX=g++ && install_walsizer && built=1
check_assertions

for kind in "${kinds[@]}"; do
  before=("$passed" "$failed") since=$SECONDS skipped=0
  if [[ $kind != unit && -z ${built:-} ]]; then
    heading "$kind"
    failure "not run, the build failed"
  else
    "run_$kind"
    ((skipped || passed + failed > before[0] + before[1])) || failure "no test ran"
  fi
  say "$kind: $((passed - before[0])) passed, $((failed - before[1])) failed ($((SECONDS - since)) s)"
done

heading "Result, after $((SECONDS / 60)) min $((SECONDS % 60)) s"
say "$passed passed, $failed failed"
told=1
((failed == 0))
