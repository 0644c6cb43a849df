#!/bin/bash
# Is walsizer.what_if() right? The same load at several fixed sizes of max_wal_size; after each run walsizer is asked what
# the other sizes would have done, and that is held against what they did, by PostgreSQL's own counters.
#
# The load comes at a fixed rate (pgbench -R), so that every run does the same work: a closed loop would do more
# transactions where fewer images slow it down, and there would be nothing to compare. Each run starts from a copy of
# the same cluster, with walsizer watching only (walsizer.enable = off) and without autovacuum, whose moment is chance.
# Right is a number of checkpoints within 20 % or one of what was counted, and WAL within 20 %.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit

parameter sizes 64,128,192,320,512,1024 64,128,320,1024 64,1024 "the fixed sizes, MB"
parameter loads uniform,skewed uniform,skewed uniform "which rows are written: all alike, or a few most of the time"
parameter seconds 300 90 33 "of load at each size"
parameter rate 300 300 100 "transactions per second; far below what the machine can do"
parameter scale 20 20 2 "pgbench's scale: 15 MB of data each"
parameter buffers 512 512 32 "shared_buffers, MB"
parameter timeout 30 30 30 "checkpoint_timeout, s"
parameter patience 60 20 0 "how long to wait for other work to end, s"
begin 10000 10000 2000

# One transaction: four rows of pgbench_accounts, and 30 rows of history, for WAL that is no image.
write_script() { # FILE DISTRIBUTION
  local row
  for row in a b c d; do say "\\set $row $2"; done >"$1"
  cat >>"$1" <<'SQL'
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid IN (:a, :b, :c, :d);
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) SELECT 1, 1, :a, n, now() FROM generate_series(1, 30) n;
COMMIT;
SQL
}
write_script "$work/uniform.sql" "random(1, 100000 * :scale)"
write_script "$work/skewed.sql" "permute(random_zipfian(1, 100000 * :scale, 1.01), 100000 * :scale)"

run_load() { # LOAD RATE SECONDS
  in_background pgbench -n -c 4 -j 1 -M prepared -s "${p[scale]}" -R "$2" -T "$3" -f "$work/$1.sql"
}

# A table that was just loaded behaves differently for a while: it is used first.
load_data() {
  local load
  pgbench -i -q -s "${p[scale]}" -F 90 || return
  for load in ${p[loads]//,/ }; do run_load "$load" $((3 * p[rate])) $((p[seconds] / 5)) || return; done
  query -c CHECKPOINT
}

# Position, time, timed and requested checkpoints, by PostgreSQL's own account.
state() {
  local counters="checkpoints_timed, checkpoints_req FROM pg_stat_bgwriter"
  (($(query -c "SHOW server_version_num") < 170000)) || counters="num_timed, num_requested FROM pg_stat_checkpointer"
  query -F ' ' -c "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'), extract(epoch FROM clock_timestamp()), $counters"
}

# run LOAD SIZE: a row of measured.csv, and of predicted.csv one for each size
run() {
  local lsn began timed requested lsn_after ended timed_after requested_after elapsed asked
  wait_for_quiet
  start_contender "$2" disabled
  query -c CHECKPOINT
  read -r lsn began timed requested < <(state)
  run_load "$1" "${p[rate]}" "${p[seconds]}" >"$results/pgbench-$1-$2.txt" 2>&1 || die "pgbench failed"
  read -r lsn_after ended timed_after requested_after < <(state)
  elapsed=$(calculate %.3f "$ended - $began")
  asked="${p[sizes]//,/ << 20, } << 20"
  say "$1,$2,$((timed_after - timed)),$((requested_after - requested)),$((lsn_after - lsn)),$load" >>"$results/measured.csv"
  query -F , -c "
    SELECT '$1', $2, max_wal_size >> 20, timed_per_hour * $elapsed / 3600, forced_per_hour * $elapsed / 3600,
           wal_per_hour * $elapsed / 3600, is_bound::int
    FROM walsizer.what_if(ARRAY[$asked]::bigint[], '$elapsed s')" >>"$results/predicted.csv"
  stop_cluster "$cluster"
  cp "$cluster/pg_stat/walsizer.history" "$results/$1-$2.history"
  say "  $(printf '%-8s %5d MB %7d timed %7d forced %7.0f MB of WAL %7s' "$1" "$2" $((timed_after - timed)) \
    $((requested_after - requested)) "$(calculate %f "($lsn_after - $lsn) / 1e6")" "$load")"
}

# compare LOAD: the table, and at its end what it adds up to
compare() {
  awk -F , -v load="$1" '
    function off(p, m) {return p > m ? p - m : m - p}
    function near(p, m) {return off(p, m) <= 1 || off(p, m) <= 0.2 * m}
    $1 != load {next}
    FILENAME ~ /measured/ {timed[$2] = $3; forced[$2] = $4; wal[$2] = $5; if ($2 > largest) largest = $2; next}
    !head++ {
      printf "\n%-7s run | asked |  predicted             |  measured            |\n", load
      printf "  at, MB    |    MB | timed forced  WAL, MB  | timed forced WAL, MB | verdict\n"
    }
    {
      m = $3
      if ($7) right = $5 >= forced[m] - 1 && $6 >= 0.98 * wal[m]
      else right = near($4, timed[m]) && near($5, forced[m]) && off($6, wal[m]) <= 0.2 * wal[m]
      verdict = $7 ? (right ? "holds" : "BROKEN") : m == $2 ? "itself" : right ? "in" : "OUT"
      printf "%11d | %5d | %5.1f %6.1f %8.0f %s | %5d %6d %7.0f | %s\n", $2, m, $4, $5, $6 / 1e6, $7 ? "<" : " ", timed[m],
        forced[m], wal[m] / 1e6, verdict
      if ($7) {bounds++; held += right}
      else if (m != $2) {all++; all_right += right}
      if ($2 == largest && m != largest) {below++; below_right += right}
    }
    END {printf "sums,%d,%d,%d,%d,%d,%d\n", below_right, below, all_right, all, held, bounds}
  ' "$results/measured.csv" "$results/predicted.csv"
}

make_template "shared_buffers = ${p[buffers]}MB" "checkpoint_timeout = ${p[timeout]}s" "synchronous_commit = off" \
  "autovacuum = off"
for size in ${p[sizes]//,/ }; do
  contender "$size" "shared_preload_libraries = 'walsizer'" "walsizer.enable = off" "max_wal_size = ${size}MB"
done
say "${p[rate]} transactions/s for ${p[seconds]} s; the last column is the load average before"
for load_name in ${p[loads]//,/ }; do
  for size in "${contenders[@]}"; do run "$load_name" "$size"; done
done
for load_name in ${p[loads]//,/ }; do
  compare "$load_name" >"$work/table"
  grep -v '^sums' "$work/table" | tee -a "$results/table.txt"
  IFS=, read -r _ below_right below all_right all held bounds < <(grep '^sums' "$work/table")
  say
  target "$load_name: smaller sizes, foretold from the largest" "$below_right" '>=' "$below"
  target "$load_name: other sizes, foretold from any" "$all_right" '>=' "$all"
  target "$load_name: bounds (<) that hold" "$held" '>=' "$bounds"
done
finish
