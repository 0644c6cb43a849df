#!/bin/bash
# Proves monitoring/ end to end: the real exporter and the real Prometheus scrape a throwaway server under load.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit

chart=

usage() {
  cat <<'END'
Usage: scripts/monitoring.sh [--chart FILE.png] [--keep]

Checks monitoring/: the alert rules and their unit tests (promtool), then the queries, the rules and the
dashboard with Debian's prometheus-postgres-exporter and Prometheus, which scrape a throwaway server under pgbench
load as a role that has pg_monitor and nothing else. The two are unpacked from their packages, not installed:
no service of this machine is touched. Needs 3 minutes, and root, or a user with sudo if something must be
installed (g++, PostgreSQL, python3-yaml, python3-matplotlib).

  --chart FILE.png   draw the dashboard's panels from the series of this run
  --keep             keep the private directory with its logs

Environment: PG_CONFIG=/path/to/pg_config or PGVERSION=16 (default: the newest PostgreSQL installed, or else the
newest one apt offers), WALSIZER_TMPDIR (where to work; default /var/tmp).
The last line is "N passed, N failed".
END
}

while (($#)); do
  case $1 in
  --chart)
    chart=$(realpath "${2:?--chart wants a file}") || exit
    shift
    ;;
  --keep) keep=1 ;;
  -h | --help) usage && exit ;;
  *) usage >&2 && die "what is $1?" ;;
  esac
  shift
done

# ---- Outer run: install, unpack, then continue in a copy, as an ordinary user ----------------------------

# unpack PACKAGE...: below $work, where nothing starts a service
unpack() {
  local package
  mkdir "$work/debs" "$work/unpacked"
  for package; do
    (cd "$work/debs" && apt-get download -q "$package" >/dev/null 2>&1) ||
      { apt_update_once && (cd "$work/debs" && apt-get download -q "$package" >/dev/null); } ||
      die "cannot download $package"
    dpkg -x "$work/debs/$package"_*.deb "$work/unpacked" || die "cannot unpack $package"
  done
}

if ! is_inner; then
  clean_up_at_exit
  prepare make gcc g++ postgresql-N- postgresql-server-dev-N- python3 python3-yaml python3-matplotlib
  make_workdir 3000
  unpack prometheus prometheus-postgres-exporter
  hand_over "$@" # none left
  status=$?
  if [[ -n $chart && -s $work/chart.png ]]; then cp "$work/chart.png" "$chart" && say "The chart: $chart"; fi
  exit $status
fi

# ---- Inner run -------------------------------------------------------------------------------------------

PATH=$work/unpacked/usr/bin:$PATH
passed=0 failed=0 results=$work/results
monitoring=$work/src/monitoring tests=$work/src/test/monitoring
: >"$results"

# check COMMAND...: prints its "ok - " and "not ok - " lines, which count; a failure without any counts as one
check() {
  local status before
  before=$(grep -c '^not ok' "$results")
  "$@" 2>&1 | tee -a "$results"
  status=${PIPESTATUS[0]}
  ((status == 0 || $(grep -c '^not ok' "$results") > before)) || say "not ok - $*" | tee -a "$results"
}

# tool NAME COMMAND...: one result, and its output when it fails
tool() {
  if "${@:2}" >"$work/tool.log" 2>&1; then say "ok - $1"; else say "not ok - $1" && cat "$work/tool.log"; fi
}

free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# documented N: the N-th block of the page that says it is run here, with this run's places in it
documented() {
  "$work/src/scripts/page_block" "$work/src/docs/monitoring.md" '<!-- run by: scripts/monitoring.sh -->' "$1" |
    sed "s,/etc/prometheus/,$monitoring/,; s,host=[^ ]*,host=$PGHOST port=$PGPORT,"
}

