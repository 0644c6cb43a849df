# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # test.sh and common.sh have the variables
# Sourced by test.sh: one function run_KIND for each kind of test. They add their results up by results() or failure().

# google_test TARGET
google_test() {
  local log=$logs/$1
  step "make $1"
  logged_make "$1" "$1"
  results $? "$log" '^\[ +OK \] ' '^\[  FAILED  \] .* \([0-9]+ ms\)$' && return
  grep -E -B 8 '^\[  FAILED  \] .* ms\)$' "$log" | head -n 60 | show
  grep -E -A 12 'runtime error:|ERROR: AddressSanitizer' "$log" | head -n 40 | show
  tail -n 15 "$log" | show
}

run_unit() {
  heading "Unit tests: the engine, GoogleTest with address and undefined-behaviour sanitizers"
  google_test unit
  step "make simulate: what the policy promises"
  logged_make simulate simulate
  results $? "$logs/simulate" '^kept ' '^BROKEN ' || grep -A2 '^BROKEN' "$logs/simulate" | show
}

run_cli() {
  heading "The program: GoogleTest, and runs of it, both with sanitizers"
  if [[ -n $WALSIZER_LACKING ]]; then
    skip "this system has no package $WALSIZER_LACKING, without which the program is not built"
    return
  fi
  google_test cli-unit
  logged_make cli-checked cli-checked || return
  export WALSIZER=$work/src/build/checked/walsizer
  run_prove "$(($(cores) + 1))" test/cli/t/*.pl
}

run_regress() {
  local tests log=$logs/regress file
  heading "SQL regression tests: pg_regress with its own temporary server"
  # in the order of the Makefile, which "make installcheck" uses too
  # shellcheck disable=SC2016 # a make variable
  read -ra tests < <(make PG_CONFIG="$PG_CONFIG" --eval='tell-tests:; @echo $(REGRESS)' tell-tests)
  ((${#tests[@]})) || return
  step "${#tests[@]} files"
  logged regress "$PG_REGRESS" --temp-instance="$work/regress" --temp-config=test/walsizer.conf \
    --bindir="$bin" --inputdir=test --outputdir=. --no-locale --encoding=UTF8 "${tests[@]}"
  # up to 15 "test name ... ok", from 16 on "ok 1 - name"
  results $? "$log" '\.\.\. ok|^ok ' '\.\.\. FAILED|\.\.\. failed|^not ok ' && return
  grep -E 'FAILED|failed|^not ok|^# ' "$log" | show
  if [[ -s regression.diffs ]]; then
    head -n 120 regression.diffs | show
  else
    tail -n 20 "$log" | show
    for file in log/initdb.log log/postmaster.log; do [[ -s $file ]] && tail -n 15 "$file" | show; done
  fi
}

# tap_result FILE STATUS: one file of TAP, whatever produced it; its output is in $logs
tap_result() {
  local name=${1##*/} log
  log=$logs/$name
  if (($2 == 0)) && ! grep -q '^ok [0-9]' "$log" && grep -qi 'skip' "$log"; then
    say "skipped: $(sed -n 's/.*[sS][kK][iI][pP][^ ]* *//p' "$log" | head -n 1)"
    return
  fi
  results "$2" "$log" '^ok [0-9]' '^not ok [0-9]' && return
  if (($(wc -l <"$log") > 60)); then
    grep -E -A 6 '^ *not ok |^psql:' "$log" | head -n 60 | show # in a subtest they are indented
    tail -n 15 "$log" | show
  else
    show <"$log"
  fi
  log=$TESTLOGDIR/regress_log_${name%.pl}
  [[ -s $log ]] && say "   The end of its own log:" && tail -n 25 "$log" | show
}

run_pgtap() {
  local data=$work/pgtap file
  heading "pgTAP: the SQL contract"
  export_connection
  if new_cluster "$data" <test/walsizer.conf && start_cluster "$data" && createdb pgtap &&
    psql -XqAt -v ON_ERROR_STOP=1 -d pgtap -c "CREATE EXTENSION pgtap"; then
    for file in test/pgtap/*.sql; do
      step "$file"
      logged "${file##*/}" pg_prove --norc --nocolor --verbose -d pgtap "$file"
      tap_result "$file" $?
    done
  else
    failure "no server with pgTAP and walsizer"
  fi 2>&1
  stop_cluster "$data" immediate 2>/dev/null
  unset PGHOST PGPORT PGUSER PGDATABASE
}

