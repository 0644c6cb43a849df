#!/usr/bin/env bash
# Holds the simulator against real servers: three pgbench runs with a fixed max_wal_size (small; large; one with a load
# that changes), their forced and timed checkpoints and their WAL next to what the simulator says of the same load.
#
#   bench/simulator_truth.sh [--seconds N] [--rate N] [--scale N] [--keep DIR]
#
# What the simulator is told comes from a calibration run under a large max_wal_size and from the tables' sizes, never
# from the runs it predicts: pg_waldump gives the WAL of one transaction without full-page images and the pages it
# changes in each table and index, pgbench gives the transactions of each run. --keep DIR leaves the traces there.
#
# Uses the PostgreSQL whose pg_config comes first in PATH and a throwaway cluster; some seven minutes. Fails when a count
# is off by more than 1 or WAL by more than 15 %.
set -euo pipefail

seconds=100 rate=400 scale=30 keep='' simulate=''
usage() { sed -n '2,13s/^# \{0,1\}//p' "$0"; }
while [ $# -gt 0 ]; do
	case $1 in
		--seconds)  seconds=${2:?--seconds needs a number}; shift 2 ;;
		--rate)     rate=${2:?--rate needs a number};       shift 2 ;;
		--scale)    scale=${2:?--scale needs a number};     shift 2 ;;
		--keep)     keep=${2:?--keep needs a folder};       shift 2 ;;
		--simulate) simulate=${2:?--simulate needs a program}; shift 2 ;;  # used by the script itself
		-h | --help) usage; exit 0 ;;
		*) echo "simulator_truth.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
	esac
done

if [ -z "$simulate" ]; then
	root=$(cd "$(dirname "$0")/.." && pwd)
	make -s -C "$root" build/simulate
	simulate=$root/build/simulate
fi
# initdb refuses root: run as PostgreSQL's own account then, which may not be able to read this folder.
if [ "$(id -u)" = 0 ]; then
	id postgres >/dev/null 2>&1 || { echo "simulator_truth.sh: run this as an ordinary user, initdb refuses root" >&2; exit 1; }
	own=$(mktemp -d "${TMPDIR:-/tmp}/walsizer_simulate.XXXXXX")
	trap 'rm -rf "$own"' EXIT
	install -m 755 "$simulate" "$own/simulate"
	chmod 755 "$own"
	script=$(cat "$0")
	if [ -n "$keep" ]; then mkdir -p "$keep"; chown postgres "$keep"; keep=$(cd "$keep" && pwd); fi
	cd /
	runuser -u postgres -- env PATH="$PATH" bash -c "$script" "$0" --seconds "$seconds" --rate "$rate" \
		--scale "$scale" ${keep:+--keep "$keep"} --simulate "$own/simulate"
	exit
fi