start_exporter_and_prometheus() {
  local exporter prometheus ARGS DATA_SOURCE_NAME
  exporter=$(free_port) prometheus=$(free_port)
  url=http://127.0.0.1:$prometheus
  cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
$(documented 2)
scrape_configs:
  - job_name: postgres
    static_configs: [{targets: ["127.0.0.1:$exporter"]}]
END
  check tool "promtool check config" promtool check config "$work/prometheus.yml"
  eval "$(documented 1)"
  export DATA_SOURCE_NAME
  # shellcheck disable=SC2086 # as the service takes them: words
  prometheus-postgres-exporter --web.listen-address="127.0.0.1:$exporter" $ARGS >"$work/exporter.log" 2>&1 &
  prometheus --config.file="$work/prometheus.yml" --web.listen-address="127.0.0.1:$prometheus" \
    --storage.tsdb.path="$work/prometheus" >"$work/prometheus.log" 2>&1 &
}

ask() { check /usr/bin/python3 "$tests/check.py" "$url" "$@"; }

# Half of the time walsizer only watches, so that the chart has something to compare.
load() {
  local half=50 pgbench
  heading "pgbench: $half s with walsizer.enable = off, $half s with on"
  in_background pgbench -i -q -s 20 >"$work/init.log" 2>&1 || die "pgbench cannot fill the database"
  query -c "CHECKPOINT"
  began=$(date +%s)
  pgbench -n -c 4 -T $((2 * half)) >"$work/pgbench.log" 2>&1 </dev/null &
  pgbench=$!
  while (($(date +%s) < began + half)) && kill -0 "$pgbench" 2>/dev/null; do sleep 0.2; done
  query -c "ALTER SYSTEM SET walsizer.enable = on" -c "SELECT pg_reload_conf()" >/dev/null
  wait "$pgbench" || die "pgbench failed: $(tail -n 3 "$work/pgbench.log")"
  ended=$(date +%s)
}

clean_up_at_exit
export_connection
heading "The alert rules"
check tool "promtool check rules" promtool check rules "$monitoring/walsizer-alerts.yaml"
check tool "promtool test rules" promtool test rules "$monitoring/walsizer-alerts-test.yaml"

heading "A server, the exporter and Prometheus"
build_and_install
new_cluster "$work/data" <<'END' || exit
shared_preload_libraries = 'walsizer'
walsizer.enable = off
walsizer.max = 4GB
max_wal_size = 128MB
min_wal_size = 64MB
checkpoint_timeout = 30s
synchronous_commit = off
END
start_cluster "$work/data" || exit
query -c "CREATE EXTENSION walsizer" -c "CREATE ROLE prometheus LOGIN IN ROLE pg_monitor"
start_exporter_and_prometheus
ask up

load
ask value walsizer_status_max_wal_size_bytes "$(query -c "SELECT pg_size_bytes(current_setting('max_wal_size'))")"
ask value walsizer_stat_num_wal_forced_total "$(query -c "SELECT num_wal_forced FROM walsizer.stat")"
ask value walsizer_stat_num_raised_total "$(query -c "SELECT num_raised FROM walsizer.stat")"
ask value 'walsizer_stat_num_raised_total > bool 0' 1
ask value 'walsizer_stat_num_wal_forced_total > bool 0' 1
ask series "$monitoring/walsizer-queries.yaml" "$monitoring/walsizer-dashboard.json"
query -c "SELECT FROM pg_create_physical_replication_slot('sleeper', true)" -c "SELECT FROM pg_switch_wal()" \
  -c CHECKPOINT
ask value 'walsizer_holder_held_bytes{holder="replication slot sleeper"} > bool 0' 1
query -c "SELECT FROM pg_drop_replication_slot('sleeper')"
check tool "the dashboard's panels as a chart" /usr/bin/python3 "$tests/chart.py" "$url" \
  "$monitoring/walsizer-dashboard.json" "$began" "$ended" "$work/chart.png"

heading "An order to hold, and a server without the library"
query -c "SELECT FROM walsizer.undo()"
ask alert WalsizerHeld
query -c "SELECT FROM walsizer.resume()"
stop_cluster "$work/data"
say "shared_preload_libraries = ''" >>"$work/data/postgresql.conf"
start_cluster "$work/data" || exit
ask alert WalsizerNotRunning

passed=$(grep -c '^ok' "$results") failed=$(grep -c '^not ok' "$results")
say
say "$passed passed, $failed failed"
((failed == 0 && passed > 0))
