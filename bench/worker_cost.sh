#!/usr/bin/env bash
# What walsizer's worker costs: its CPU time over a while of idleness and over as long a pgbench load, and its memory.
#
#   bench/worker_cost.sh [--seconds N] [--scale N] [--clients N]
#
# Uses the PostgreSQL whose pg_config comes first in PATH (walsizer must be installed there) and a throwaway cluster of
# its own. CPU time comes from /proc/PID/schedstat, in nanoseconds; the 10 ms ticks of ps and top would show nothing.
set -euo pipefail

seconds=60 scale=10 clients=8
usage() { sed -n '2,7s/^# \{0,1\}//p' "$0"; }
while [ $# -gt 0 ]; do
	case $1 in
		--seconds) seconds=${2:?--seconds needs a number}; shift 2 ;;
		--scale)   scale=${2:?--scale needs a number};     shift 2 ;;
		--clients) clients=${2:?--clients needs a number}; shift 2 ;;
		-h | --help) usage; exit 0 ;;
		*) echo "worker_cost.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
	esac
done

# initdb refuses root: run as PostgreSQL's own account then.
if [ "$(id -u)" = 0 ]; then
	id postgres >/dev/null 2>&1 || { echo "worker_cost.sh: run this as an ordinary user, initdb refuses root" >&2; exit 1; }
	# That account may not be able to read this file or to stand in this directory.
	script=$(cat "$0")
	cd /
	exec runuser -u postgres -- env PATH="$PATH" bash -c "$script" "$0" \
		--seconds "$seconds" --scale "$scale" --clients "$clients"
fi

bindir=$(pg_config --bindir)
dir=$(mktemp -d "${TMPDIR:-/tmp}/walsizer_cost.XXXXXX")
cleanup() {
	"$bindir/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
export PGHOST=$dir PGPORT=54320 PGDATABASE=postgres PGUSER=postgres
unset PGOPTIONS PGSERVICE

"$bindir/initdb" -D "$dir/data" -U postgres -A trust -N >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
# The socket directory is private, so no other server can be in the way of the port.
cat >>"$dir/data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$dir'
port = $PGPORT
shared_preload_libraries = 'walsizer'
shared_buffers = 256MB
synchronous_commit = off
checkpoint_timeout = 30s
max_wal_size = 128MB
CONF
"$bindir/pg_ctl" -D "$dir/data" -l "$dir/log" -w start >/dev/null || { cat "$dir/log" >&2; exit 1; }

sql() { "$bindir/psql" -XAtq -v ON_ERROR_STOP=1 -c "$1"; }
sql 'CREATE EXTENSION walsizer'
"$bindir/pgbench" -i -q -s "$scale" >>"$dir/log" 2>&1

worker() { sql 'SELECT worker_pid FROM walsizer.status'; }
pid=
for _ in $(seq 100); do
	pid=$(worker)
	[ -n "$pid" ] && break
	read -rt 0.1 <> <(:) || true
done
[ -n "$pid" ] || { echo "worker_cost.sh: walsizer's worker does not run" >&2; cat "$dir/log" >&2; exit 1; }
[ -r "/proc/$pid/schedstat" ] || { echo "worker_cost.sh: this kernel has no /proc/PID/schedstat" >&2; exit 1; }

cpu_ns()   { cut -d' ' -f1 "/proc/$pid/schedstat"; }
wakeups()  { awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$pid/status"; }
now_ns()   { date +%s%N; }
# Private: pages that this process alone holds. Anonymous: those and the ones it still shares with the postmaster that
# forked it. Shared memory and the pages of the program are neither.
private_kb() { awk '/^Private_(Clean|Dirty)/ { kb += $2 } END { print kb }' "/proc/$pid/smaps_rollup"; }
anon_kb()    { awk '/^RssAnon/ { print $2 }' "/proc/$pid/status"; }

# measure NAME COMMAND...: runs it and prints one line of the table.
measure() {
	local name=$1 cpu0 wake0 t0 cpu wake t
	shift
	cpu0=$(cpu_ns) wake0=$(wakeups) t0=$(now_ns)
	"$@" >>"$dir/log" 2>&1
	t=$(($(now_ns) - t0)) cpu=$(($(cpu_ns) - cpu0)) wake=$(($(wakeups) - wake0))
	awk -v name="$name" -v t="$t" -v cpu="$cpu" -v wake="$wake" -v private="$(private_kb)" -v anon="$(anon_kb)" 'BEGIN {
		printf "%-12s %9.1f %10.2f %14.4f %% %12.2f %12d %14d\n",
			name, t / 1e9, cpu / 1e6, 100 * cpu / t, wake / (t / 1e9), private, anon }'
}

echo "$("$bindir/postgres" --version), walsizer $(sql 'SELECT version FROM walsizer.status'), $(nproc) cores"
printf '%-12s %9s %10s %16s %12s %12s %14s\n' phase seconds 'CPU ms' 'share of a core' 'wake-ups/s' 'private kB' 'anonymous kB'
printf '%-12s %9s %10s %16s %12s %12d %14d\n' before - - - - "$(private_kb)" "$(anon_kb)"
measure idle  sleep "$seconds"
measure load  "$bindir/pgbench" -n -c "$clients" -j 2 -T "$seconds"
measure 'idle again' sleep "$seconds"

if [ "$(worker)" != "$pid" ]; then
	echo "worker_cost.sh: the worker was restarted in between, the numbers mean nothing" >&2
	exit 1
fi
sql "SELECT 'max_wal_size went from 128MB to ' || current_setting('max_wal_size') || ', '
	|| num_wal_forced || ' forced checkpoints since the start' FROM walsizer.stat"
