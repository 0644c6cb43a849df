#!/bin/bash
# A small pg_wal volume and a load that writes more than fits on it: once with a fixed max_wal_size that somebody copied
# from a larger server, once with walsizer. The first one ends with PANIC: No space left on device; the second one goes on.
#
# Needs root (or sudo), to mount a tmpfs of its own as the volume.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit

parameter volume 400 400 400 "size of pg_wal's volume, MB; at least 300"
parameter seconds 90 90 20 "length of each run"
parameter scale 50 50 10 "pgbench's scale: 15 MB of data each"
parameter clients 8 8 8 "pgbench's clients"

outer_hook() {
  ((p[volume] >= 300)) || die "--volume must be at least 300"
  mkdir "$work/volume"
  as_root mount -t tmpfs -o "size=${p[volume]}M,mode=0777" none "$work/volume" ||
    die "cannot mount a tmpfs as the volume"
  undo+=("as_root umount '$work/volume'")
}
begin 4000 4000 4000
[[ -d $work/volume ]] || die "this benchmark has no volume: start it as an ordinary script"

free_mb() { df -Pm "$work/volume" | awk 'NR == 2 {print $4}'; }

declare -A outcome
# run NAME SETTING...: a new cluster with pg_wal on the volume, and the load. Prints one line of the table.
run() {
  local least=${p[volume]} free state=alive tps panic largest data=$work/$1 load
  # With wal_level = minimal pgbench -i writes next to no WAL: it is the load that fills the volume.
  new_cluster "$data" < <(printf '%s\n' 'shared_buffers = 256MB' 'synchronous_commit = off' 'checkpoint_timeout = 5min' \
    'wal_level = minimal' 'max_wal_senders = 0' 'restart_after_crash = off' "${@:2}") || exit
  mv "$data/pg_wal" "$work/volume/$1" || die "cannot move pg_wal to the volume"
  ln -s "$work/volume/$1" "$data/pg_wal"
  start_cluster "$data" || exit
  in_background pgbench -i -q -s "${p[scale]}" >"$work/load.log" 2>&1
  pgbench -n -c "${p[clients]}" -j "$(cores)" -T "${p[seconds]}" >"$work/pgbench.out" 2>&1 </dev/null &
  load=$!
  while kill -0 "$load" 2>/dev/null; do
    free=$(free_mb)
    ((free < least)) && least=$free
    sleep 0.2
  done
  wait "$load" 2>/dev/null
  tps=$(pgbench_tps "$work/pgbench.out")
  largest=$(megabytes max_wal_size 2>/dev/null) || state=dead
  panic=$(grep -m 1 -o 'PANIC:.*' "$data.log")
  printf '  %-9s %-6s %6s %9s MB %9s MB  %s\n' "$1" "$state" "${tps:--}" "$least" "${largest:--}" "${panic:--}" |
    tee -a "$results/table.txt"
  if [[ $1 == walsizer ]]; then
    say
    query -c 'CREATE EXTENSION walsizer'
    query -c "SELECT format('  %s %s -> %s, limited by %s: %s', action, pg_size_pretty(old_size), pg_size_pretty(new_size),
      limited_by, reason) FROM walsizer.decisions ORDER BY id" | fold -s -w 78
  fi
  [[ $state == dead ]] || stop_cluster "$data" immediate
  outcome[$1]=${panic:+panic}
  outcome[$1]=${outcome[$1]:-$state}
  rm -rf "$data" "$work/volume/$1"
}

say "pg_wal on a volume of ${p[volume]} MB; pgbench -s ${p[scale]} -c ${p[clients]}, ${p[seconds]} s"
say '  server    state     tps   least free  max_wal_size  last words'
run fixed "max_wal_size = '$((p[volume] * 4))MB'"
run walsizer "max_wal_size = '64MB'" "shared_preload_libraries = 'walsizer'" "walsizer.max = '$((p[volume] * 4))MB'" \
  "walsizer.disk_reserve = '$((p[volume] / 5))MB'"
say
case ${outcome[fixed]}/${outcome[walsizer]} in
panic/alive) say "The fixed setting filled the volume and ended the server; walsizer stayed below it." ;;
*/alive) die "the load was too small to fill the volume: try --seconds or --clients" ;;
*) die "the server with walsizer did not survive" ;;
esac
