#!/bin/bash
# What walsizer costs where it has nothing to do: its worker's processor time and memory, idle and under load, and
# pgbench without and with it on a server whose max_wal_size is right already.
#
# Processor time comes from /proc/PID/schedstat, in nanoseconds: the 10 ms ticks of ps and top would show nothing.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit
# shellcheck source-path=SCRIPTDIR source=lib/contest.sh
. "$lib/contest.sh" || exit

contest_parameters 8 8 120 20 11 7 100 20 1024 256
parameter watch 300 30 3 "how long the worker is watched in each phase, s"
begin 20000 6000 2000

start=("synchronous_commit = off") # the processors are to be the limit, not the storage
preload="shared_preload_libraries = 'walsizer'"
make_template "shared_buffers = ${p[buffers]}MB" "checkpoint_timeout = ${p[timeout]}s" "${start[@]}"

# ---- The worker ------------------------------------------------------------------------------------------

cpu_ns() { cut -d ' ' -f 1 "/proc/$worker/schedstat"; }
wakeups() { awk '/^voluntary_ctxt_switches/ {print $2}' "/proc/$worker/status"; }
# Private: pages that this process alone holds. Anonymous: those and the ones it still shares with the postmaster that
# forked it. Shared memory and the pages of the program are neither.
private_kb() { awk '/^Private_(Clean|Dirty)/ {kb += $2} END {print kb}' "/proc/$worker/smaps_rollup"; }
anonymous_kb() { awk '/^RssAnon/ {print $2}' "/proc/$worker/status"; }

# phase NAME COMMAND...: watches the worker while the command runs
phase() {
  local cpu wakes began
  cpu=$(cpu_ns) wakes=$(wakeups) began=$(date +%s%N)
  in_background "${@:2}" >"$work/phase.log" 2>&1 || die "$2 failed"
  began=$(($(date +%s%N) - began)) cpu=$(($(cpu_ns) - cpu)) wakes=$(($(wakeups) - wakes))
  awk -v name="$1" -v t="$began" -v cpu="$cpu" -v wakes="$wakes" -v private="$(private_kb)" \
    -v anonymous="$(anonymous_kb)" 'BEGIN {
      printf "%s,%.1f,%.2f,%.4f,%.2f,%d,%d\n", name, t / 1e9, cpu / 1e6, 100 * cpu / t, wakes / (t / 1e9),
        private, anonymous}' >>"$results/worker.csv"
  tail -n 1 "$results/worker.csv" |
    awk -F , '{printf "  %-12s %8.1f %10.2f %14.4f %12.2f %10d\n", $1, $2, $3, $4, $5, $6}'
}

watch_worker() {
  heading "The worker, from max_wal_size = ${p[start]} MB"
  settings[watched]=$(printf '%s\n' "$preload" "max_wal_size = ${p[start]}MB")
  start_contender watched
  worker=$(query -c "SELECT worker_pid FROM walsizer.status")
  [[ -r /proc/$worker/schedstat ]] || die "this kernel has no /proc/PID/schedstat"
  say "phase,seconds,cpu_ms,percent_of_a_core,wakeups_per_second,private_kb,anonymous_kb" >"$results/worker.csv"
  say '  phase         seconds     CPU ms  % of one core    wake-ups/s private kB'
  phase idle sleep "${p[watch]}"
  phase load pgbench -n -c "${p[clients]}" -j "$(cores)" -T "${p[watch]}"
  phase 'idle again' sleep "${p[watch]}"
  [[ $(query -c "SELECT worker_pid FROM walsizer.status") == "$worker" ]] ||
    die "the worker was restarted in between, the numbers mean nothing"
  stop_cluster "$cluster" immediate
}

largest_share() { awk -F , 'NR > 1 && $4 > most {most = $4} END {print most}' "$results/worker.csv"; }

# ---- All of it -------------------------------------------------------------------------------------------

watch_worker
find_right_size measuring_run
contender without "max_wal_size = ${right_size}MB"
contender with "max_wal_size = ${right_size}MB" "$preload"
contender again "max_wal_size = ${right_size}MB" # without once more: what differs then is the noise
compared=(without with again)
contest
contest_table
heading "Targets"
noise=$(ratio 5 spread again)
say "  The noise, without once more / without, round by round: $noise, median $(ratio 5 median again)"
floor=$(awk -v low="${noise% to *}" -v high="${noise#* to }" \
  'BEGIN {off = high - 1 > 1 - low ? high - 1 : 1 - low; printf "%.3f", 1 - off}')
target "transactions, with / without ($(ratio 5 spread))" "$(ratio 5)" '>=' "$floor"
target "worker's share of one core, per cent, at most" "$(largest_share)" '<=' 0.1
finish
