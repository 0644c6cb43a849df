# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # common.sh has the variables
# Sourced by the benchmarks that let contenders run the same pgbench load in turn: one run, all rounds, the summary.
#
# Results: runs.csv (one line per run), seconds.csv (transactions of each second), events.csv (checkpoints, changes of
# max_wal_size). The clock of the last two starts with pgbench.

readonly runs=$results/runs.csv by_second=$results/seconds.csv events=$results/events.csv
pgbench_options=() # the load
compared=()        # the two contenders that targets are about

contest_parameters() {
  parameter clients "$1" "$2" 4 "pgbench's clients"
  parameter seconds "$3" "$4" 6 "length of one run"
  parameter rounds "$5" "$6" 1 "each contender runs that often, in turn"
  parameter others "$5" 1 1 "so often those that no target is about"
  parameter scale "$7" "$8" 2 "pgbench's scale: 15 MB of data each"
  parameter buffers "$9" "${10}" 32 "shared_buffers, MB"
  parameter timeout 300 30 30 "checkpoint_timeout, s"
  parameter start 1024 128 64 "max_wal_size to start with, MB"
  parameter iops 2000 2000 0 "writes per second of the storage; 0: as it is"
  parameter fixed 0 0 256 "the right fixed size, MB; 0: measure it"
  parameter patience 60 20 0 "how long to wait for other work to end, s"
}

load_data() { in_background pgbench -i -q -s "${p[scale]}"; }

