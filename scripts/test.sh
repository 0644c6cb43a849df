#!/bin/bash
# Builds walsizer and runs all its tests, on a machine that may have nothing installed yet.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit

usage() {
  cat <<'END'
Usage: scripts/test.sh [--long] [--keep] [KIND...]

Installs what is missing (apt), builds with gcc and clang, warnings as errors, in a private copy of the tree, and runs
the tests against temporary servers. Needs root, or a user with sudo if something must be installed. It touches no
PostgreSQL cluster and no PostgreSQL file of this machine.

  KIND      unit (engine), regress (pg_regress), pgtap (SQL contract), tap (whole servers); default: all of them
  --long    also the proofs that take minutes (test/t/long)
  --keep    keep the private directory with its logs

Environment: PG_CONFIG=/path/to/pg_config or PGVERSION=16 (default: the newest PostgreSQL installed, or else the
newest one apt offers), WALSIZER_TMPDIR (where to work; default /var/tmp).
The last line is "N passed, N failed"; the exit status is 0 only if nothing failed and each kind ran tests.
END
}

long=0 kinds=()
for argument; do
  case $argument in
  --long) long=1 ;;
  --keep) keep=1 ;;
  -h | --help) usage && exit ;;
  unit | regress | pgtap | tap) kinds+=("$argument") ;;
  *) usage >&2 && die "what is $argument?" ;;
  esac
