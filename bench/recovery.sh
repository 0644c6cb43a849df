#!/bin/bash
# The price of a large max_wal_size: kill -9 under load, and the time until the server is back, beside the estimate that
# walsizer.status made before the kill. Each size twice on the same server: the first estimate assumes a replay rate, the
# second one has learned it from the first kill.
#
# The kill comes just before a checkpoint completes, which is the worst moment: recovery then begins at the redo point
# before that one. The estimate is for the worst case, all of max_wal_size to be replayed; what to expect of one kill is
# the estimate x replayed WAL / max_wal_size. The operating system's cache stays warm, unlike after a power cut.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit

parameter sizes 256,1024,4096,8192 64,256,1024,2048 64 "the fixed sizes, MB"
parameter clients 16 16 4 "pgbench's clients"
parameter seconds 600 30 4 "of load before the first moment for a kill"
parameter scale 200 50 2 "pgbench's scale: 15 MB of data each"
parameter buffers 1024 256 32 "shared_buffers, MB"
parameter timeout 300 30 30 "checkpoint_timeout, s"
parameter start 256 64 64 "walsizer starts from here, MB"
parameter iops 2000 2000 0 "writes per second of the storage; 0: as it is"
parameter moment 600 60 10 "how long to wait for the worst moment, s"
parameter patience 60 20 0 "how long to wait for other work to end, s"
begin 40000 10000 2000

load_data() { in_background pgbench -i -q -s "${p[scale]}"; }
rows_written() { query -c "SELECT count(*) FROM pgbench_history"; }

# A checkpoint is paced to be complete when its target, 0.9, of the time or of the WAL until the next one has passed.
# unfinished SHARE: one is under way, and that share of its way has passed. Reads what look has seen.
unfinished() {
  local started complete
  started=$(tail -n "+$((first_line + 1))" "$cluster.log" | grep -c 'checkpoint starting')
  complete=$(tail -n "+$((first_line + 1))" "$cluster.log" | grep -c 'checkpoint complete')
  ((started > complete)) || return
  awk -v started="$(grep 'checkpoint starting' "$cluster.log" | tail -n 1 | cut -d ' ' -f 1)" -v now="$(now)" \
    -v timeout="${p[timeout]}" -v wal="$wal_since_redo" -v trigger="$trigger" -v share="$1" \
    'BEGIN {f = (now - started) / timeout; if (wal / trigger > f) f = wal / trigger; exit !(f >= share * 0.9)}'
}

