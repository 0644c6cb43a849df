#!/bin/bash
# Bulk load: pgbench -i, COPY, CREATE INDEX, REINDEX and an UPDATE of every row, twice in a row on the same server.
#
# Contenders: PostgreSQL's default max_wal_size (default), the right fixed one, measured first (fixed), walsizer from
# the default. A statement that is already running keeps the trigger it started with, so walsizer's first load may see
# a forced checkpoint or two; the second must see none. Between the loads the server finishes its checkpoints.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit

parameter scale 800 20 2 "pgbench's scale: 15 MB of data each"
parameter rows 15000000 400000 20000 "rows of the COPY, 230 bytes each"
parameter buffers 1024 256 32 "shared_buffers, MB"
parameter timeout 300 300 30 "checkpoint_timeout, s"
parameter start 1024 128 64 "max_wal_size to start with, MB"
parameter rounds 3 1 1 "each contender loads twice that often, in turn"
parameter iops 2000 2000 0 "writes per second of the storage; 0: as it is"
parameter fixed 0 0 1024 "the right fixed size, MB; 0: measure it"
parameter patience 60 20 0 "how long to wait for other work to end, s"
begin 100000 25000 3000

load_data() {
  query -c "COPY (SELECT i, repeat(md5(i::text), 7) FROM generate_series(1, ${p[rows]}) i) TO '$work/rows'"
}

# step NAME COMMAND...: runs it and writes down what it cost
step() {
  local lsn began line
  lsn=$(insert_lsn) line=$(log_lines) began=$(now)
  in_background "${@:2}" >"$work/step.log" 2>&1 || {
    tail -n 5 "$work/step.log" "$cluster.log" >&2
    die "$1 failed"
  }
  began=$(calculate %.2f "$(now) - $began") lsn=$(calculate %.1f "($(insert_lsn) - $lsn) / 1048576")
  say "$prefix,$1,$began,$lsn,$(forced_since "$line")" >>"$results/steps.csv"
}

sql() { step "$1" query -c "$2"; }

load_once() {
  step pgbench_-i pgbench -i -q -s "${p[scale]}"
  query -c "DROP TABLE IF EXISTS copied; CREATE TABLE copied (id bigint, words text)" 2>/dev/null
  sql COPY "COPY copied FROM '$work/rows'"
  sql INDEX "CREATE INDEX ON copied (left(words, 40))"
  sql REINDEX "REINDEX TABLE pgbench_accounts"
  sql UPDATE "UPDATE pgbench_accounts SET abalance = abalance + 1"
  settle
}

# A checkpoint that the load has asked for begins when the one before is complete, maybe after the load. It is this load's.
settle() {
  local line
  line=$(log_lines)
  query -c CHECKPOINT
  say "$prefix,after,0,0,$(forced_since "$line")" >>"$results/steps.csv"
}

# load_twice ROUND CONTENDER
load_twice() {
  local load_number
  wait_for_quiet
  start_contender "$2"
  for load_number in 1 2; do
    prefix=$1,$2,$load_number,$load
    load_once
    say "$prefix,$(megabytes max_wal_size)" >>"$results/sizes.csv"
    [[ $2 == measuring ]] || awk -F , -v prefix="$prefix" '
      index($0, prefix ",") == 1 {t += $6; wal += $7; forced += $8}
      END {split(prefix, p, ","); printf "  %5s  %-10s %-7s %9.1f %9.0f %9d   %6s\n", p[1], p[2],
        p[3] == 1 ? "first" : "second", t, wal, forced, p[4]}' "$results/steps.csv"
  done
  if preloads_walsizer "$2"; then
    query --csv -c "SELECT * FROM walsizer.decisions ORDER BY id" >"$results/decisions-$1.csv"
  fi
  cp "$cluster.log" "$results/server-$2-$1.log"
  stop_cluster "$cluster" immediate
}

# table_of COLUMN DIGITS: the mean of the rounds, for each statement
table_of() {
  awk -F , -v column="$1" -v digits="$2" '
    NR == 1 || $2 == "measuring" {next}
    {
      who = $2 " " ($3 == 1 ? "first" : "second")
      if (!(who in known)) {known[who]; order[++n] = who}
      if (!($5 in seen)) {seen[$5]; steps[++m] = $5}
      sum[who, $5] += $column
      if (!((who, $1) in counted)) {counted[who, $1]; rounds[who]++}
    }
    END {
      printf "%-15s", ""
      for (j = 1; j <= m; j++) printf "%11s", steps[j]
      printf "%10s\n", "all"
      for (i = 1; i <= n; i++) {
        printf "%-15s", order[i]
        all = 0
        for (j = 1; j <= m; j++) {
          v = sum[order[i], steps[j]] / rounds[order[i]]
          all += v
          printf "%11." digits "f", v
        }
        printf "%10." digits "f\n", all
      }
    }' "$results/steps.csv" | tee -a "$results/table.txt"
}

# most FORCED CONTENDER LOAD: the largest sum of forced checkpoints in one load
most_forced() {
  awk -F , -v c="$1" -v l="$2" '
    $2 == c && $3 == l {n[$1] += $8}
    END {for (r in n) if (n[r] > most) most = n[r]; print most + 0}' "$results/steps.csv"
}
# walsizer_by_fixed COLUMN: the ratio of both loads' sums, the median of the rounds
walsizer_by_fixed() {
  awk -F , -v OFS=, -v column="$1" '{sum[$1 OFS $2] += $column} END {print "round"; for (w in sum) print w, sum[w]}' \
    "$results/steps.csv" | awk -F , -f "$lib/ratio.awk" -v column=3 -v a=walsizer -v b=fixed
}

say "round,contender,load,load_average,step,seconds,wal_mb,forced" >"$results/steps.csv"
say "round,contender,load,load_average,size_mb" >"$results/sizes.csv"
make_template "shared_buffers = ${p[buffers]}MB" "checkpoint_timeout = ${p[timeout]}s" \
  "checkpoint_completion_target = 0.9" "maintenance_work_mem = 256MB"
find_right_size load_twice 0 measuring
contender default "max_wal_size = ${p[start]}MB"
contender fixed "max_wal_size = ${right_size}MB"
# Whoever sets a fixed size above walsizer's own ceilings has looked at the disk and at the restart.
ceilings=()
((right_size <= 16384)) || ceilings=("walsizer.max = ${right_size}MB" "walsizer.max_recovery_time = 0")
contender walsizer "max_wal_size = ${p[start]}MB" "shared_preload_libraries = 'walsizer'" "${ceilings[@]}"
heading "Every load, in the order they ran"
say '  round  contender  load      seconds    MB WAL    forced     load average before'
for ((round = 1; round <= p[rounds]; round++)); do
  for i in "${!contenders[@]}"; do load_twice "$round" "${contenders[(i + round - 1) % ${#contenders[@]}]}"; done
done
heading "Forced checkpoints by statement (mean of the rounds)" && table_of 8 1
heading "Seconds" && table_of 6 1
heading "MB of WAL" && table_of 7 0
heading "Targets"
target "walsizer: forced checkpoints of the first load" "$(most_forced walsizer 1)" '<=' 2
target "walsizer: forced checkpoints of the second load" "$(most_forced walsizer 2)" '<=' 0
target "walsizer / fixed, seconds of both loads" "$(walsizer_by_fixed 6)" '<=' 1.1
target "walsizer / fixed, WAL of both loads" "$(walsizer_by_fixed 7)" '<=' 1.1
finish