done
((${#kinds[@]})) || kinds=(unit regress pgtap tap)
((long)) && kinds+=(long)

# ---- Outer run: install, then continue in a copy, as an ordinary user -----------------------------------------------

handed_over=0 told=0

# What stops us before the first test is a failure too, and readers of the last line should see one.
end_of_run() {
  local result=$?
  clean_up
  ((result == 1 && !told && !handed_over)) && say "0 passed, 1 failed"
  exit "$result"
}

outer() {
  clean_up_at_exit
  trap end_of_run EXIT
  prepare make gcc g++ postgresql-N- postgresql-server-dev-N- clang perl libipc-run-perl libgtest-dev \
    postgresql-N-pgtap libtap-parser-sourcehandler-pgtap-perl
  make_workdir 2000
  handed_over=1
  hand_over "$@"
}

if ! is_inner; then
  outer "$@"
  exit
fi

# ---- Inner run ------------------------------------------------------------------------------------------------------

passed=0 failed=0 built=0
logs=$work/logs
clean_up_at_exit
trap end_of_run EXIT
mkdir -p "$logs"
cd "$work/src" || exit

show() { sed 's/^/   | /' | cut -c1-200; }

# logged NAME COMMAND...: its output goes to $logs/NAME
logged() { in_background "${@:2}" >"$logs/$1" 2>&1; }

step() { printf '   %-48s ' "$1"; }

failure() {
  failed=$((failed + 1))
  say "FAILED: $1"
}

# counted PASSED FAILED EXIT_STATUS: adds a run's result up; a run that broke off counts as one failure at least
counted() {
  local pass=$1 fail=$2
  (($3 != 0 && fail == 0)) && fail=1
  passed=$((passed + pass)) failed=$((failed + fail))
  printf '%d of %d passed (%d s)\n' "$pass" $((pass + fail)) $((SECONDS - began))
  ((fail == 0))
}

# results LOG PASS_PATTERN FAIL_PATTERN: sets ok and not_ok
results() {
  ok=$(grep -cE "$2" "$1")
  not_ok=$(grep -E "$3" "$1" | grep -vciE '# *TODO')
}

build() {
  local name=$1 directory=$2
  began=$SECONDS
  step "$("${3#CC=}" --version | head -n 1)"
  if logged "build-$name" make -C "$directory" PG_CONFIG="$PG_CONFIG" WERROR=1 "-j$(getconf _NPROCESSORS_ONLN)" "${@:3}"; then
    say "ok ($((SECONDS - began)) s)"
  else
    failure "make ${*:3}"
    tail -n 40 "$logs/build-$name" | show
    return 1
  fi
}

install_walsizer() {
  local library
  logged install make install PG_CONFIG="$PG_CONFIG" WERROR=1 DESTDIR="$work" || {
    failure "make install"
    tail -n 20 "$logs/install" | show
    return 1
  }
  step "the library needs no libstdc++ at run time"
  library=$work$("$PG_CONFIG" --pkglibdir)/walsizer.so
  if ! ldd "$library" >"$logs/ldd" 2>&1; then
    failure "ldd $library"
  elif grep -q 'libstdc++' "$logs/ldd"; then
    failure "an upgrade of the operating system could stop a server from starting"
  else
    say ok && return
  fi
  show <"$logs/ldd"
}

run_unit() {
  heading "Unit tests: the engine, GoogleTest with address and undefined-behaviour sanitizers"
  step "make unit"
  logged unit make unit PG_CONFIG="$PG_CONFIG" WERROR=1 "-j$(getconf _NPROCESSORS_ONLN)"
  status=$?
  results "$logs/unit" '^\[ +OK \] ' '^\[  FAILED  \] .* \([0-9]+ ms\)$'
  counted "$ok" "$not_ok" "$status" && return
  grep -E -B 8 '^\[  FAILED  \] .* ms\)$' "$logs/unit" | head -n 60 | show
  grep -E -A 12 'runtime error:|ERROR: AddressSanitizer' "$logs/unit" | head -n 40 | show
  tail -n 15 "$logs/unit" | show
}

run_regress() {
  local tests=(test/sql/*.sql) file
  heading "SQL regression tests: pg_regress with its own temporary server"
  tests=("${tests[@]##*/}")
  step "${#tests[@]} files"
  logged regress "$pgxs/test/regress/pg_regress" --temp-instance="$work/regress" --temp-config=test/walsizer.conf \
    --inputdir=test --outputdir=. --bindir="$bin" --no-locale --encoding=UTF8 "${tests[@]%.sql}"
  status=$?
  # up to 15 "test name ... ok", from 16 on "ok 1 - name"
  results "$logs/regress" '\.\.\. ok|^ok ' '\.\.\. FAILED|\.\.\. failed|^not ok '
  counted "$ok" "$not_ok" "$status" && return
  grep -E 'FAILED|failed|^not ok|^# ' "$logs/regress" | show
  [[ -s regression.diffs ]] && head -n 120 regression.diffs | show && return
  tail -n 20 "$logs/regress" | show
  for file in log/initdb.log log/postmaster.log; do [[ -s $file ]] && tail -n 15 "$file" | show; done
}

# tap_file FILE COMMAND...: one file of TAP, whatever produces it
tap_file() {
  local name=${1##*/} log
  log=$logs/$name
  step "$1"
  began=$SECONDS
  logged "$name" "${@:2}" "$1"
  status=$?
  results "$log" '^ok [0-9]' '^not ok [0-9]'
  if ((status == 0 && ok == 0)) && grep -qi 'skip' "$log"; then
    say "skipped: $(sed -n 's/.*[sS][kK][iI][pP][^ ]* *//p' "$log" | head -n 1)"
    return
  fi
  counted "$ok" "$not_ok" "$status" && return
  if (($(wc -l <"$log") > 60)); then
    grep -E -A 6 '^not ok |^psql:' "$log" | head -n 40 | show
    tail -n 15 "$log" | show
  else
    show <"$log"
  fi
  log=$work/tap/tmp_check/log/regress_log_${name%.pl}
  [[ -s $log ]] && say "   The end of its own log:" && tail -n 25 "$log" | show
}

run_pgtap() {
  local file
  heading "pgTAP: the SQL contract"
  export_connection
  if ! { new_cluster "$work/pgtap" <test/walsizer.conf && start_cluster "$work/pgtap" &&
    psql -XqAt -v ON_ERROR_STOP=1 -c "CREATE DATABASE pgtap" &&
    psql -XqAt -v ON_ERROR_STOP=1 -d pgtap -c "CREATE EXTENSION pgtap"; } 2>&1 | show; then
    failure "no server with pgTAP and walsizer"
  else
    for file in test/pgtap/*.sql; do
      tap_file "$file" pg_prove --norc --nocolor --verbose -d pgtap
    done
  fi
  stop_cluster "$work/pgtap" immediate 2>/dev/null
  unset PGHOST PGPORT PGUSER PGDATABASE
}

run_prove() {
  local file
  mkdir -p "$work/tap"
  export TESTDIR=$work/tap TESTDATADIR=$work/tap/tmp_check TESTLOGDIR=$work/tap/tmp_check/log # the latter two: 16+
  export PG_REGRESS=$pgxs/test/regress/pg_regress top_builddir=$work/tap
  for file; do
    tap_file "$file" prove --norc --nocolor --verbose -I "$pgxs/test/perl" -I test/t
  done
}

run_tap() {
  heading "TAP: whole-server behaviour, each test with servers of its own"
  run_prove test/t/*.pl
}

run_long() {
  heading "TAP: the proofs that take minutes"
  run_prove test/t/long/*.pl
}

shopt -s nullglob
temporary_installation
pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")/..
say "walsizer's tests on $("$bin/postgres" --version), as user $(id -un), in $work"

heading "Build: warnings are errors"
cp -r "$work/src" "$work/clang"
build clang "$work/clang" CC=clang CXX=clang++
build gcc "$work/src" CC=gcc CXX=g++ && install_walsizer && built=1

for kind in "${kinds[@]}"; do
  before=$((passed + failed)) began=$SECONDS
  if [[ $kind != unit ]] && ((!built)); then
    failure "$kind: not run, the build failed"
  else
    "run_$kind"
    ((passed + failed > before)) || failure "$kind: no test ran"
  fi
done

heading "Result, after $((SECONDS / 60)) min $((SECONDS % 60)) s"
say "$passed passed, $failed failed"
told=1
((failed == 0))