bindir=$(pg_config --bindir)
dir=$(mktemp -d "${TMPDIR:-/tmp}/walsizer_truth.XXXXXX")
cleanup() {
	"$bindir/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
export PGHOST=$dir PGPORT=54322 PGDATABASE=postgres PGUSER=postgres
unset PGOPTIONS PGSERVICE
keep=${keep:-$dir}

"$bindir/initdb" -D "$dir/data" -U postgres -A trust -N >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
# Nothing but pgbench changes pages; the calibration's WAL must still be there when it is read.
cat >>"$dir/data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$dir'
port = $PGPORT
shared_buffers = 256MB
synchronous_commit = off
autovacuum = off
checkpoint_timeout = 30s
checkpoint_completion_target = 0.9
max_wal_size = 8GB
wal_keep_size = 4GB
CONF
"$bindir/pg_ctl" -D "$dir/data" -l "$dir/log" -w start >/dev/null || { cat "$dir/log" >&2; exit 1; }

sql() { "$bindir/psql" -XAtq -v ON_ERROR_STOP=1 -c "$1"; }
bench() {  # bench SECONDS RATE: prints the transactions done
	"$bindir/pgbench" -n -c 4 -j 1 -T "$1" -R "$2" >"$dir/pgbench.out" 2>>"$dir/log"
	sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$dir/pgbench.out"
}
counters() {
	if [ "$(sql 'SHOW server_version_num')" -ge 170000 ]; then
		sql 'SELECT num_timed, num_requested FROM pg_stat_checkpointer'
	else
		sql 'SELECT checkpoints_timed, checkpoints_req FROM pg_stat_bgwriter'
	fi
}
lsn() { sql 'SELECT pg_current_wal_insert_lsn()'; }

# Room on each page, so that an update stays on it; some transactions to settle.
"$bindir/pgbench" -i -q -s "$scale" -F 80 >>"$dir/log" 2>&1
bench 10 "$rate" >/dev/null

# --- calibration ---------------------------------------------------------------------------------------------------
sizes() {
	sql "SELECT pg_relation_filenode(oid), pg_relation_size(oid) / current_setting('block_size')::int
		FROM pg_class WHERE relkind IN ('r', 'i') AND pg_relation_size(oid) > 0 AND pg_relation_filenode(oid) IS NOT NULL"
}
sql CHECKPOINT
sizes >"$dir/sizes"
from=$(lsn)
transactions=$(bench 30 "$rate")
to=$(lsn)
bytes=$(sql "SELECT '$to'::pg_lsn - '$from'::pg_lsn")
sql CHECKPOINT  # so that all of it is on disk
"$bindir/pg_waldump" -p "$dir/data/pg_wal" -s "$from" -e "$to" >"$dir/wal"

# One line for each set: pages, touches per transaction; and the two figures that go before them. A page that did not
# exist when the calibration began was made by a record that needs no image of it: it does not count.
awk -F'|' -v transactions="$transactions" -v bytes="$bytes" '
	FILENAME ~ /sizes$/ { pages[$1] = $2; next }
	{
		match($0, /len \(rec\/tot\): *[0-9]+\/ *[0-9]+/)
		split(substr($0, RSTART + 15, RLENGTH - 15), len, "/")
		images += len[2] - len[1]
		rest = $0
		while (match(rest, /rel [0-9]+\/[0-9]+\/[0-9]+ (fork [a-z]+ )?blk [0-9]+( FPW| \(FPW\))?/)) {
			ref = substr(rest, RSTART, RLENGTH)
			rest = substr(rest, RSTART + RLENGTH)
			if (ref ~ /FPW/) ++count
			if (ref ~ /fork (fsm|vm|init)/) continue
			split(ref, word, " ")
			split(word[2], path, "/")
			block = ref; sub(/.*blk /, "", block); sub(/ .*/, "", block)
			if (!(path[3] in pages) || block + 0 >= pages[path[3]]) continue
			# A page that is pruned and then updated was visited once.
			if (!((path[3], block) in last) || NR - last[path[3], block] > 50) ++touches[path[3]]
			last[path[3], block] = NR
		}
	}
	END {
		printf "records %.3f\nimage %.1f\n", (bytes - images) / transactions, images / count
		for (rel in touches) printf "set %d %.6f\n", pages[rel], touches[rel] / transactions | "sort -k3,3nr -k2,2nr"
	}' "$dir/sizes" "$dir/wal" >"$dir/facts"
rm "$dir/wal"
records=$(awk '$1 == "records" { print $2 }' "$dir/facts")
image=$(awk '$1 == "image" { print $2 }' "$dir/facts")
sql 'ALTER SYSTEM SET wal_keep_size = 0'

# load SECONDS TRANSACTIONS: that as a line of a trace. Six sets at most: the least touched ones are left out.
load() {
	awk -v seconds="$1" -v transactions="$2" '
		$1 == "records" { printf "for %ss records %.0fB/s", seconds, $2 * transactions / seconds }
		$1 == "set" && sets++ < 6 { printf " touches %.3f/s of %d", $3 * transactions / seconds, $2 }
		END { print "" }' "$dir/facts"
}

# --- the runs ------------------------------------------------------------------------------------------------------
echo "$("$bindir/postgres" --version); pgbench -s $scale, $rate transactions/s, checkpoint_timeout 30 s"
printf 'calibration: %.0f bytes of records and %.2f page changes a transaction, images of %.0f bytes\n\n' "$records" \
	"$(awk '$1 == "set" { sum += $3 } END { print sum }' "$dir/facts")" "$image"
printf '%-9s %-8s %8s  %15s %15s %19s\n' '' '' '' forced timed 'WAL, MB'
printf '%-9s %8s %8s  %7s %7s %7s %7s %9s %9s\n' run size seconds real paper real paper real paper
failed=0
# run NAME SIZE SECONDS:RATE...
run() {
	local name=$1 size=$2 phase timed requested wal trace=$keep/$1.trace from before after length=0
	shift 2
	sql "ALTER SYSTEM SET max_wal_size = '$size'"
	sql 'SELECT pg_reload_conf()' >/dev/null
	printf '%s\n' "# Written by simulator_truth.sh." "set max_wal_size $size" 'set checkpoint_timeout 30s' \
		"set image_size ${image%.*}B" >"$trace"
	sql CHECKPOINT
	before=$(counters) from=$(lsn)
	for phase in "$@"; do
		load "${phase%:*}" "$(bench "${phase%:*}" "${phase#*:}")" >>"$trace"
		length=$((length + ${phase%:*}))
	done
	wal=$(sql "SELECT round(('$(lsn)'::pg_lsn - '$from'::pg_lsn) / 1048576.0, 1)") after=$(counters)
	timed=$((${after%|*} - ${before%|*})) requested=$((${after#*|} - ${before#*|}))
	"$simulate" run "$trace" | awk -v name="$name" -v size="$size" -v length_="$length" -v timed="$timed" \
		-v forced="$requested" -v wal="$wal" '
		{ paper[$1] = $2 }
		END {
			mb = paper["wal_bytes"] / 1048576
			printf "%-9s %8s %8d  %7d %7d %7d %7d %9.1f %9.1f\n", name, size, length_, forced, paper["forced"], timed,
				paper["timed"], wal, mb
			off = (forced - paper["forced"]) ^ 2 > 1 || (timed - paper["timed"]) ^ 2 > 1 || mb < 0.85 * wal || mb > 1.15 * wal
			exit off
		}' || { failed=1; echo "          off by more than 1 checkpoint or 15 % of WAL"; }
}
run small    64MB  "$seconds:$rate"
run large    4GB   "$seconds:$rate"
run changing 128MB "$((seconds / 4)):$((rate / 5))" "$((seconds / 2)):$((rate * 3 / 2))" "$((seconds / 4)):$((rate / 5))"
exit $failed
