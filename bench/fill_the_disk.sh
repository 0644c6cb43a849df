#!/usr/bin/env bash
# A small pg_wal volume and a load that writes more than fits on it: once with a fixed max_wal_size that somebody copied
# from a larger server, once with walsizer. The first one ends with PANIC: No space left on device; the second one goes on.
#
#   sudo bench/fill_the_disk.sh [--volume MB] [--seconds N] [--scale N] [--clients N]
#
# Needs root, to mount a tmpfs of its own as the volume; the servers run as PostgreSQL's own account. Uses the PostgreSQL
# whose pg_config comes first in PATH (walsizer must be installed there) and throwaway clusters. Unmounts and removes
# everything at the end, also when interrupted.
set -euo pipefail

volume=400 seconds=90 scale=50 clients=8 user=postgres
usage() { sed -n '2,9s/^# \{0,1\}//p' "$0"; }
complain() { echo "fill_the_disk.sh: $*" >&2; }
while [ $# -gt 0 ]; do
	case $1 in
		--volume)  volume=${2:?--volume needs a number};   shift 2 ;;
		--seconds) seconds=${2:?--seconds needs a number}; shift 2 ;;
		--scale)   scale=${2:?--scale needs a number};     shift 2 ;;
		--clients) clients=${2:?--clients needs a number}; shift 2 ;;
		-h | --help) usage; exit 0 ;;
		*) complain "unknown option $1"; usage >&2; exit 2 ;;
	esac
done
[ "$(id -u)" = 0 ] || { complain "needs root, to mount the small volume"; exit 1; }
id "$user" >/dev/null 2>&1 || { complain "there is no account $user to run the servers"; exit 1; }
((volume >= 300)) || { complain "--volume must be at least 300"; exit 2; }

bindir=$(pg_config --bindir)
dir=$(mktemp -d /var/tmp/walsizer_fill.XXXXXX)
chown "$user:" "$dir"
cd /
mounted=0
as_user() { runuser -u "$user" -- env -u PGOPTIONS -u PGSERVICE PGHOST="$dir" PGPORT=54321 PGDATABASE=postgres PGUSER=postgres "$@"; }
cleanup() {
	[ -e "$dir/data/postmaster.pid" ] && as_user "$bindir/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1
	((mounted)) && umount "$dir/volume"
	rm -rf "$dir"
	return 0
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

mkdir "$dir/volume"
mount -t tmpfs -o "size=${volume}M,mode=0777" none "$dir/volume"
mounted=1

sql() { as_user "$bindir/psql" -XAtq -v ON_ERROR_STOP=1 -c "$1" 2>>"$dir/log"; }
free_mb() { df -Pm "$dir/volume" | awk 'NR == 2 { print $4 }'; }

# run NAME SETTING...: a new cluster with pg_wal on the volume, and the load. Prints one line of the table.
run() {
	local name=$1 least load free state=alive tps panic largest
	shift
	as_user "$bindir/initdb" -D "$dir/data" -X "$dir/volume/$name" -U postgres -A trust -N >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
	# With wal_level = minimal pgbench -i writes next to no WAL: it is the load that fills the volume.
	printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$dir'" 'port = 54321' 'shared_buffers = 256MB' \
		'synchronous_commit = off' 'checkpoint_timeout = 5min' 'wal_level = minimal' 'max_wal_senders = 0' 'restart_after_crash = off' "$@" >>"$dir/data/postgresql.conf"
	as_user "$bindir/pg_ctl" -D "$dir/data" -l "$dir/server.log" -w start >/dev/null || { cat "$dir/server.log" >&2; exit 1; }
	as_user "$bindir/pgbench" -i -q -s "$scale" >>"$dir/log" 2>&1 || true
	as_user "$bindir/pgbench" -n -c "$clients" -j 2 -T "$seconds" >"$dir/pgbench.out" 2>&1 &
	load=$!
	least=$volume largest=-
	while kill -0 "$load" 2>/dev/null; do
		free=$(free_mb)
		((free < least)) && least=$free
		read -rt 0.2 <> <(:) || true
	done
	wait "$load" 2>/dev/null || true
	tps=$(sed -n 's/^tps = \([0-9]*\).*/\1/p' "$dir/pgbench.out")
	largest=$(sql "SHOW max_wal_size") || state=dead
	panic=$(grep -m 1 -o 'PANIC:.*' "$dir/server.log" || true)
	printf '%-9s %-6s %8s %14s %14s  %s\n' "$name" "$state" "${tps:--}" "$least" "${largest:--}" "${panic:--}"
	if [ "$name" = walsizer ]; then
		echo
		sql 'CREATE EXTENSION walsizer' || true
		sql "SELECT format('  %s %s -> %s, limited by %s: %s', action, pg_size_pretty(old_size), pg_size_pretty(new_size), limited_by, reason) FROM walsizer.decisions ORDER BY id" || true
	fi
	as_user "$bindir/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true
	[ -n "$panic" ] && outcome[$name]=panic || outcome[$name]=$state
	rm -rf "$dir/data" "$dir/volume/$name" "$dir/server.log"
}

declare -A outcome
echo "$("$bindir/postgres" --version); pg_wal on a volume of $volume MB; pgbench -s $scale -c $clients, $seconds s"
printf '%-9s %-6s %8s %14s %14s  %s\n' server state tps 'least MB free' max_wal_size 'last words'
run fixed    "max_wal_size = '$((volume * 4))MB'"
run walsizer "max_wal_size = '64MB'" "shared_preload_libraries = 'walsizer'" "walsizer.max = '$((volume * 4))MB'" \
	"walsizer.disk_reserve = '$((volume / 5))MB'"
echo
case ${outcome[fixed]}/${outcome[walsizer]} in
	panic/alive) echo "The fixed setting filled the volume and ended the server; walsizer stayed below it." ;;
	*/alive)     complain "the load was too small to fill the volume: try --seconds or --clients"; exit 1 ;;
	*)           complain "the server with walsizer did not survive"; exit 1 ;;
esac
