#!/bin/bash
# The write storm: pgbench from a max_wal_size that is far too small, on storage of about 2,000 writes per second.
#
# Contenders, in turn: PostgreSQL with that setting (default) and with the right fixed one, measured first (fixed),
# walsizer that waits for forced checkpoints (reactive), walsizer as it comes (anticipate), and pg_walsizer when the
# path of its library is given.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit
# shellcheck source-path=SCRIPTDIR source=lib/contest.sh
. "$lib/contest.sh" || exit

contest_parameters 16 16 660 40 5 2 200 50 1024 256
parameter pg-walsizer - - - "path of pg_walsizer.so: one more contender"
outer_hook() {
  [[ ${p[pg-walsizer]} == - ]] || cp -L "${p[pg-walsizer]}" "$work/pg_walsizer.so" || die "cannot read ${p[pg-walsizer]}"
}
begin 20000 6000 2000

preload="shared_preload_libraries = 'walsizer'"
start="max_wal_size = ${p[start]}MB"
make_template "shared_buffers = ${p[buffers]}MB" "checkpoint_timeout = ${p[timeout]}s" \
  "checkpoint_completion_target = 0.9"
find_right_size measuring_run
contender default "$start"
contender fixed "max_wal_size = ${right_size}MB"
contender reactive "$start" "$preload" "walsizer.anticipate = off"
contender anticipate "$start" "$preload"
if [[ -e $work/pg_walsizer.so ]]; then
  cp "$work/pg_walsizer.so" "$work$("$PG_CONFIG" --pkglibdir)/" || exit # its worker is looked up there
  contender pg_walsizer "$start" "shared_preload_libraries = 'pg_walsizer'"
fi

compared=(fixed anticipate)
contest
contest_table
heading "Targets: walsizer (anticipate) / the right fixed size, median of the rounds (least to most)"
ratio_target "transactions per second" 5 '>=' 0.97
ratio_target "WAL per transaction" 6 '<=' 1.1
ratio_target "p99.9 latency" 11 '<=' 1.2
target "forced checkpoints, the most in one round" "$(most_forced anticipate)" '<=' 0
draw "pgbench, ${p[clients]} clients, from max_wal_size = ${p[start]} MB" "$(ratio 5 round)"
finish