# run_prove AT_ONCE FILE...: tells each result as it comes. $logs/FILE.done has a test's exit status and time.
run_prove() {
  local at_once=$1 file waiting again alive=1 status spent
  shift
  (($#)) || return
  set -m
  # shellcheck disable=SC2016 # it is the inner shell that expands
  printf '%s\0' "$@" | xargs -0 -n 1 -P "$at_once" bash -c '
    log=$0/${2##*/}
    prove --norc --nocolor --verbose -I "$1/test/perl" -I test/t/lib -I test/cli/lib "$2" >"$log" 2>&1 </dev/null
    echo "$? $SECONDS" >"$log.part" && mv "$log.part" "$log.done"' "$logs" "$pgxs" &
  child=$!
  set +m
  waiting=("$@")
  while ((alive && ${#waiting[@]})); do
    kill -0 "$child" 2>/dev/null || alive=0
    again=()
    for file in "${waiting[@]}"; do
      if [[ -e $logs/${file##*/}.done ]]; then
        step "$file"
        read -r status spent <"$logs/${file##*/}.done"
        began=$((SECONDS - spent))
        tap_result "$file" "$status"
      else
        again+=("$file")
      fi
    done
    waiting=("${again[@]}")
    sleep 0.2
  done
  wait "$child"
  child=
  for file in "${waiting[@]}"; do failure "$file broke off"; done
}

run_tap() {
  local at_once=$(($(cores) + 1)) # they wait for a checkpoint or a timeout most of the time
  heading "TAP: whole-server behaviour, each test with servers of its own, $at_once at once"
  run_prove "$at_once" test/t/*.pl
}

# Not fill_the_disk.sh: it mounts a volume, which takes root; test/t/long/fill_the_disk.pl does without.
run_bench() {
  local file name status
  heading "The benchmarks, as short as they can be"
  for file in bench/{load,overhead,readwrite,recovery,storm}.sh; do
    name=${file##*/}
    step "$file --smoke"
    logged "$name" bash "$file" --smoke
    status=$?
    results "$status" "$logs/$name" ' (reached|MISSED|not measured)$' '^not ok' && continue
    tail -n 20 "$logs/$name" | show
  done
}

# The newest server older than this one that is installed with its headers.
older_pg_config() {
  local major
  for ((major = pg_major - 1; major >= oldest_major; major--)); do
    [[ -e $("/usr/lib/postgresql/$major/bin/pg_config" --includedir-server 2>/dev/null)/postgres.h ]] || continue
    echo "/usr/lib/postgresql/$major/bin/pg_config"
    return
  done
  return 1
}

run_upgrade() {
  local older pg_major
  pg_major=$("$PG_CONFIG" --version | sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p')
  heading "pg_upgrade from an older server, walsizer preloaded on both sides"
  if ! older=$(older_pg_config); then
    skip "no older server is installed here with its headers"
    return
  fi
  step "walsizer for $("$older" --version)"
  cp -r "$top" "$work/older"
  if (PG_CONFIG=$older temporary_installation) &&
    logged clean-older make -C "$work/older" clean PG_CONFIG="$older" WITH_PROGRAM=no &&
    logged build-older make -C "$work/older" install PG_CONFIG="$older" WITH_PROGRAM=no WERROR=1 DESTDIR="$work" \
      "-j$(cores)"; then
    say "ok ($((SECONDS - began)) s)"
  else
    failure "no walsizer for the older server"
    tail -n 20 "$logs/build-older" | show
    return
  fi
  export WALSIZER_OLDER=$work${older%/bin/pg_config}
  run_prove 1 test/upgrade/*.pl
}

run_long() {
  heading "TAP: the proofs that take minutes, one at a time"
  run_prove 1 test/t/long/*.pl
}
