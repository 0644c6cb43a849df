#!/bin/bash
# The read/write script that articles about checkpoint tuning use: ten million accounts (all, where there are fewer) updated and read
# in a bell curve, so that hot pages are written again and again; prepared statements, 32 clients. PostgreSQL's default against walsizer.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit
# shellcheck source-path=SCRIPTDIR source=lib/contest.sh
. "$lib/contest.sh" || exit

contest_parameters 32 32 660 60 5 2 1000 50 4096 256
begin 40000 6000 2000

cat >"$work/gaussian.sql" <<'SCRIPT'
\set aid random_gaussian(1, least(10000000, 100000 * :scale), 10.0)
\set bid random(1, :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
SCRIPT
pgbench_options=(-M prepared -f "$work/gaussian.sql" -D "scale=${p[scale]}")
start="max_wal_size = ${p[start]}MB"
make_template "shared_buffers = ${p[buffers]}MB" "checkpoint_timeout = ${p[timeout]}s" \
  "checkpoint_completion_target = 0.9"
contender default "$start"
contender walsizer "$start" "shared_preload_libraries = 'walsizer'"

compared=(default walsizer)
contest
contest_table
heading "walsizer / default, median of the rounds (least to most)"
ratio_target "transactions per second" 5 '>=' 1
ratio_target "WAL per transaction" 6 '<=' 1
ratio_target "p99.9 latency" 11 '<=' 1
target "forced checkpoints, the most in one round" "$(most_forced walsizer)" '<=' 0
draw "Read/write with a bell curve, ${p[clients]} clients, from max_wal_size = ${p[start]} MB" "$(ratio 5 round)"
finish
