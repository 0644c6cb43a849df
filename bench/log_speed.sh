#!/bin/bash
# How fast logs are read: walsizer, grep and pgbadger on the same generated file, one core each.
set -euo pipefail

usage() {
  cat <<'END'
Usage: bench/log_speed.sh [MEGABYTES] [PGBADGER_MEGABYTES]

Generates a server log in which 1 % of the lines concern checkpoints (default: 1000 MB), and reads it with
`walsizer advise --log`, with `grep -c checkpoint`, and its first part (default: 20 MB) with pgbadger. Prints
MB/s of processor time, so that other work on the machine counts little; the best of three runs.

Environment: WALSIZER (the program; default build/walsizer), TMPDIR (room for the file).
Needs pgbadger (Debian package pgbadger) for the comparison with it.
END
}
[[ ${1:-} == -h || ${1:-} == --help ]] && usage && exit
megabytes=${1:-1000} pgbadger_megabytes=${2:-20}
walsizer=${WALSIZER:-build/walsizer}
[[ -x $walsizer ]] || { echo "no program at $walsizer: make" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/server.log

perl -e '
  my ($left, $time, $lsn, $n) = ($ARGV[0] * 1e6, 0, 1 << 36, 0);
  my @statements = ("SELECT abalance FROM pgbench_accounts WHERE aid = %d;",
    "UPDATE pgbench_branches SET bbalance = bbalance + %d WHERE bid = 1;",
    "INSERT INTO orders (id, customer, total, created_at) VALUES (%d, \x27ACME\x27, 99.95, now());",
    "SELECT c.relname, n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = %d");
  srand 1;
  while ($left > 0) {
    my $lines = "";
    for (1 .. 1000) {
      my $stamp = sprintf "2026-07-%02d %02d:%02d:%02d.%03d UTC", 1 + $time / 86400 % 28, $time / 3600 % 24,
        $time / 60 % 60, $time % 60, rand 1000;
      if (++$n % 200 == 0) {
        $lines .= "$stamp [27] LOG:  checkpoint starting: " . ($n % 600 ? "wal" : "time") . "\n";
        $lsn += 560000 * 1024;
        $time += 60;
        $lines .= sprintf "%s [27] LOG:  checkpoint complete: wrote 8123 buffers (12.4%%); 0 WAL file(s) added, "
          . "0 removed, 34 recycled; write=0.309 s, sync=0.056 s, total=0.406 s; sync files=80, longest=0.091 s, "
          . "average=0.004 s; distance=560000 kB, estimate=657991 kB; lsn=%X/%X, redo lsn=%X/%X\n",
          $stamp, $lsn >> 32, $lsn & 0xffffffff, $lsn >> 32, ($lsn - 4096) & 0xffffffff;
      } else {
        $lines .= sprintf "%s [%d] app\@prod LOG:  duration: %.3f ms  statement: $statements[rand @statements]\n",
          $stamp, 1000 + rand 9000, rand 20, rand 100000;
      }
    }
    print $lines;
    $left -= length $lines;
  }' "$megabytes" >"$log"
head -c "${pgbadger_megabytes}000000" "$log" >"$work/part.log"

# processor_time COMMAND...: the best of three, in seconds. Not into /dev/null, where grep stops at the first match.
processor_time() {
  local TIMEFORMAT='%U %S' best='' spent
  for _ in 1 2 3; do
    spent=$({ time "$@" >"$work/out" 2>&1 || true; } 2>&1 | tail -n 1 | awk '{print $1 + $2}')
    best=$(awk -v a="${best:-$spent}" -v b="$spent" 'BEGIN {print (a < b) ? a : b}')
  done
  echo "$best"
}
row() { # NAME BYTES SECONDS
  awk -v name="$1" -v bytes="$2" -v seconds="$3" 'BEGIN {printf "%-28s %8.0f MB %9.2f s %10.1f MB/s\n",
    name, bytes / 1e6, seconds, bytes / 1e6 / seconds}'
}

bytes=$(stat -c %s "$log")
cat "$log" >/dev/null # into the cache
echo "processor time on $(awk -F': ' '/model name/ {print $2; exit}' /proc/cpuinfo)"
ours=$(processor_time "$walsizer" advise --log "$log")
row walsizer "$bytes" "$ours"
theirs=$(processor_time grep -c checkpoint "$log")
row 'grep -c checkpoint' "$bytes" "$theirs"
gzip -1 -c "$log" >"$log.gz"
row 'walsizer, gzip' "$bytes" "$(processor_time "$walsizer" advise --log "$log.gz")"
memory=$({ command time -f %M "$walsizer" advise --log "$log" >/dev/null || true; } 2>&1 | tail -n 1) || memory=
small=$({ command time -f %M "$walsizer" advise --log "$work/part.log" >/dev/null || true; } 2>&1 | tail -n 1) || small=
[[ $memory =~ ^[0-9]+$ ]] && echo "memory: $small kB for $pgbadger_megabytes MB, $memory kB for $megabytes MB"
awk -v a="$ours" -v b="$theirs" 'BEGIN {printf "walsizer takes %.1f times as long as grep\n", a / b}'
if command -v pgbadger >/dev/null; then
  part=$(stat -c %s "$work/part.log")
  theirs=$(processor_time pgbadger -q -j 1 -f stderr -o "$work/out.json" "$work/part.log")
  row pgbadger "$part" "$theirs"
  awk -v a="$ours" -v all="$bytes" -v b="$theirs" -v part="$part" \
    'BEGIN {printf "walsizer is %.0f times as fast as pgbadger\n", (all / a) / (part / b)}'
else
  echo "pgbadger is not installed (Debian package pgbadger)"
fi