# run_load: one run on the server that is there. Sets tps, wal (bytes), transactions, began, first_line, disk_rate.
run_load() {
  local lsn writes
  query -c CHECKPOINT
  first_line=$(log_lines)
  lsn=$(insert_lsn)
  began=$(now) writes=$(disk_writes)
  in_background pgbench -n -T "${p[seconds]}" -c "${p[clients]}" -j "$(cores)" -l --log-prefix="$work/transactions" \
    "${pgbench_options[@]}" >"$work/pgbench.out" 2>"$work/pgbench.err" || {
    tail -n 5 "$work/pgbench.err" "$cluster.log" >&2
    die "pgbench failed"
  }
  disk_rate=${writes:+$(calculate %.0f "($(disk_writes) - $writes) / ($(now) - $began)")}
  wal=$(calculate %.0f "$(insert_lsn) - $lsn")
  transactions=$(pgbench_transactions "$work/pgbench.out")
  ((transactions > 0)) || die "pgbench ran no transaction"
  tps=$(pgbench_tps "$work/pgbench.out")
  # From the first transaction on: connecting is no part of the run.
  began=$(cat "$work"/transactions.* | awk '
    {t = $5 + ($6 - $3) / 1e6} NR == 1 || t < first {first = t} END {printf "%.6f", first}')
}

# Milliseconds of p50, p99, p99.9 and the longest transaction, exact: pgbench logs each one in microseconds.
percentiles() {
  cat "$work"/transactions.* | awk '{n[$3]++} END {for (t in n) print t, n[t]}' | sort -n |
    awk -v total="$transactions" '
      {
        seen += $2
        for (i = split("0.5 0.99 0.999", share, " "); i; i--) if (!at[i] && seen >= share[i] * total) at[i] = $1
        longest = $1
      }
      END {printf "%.2f,%.2f,%.2f,%.0f", at[1] / 1000, at[2] / 1000, at[3] / 1000, longest / 1000}'
}

# transactions_by_second PREFIX: for each second of the run PREFIX,SECOND,TRANSACTIONS,LONGEST (ms)
transactions_by_second() {
  cat "$work"/transactions.* | awk -v began="$began" -v seconds="${p[seconds]}" -v prefix="$1" '
    {s = int($5 + $6 / 1e6 - began); n[s]++; if ($3 > longest[s]) longest[s] = $3}
    END {for (s = 0; s < seconds; s++) printf "%s,%d,%d,%.1f\n", prefix, s, n[s], longest[s] / 1000}'
}

# log_events PREFIX: what the server's log says about the run: PREFIX,SECOND,EVENT,VALUE
log_events() {
  tail -n "+$((first_line + 1))" "$cluster.log" | awk -v began="$began" -v prefix="$1" '
    function tell(event, value) {printf "%s,%.2f,%s,%s\n", prefix, $1 - began, event, value}
    /checkpoint starting:.* wal/ {tell("forced", "")}
    /checkpoint starting: time$/ {tell("timed", "")}
    /parameter "max_wal_size" changed to/ {
      v = $0
      sub(/.*changed to "/, "", v)
      sub(/".*/, "", v)
      tell("size", v ~ /^[0-9]+$/ ? v "MB" : v) # the unit of a bare number
    }'
}

# one_run ROUND CONTENDER
one_run() {
  local label=$1,$2 worst forced timed
  wait_for_quiet
  start_contender "$2"
  run_load
  transactions_by_second "$label" >>"$by_second"
  log_events "$label" >>"$events"
  worst=$(grep "^$label," "$by_second" | cut -d , -f 4 | sort -n | head -n 1)
  forced=$(grep -c "^$label,.*,forced," "$events")
  timed=$(grep -c "^$label,.*,timed," "$events")
  wal=$(calculate %.3f "$wal / 1000 / $transactions")
  say "$label,$load,$busy,$tps,$wal,$forced,$timed,$(percentiles),$worst,$(megabytes max_wal_size),$disk_rate" >>"$runs"
  rm -f "$work"/transactions.*
  if preloads_walsizer "$2"; then
    query --csv -c "SELECT * FROM walsizer.decisions ORDER BY id" >"$results/decisions-$2-$1.csv"
  fi
  cp "$cluster.log" "$results/server-$2-$1.log"
  stop_cluster "$cluster" immediate
  tail -n 1 "$runs" | awk -F , '{printf "  %5s  %-12s %8.0f %8.2f %6d %8.1f %8.1f %7d %9d %6s\n",
    $1, $2, $5, $6, $7, $10, $11, $13, $14, $3}'
}

contest() {
  local round contender i
  say "round,contender,load_average,busy_percent,tps,wal_kb,forced,timed,p50_ms,p99_ms,p999_ms,longest_ms,worst_tps,size_mb,disk_writes_per_s" >"$runs"
  say "round,contender,second,transactions,longest_ms" >"$by_second"
  say "round,contender,second,event,value" >"$events"
  heading "Every run, in the order they ran"
  say '                             tps   kB WAL forced      p99    p99.9 slowest  max_wal_   load'
  say '                                /transact.              ms       ms  second   size MB  before'
  for ((round = 1; round <= p[rounds]; round++)); do
    for ((i = 0; i < ${#contenders[@]}; i++)); do
      contender=${contenders[(i + round - 1) % ${#contenders[@]}]} # nobody is always the first
      ((round > p[others])) && [[ " ${compared[*]} " != *" $contender "* ]] && continue
      one_run "$round" "$contender"
    done
  done
}

# The median of each column, and from where to where the rounds went.
contest_table() {
  heading "Medians (of how many rounds); below them the least and the most"
  awk -F , -f "$lib/statistics.awk" -v columns="5 6 7 9 10 11 12 13 14" -v digits="0 2 0 1 1 1 0 0 0" \
    -v titles="tps,WAL,forced,p50,p99,p99.9,max,worst,size" -v width=7 "$runs" | tee "$results/table.txt"
  say "WAL: kB per transaction; p50, p99, p99.9, max: latency, ms; worst: transactions in the"
  say "slowest second; size: max_wal_size at the end, MB"
}

# ratio COLUMN [HOW [CONTENDER]]: the contender (the second of those compared) / the first, round by round; the
# median, or what ratio.awk's HOW says
ratio() {
  awk -F , -f "$lib/ratio.awk" -v column="$1" -v a="${3:-${compared[1]}}" -v b="${compared[0]}" -v how="${2:-median}" \
    "$runs"
}

# The load for one checkpoint_timeout on the server whose WAL is measured
measuring_run() {
  local seconds=${p[seconds]}
  start_contender measuring
  p[seconds]=$((p[timeout] + 10))
  run_load
  p[seconds]=$seconds
  rm -f "$work"/transactions.*
  stop_cluster "$cluster" immediate
}

# draw TITLE ROUND: the chart of one round, as SVG and PNG
draw() {
  if ! command -v gnuplot >/dev/null; then
    warn "no chart: gnuplot is missing"
    return
  fi
  # a round in which all of them ran
  local format round=$2
  ((${#contenders[@]} == ${#compared[@]} || round <= p[others])) || round=${p[others]}
  for format in svg png; do
    gnuplot -c "$lib/contest.gnuplot" "$format" "$results" "$1" "$round" "${contenders[*]}" >"$results/chart.$format" ||
      die "gnuplot failed"
  done
}

# ratio_target WHAT COLUMN COMPARISON BOUND
ratio_target() { target "$1 ($(ratio "$2" spread))" "$(ratio "$2")" "$3" "$4"; }
most_forced() { awk -F , -v c="$1" '$2 == c && $7 > most {most = $7} END {print most + 0}' "$runs"; }