# worst_moment UNTIL: returns just before a checkpoint completes. Small sizes complete one every two seconds: so that the
# moment is not missed, the checkpointer is stopped for the last quarter of the way. It never goes on.
worst_moment() {
  local checkpointer
  checkpointer=$(query -c "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
  until look && unfinished 0.75 && kill -STOP "$checkpointer" && unfinished 0.75; do
    kill -CONT "$checkpointer"
    ((SECONDS < $1)) || return
    sleep 0.1
  done
  until look && unfinished 0.95; do
    ((SECONDS < $1)) || return
    sleep 0.1
  done
}

# What the status says before the kill: lsn, wal_since_redo, trigger, size, estimate, rate_source
look() {
  read -r lsn wal_since_redo trigger size estimate rate_source < <(query -F ' ' -c "
    SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'), wal_since_redo, trigger_size, max_wal_size,
           round(extract(epoch FROM recovery_estimate)::numeric, 2), replay_rate_source FROM walsizer.status")
  [[ -n $rate_source ]] || die "walsizer.status cannot be read"
}

kill_server() {
  local pids postmaster deadline=$((SECONDS + 60))
  postmaster=$(head -n 1 "$cluster/postmaster.pid")
  while mapfile -t pids < <(our_processes "$bin/postgres") && ((${#pids[@]})); do kill -KILL "${pids[@]}" 2>/dev/null; done
  { wait "$child"; } 2>/dev/null # pgbench has lost its server
  child=
  # As long as its parent has not taken notice, a new server believes that the old one lives.
  while kill -0 "$postmaster" 2>/dev/null && ((SECONDS < deadline)); do sleep 0.02; done
}

# What the server's log says about the last recovery: MB replayed, and the seconds before the replay (crash recovery
# syncs the data directory first), of the replay, and after it (mostly its checkpoint), as CSV.
recovery_by_log() {
  local from to parts
  from=$(sed -n 's/.*redo starts at \([0-9A-F/]*\).*/\1/p' "$cluster.log" | tail -n 1)
  to=$(sed -n 's/.*redo done at \([0-9A-F/]*\).*/\1/p' "$cluster.log" | tail -n 1)
  parts=$(awk '
    /LOG:  starting PostgreSQL/ {began = $1; from = to = 0}
    /redo starts at/ {from = $1}
    /redo done at/ {to = $1}
    /is ready to accept connections/ {ready = $1}
    END {if (!from) from = to = began; printf "%.2f,%.2f,%.2f", from - began, to - from, ready - to}' "$cluster.log")
  say "$(query -c "SELECT round(pg_wal_lsn_diff('${to:-0/0}', '${from:-0/0}') / 1048576)"),$parts"
}

# load_and_kill CONTENDER PASS
load_and_kill() {
  local first_lsn rows until began lsn size estimate rate_source wal_since_redo trigger found=no forced timed per_transaction
  wait_for_quiet
  rows=$(rows_written) first_lsn=$(insert_lsn) first_line=$(log_lines)
  set -m
  pgbench -n -c "${p[clients]}" -j "$(cores)" -T 86400 >"$work/pgbench.out" 2>&1 </dev/null &
  child=$!
  set +m
  until=$((SECONDS + p[seconds]))
  while ((SECONDS < until)); do sleep 0.5; done
  until=$((SECONDS + p[moment]))
  worst_moment "$until" && found=yes
  forced=$(forced_since "$first_line")
  timed=$(tail -n "+$((first_line + 1))" "$cluster.log" | grep -c 'checkpoint starting: time')
  kill_server
  began=$(now)
  start_cluster "$cluster" 2>"$work/start.err" || { # pg_ctl always remarks on the dead server's postmaster.pid
    cat "$work/start.err" >&2
    exit 1
  }
  began=$(calculate %.2f "$(now) - $began")
  rows=$(($(rows_written) - rows))
  per_transaction=$(calculate %.2f "($lsn - $first_lsn) / 1000 / $rows")
  say "$1,$2,$load,$((size >> 20)),$timed,$forced,$per_transaction,$found,$(recovery_by_log),$began,$estimate,$rate_source" \
    >>"$results/kills.csv"
  query -c "SELECT last_recovery_time, last_recovery_bytes, replay_rate, recovery_estimate FROM walsizer.status" \
    >>"$results/learned.txt"
  tail -n 1 "$results/kills.csv" | awk -F , '{printf "  %-9s %-7s %8d %6d %6d %9.1f %9d %10.1f %8s\n",
    $1, $2 == 1 ? "first" : "second", $4, $5, $6, $7, $9, $13, $3}'
}

# Worst case and expectation beside what was measured.
estimates() {
  awk -F , '
    function line(a, b, c, d, e, f, g, h, i) {
      printf "%-9s %-6s %6s %8s %9s %9s %9s %9s  %s\n", a, b, c, d, e, f, g, h, i
    }
    NR == 1 {
      line("", "", "max", "replayed", "worst", "expected", "measured", "expected/", "replay")
      line("", "kill", "MB", "MB", "s", "s", "s", "measured", "rate")
      next
    }
    {
      expected = $14 * $9 / $4
      line($1, $2 == 1 ? "first" : "second", $4, $9, sprintf("%.1f", $14), sprintf("%.1f", expected),
        sprintf("%.1f", $13), sprintf("%.2f", expected / $13), $15)
    }' "$results/kills.csv"
}

# Where the time went.
parts() {
  awk -F , '
    NR == 1 {
      printf "%-9s %-6s %15s %12s %14s %9s\n", "", "kill", "before replay s", "replay s", "after replay s", "MB/s"
      next
    }
    {printf "%-9s %-6s %15.1f %12.1f %14.1f %9.0f\n", $1, $2 == 1 ? "first" : "second", $10, $11, $12, $11 ? $9 / $11 : 0}
    ' "$results/kills.csv"
}

# extreme HOW SOURCE: the least or the most of expected / measured where the rate was SOURCE
extreme() {
  awk -F , -v how="$1" -v source="$2" '
    NR > 1 && $15 == source {
      v = $14 * $9 / $4 / $13
      if (!n++ || (how == "least" ? v < best : v > best)) best = v
    }
    END {if (n) printf "%.2f", best; else printf "-"}' "$results/kills.csv"
}

say "contender,kill,load_average,size_mb,timed,forced,wal_kb,worst_moment,replayed_mb,before_s,replay_s,after_s,recovery_s,estimate_s,rate" >"$results/kills.csv"
make_template "shared_buffers = ${p[buffers]}MB" "checkpoint_timeout = ${p[timeout]}s" \
  "checkpoint_completion_target = 0.9"
preload="shared_preload_libraries = 'walsizer'"
for mb in ${p[sizes]//,/ }; do contender "${mb}MB" "max_wal_size = ${mb}MB" "$preload" "walsizer.enable = off"; done
contender walsizer "max_wal_size = ${p[start]}MB" "$preload"

heading "Every kill"
say '                        max                   kB WAL  replayed   recovery     load'
say '            kill         MB  timed forced  /transact.       MB          s   before'
for contender in "${contenders[@]}"; do
  state=disabled
  [[ $contender == walsizer ]] && state=tuning
  start_contender "$contender" "$state"
  load_and_kill "$contender" 1
  load_and_kill "$contender" 2
  cp "$cluster.log" "$results/server-$contender.log"
  stop_cluster "$cluster" immediate
done
heading "What walsizer's recovery_estimate said before the kill"
estimates | tee "$results/table.txt"
heading "Where the time went: sync of the data directory, replay, checkpoint at the end"
parts | tee -a "$results/table.txt"
heading "Targets"
target "least expected / measured, rate assumed" "$(extreme least assumed)" '>=' 1
target "least expected / measured, rate learned" "$(extreme least measured)" '>=' 1
target "most expected / measured, rate learned" "$(extreme most measured)" '<=' 2
finish
