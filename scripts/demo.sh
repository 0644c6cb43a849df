#!/bin/bash
# Shows what walsizer does: the same pgbench load twice on a throwaway server, without walsizer and with it.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit

readonly start_size=128 timeout=30 scale=20 clients=8 # MB, seconds
seconds=40
stay=0

usage() {
  cat <<END
Usage: scripts/demo.sh [--seconds N] [--keep]

Installs what is missing (apt), builds walsizer, installs it into a temporary copy of the PostgreSQL server,
and runs pgbench twice on a throwaway cluster that starts at max_wal_size = ${start_size}MB: without
walsizer, then with it. Needs 3 minutes, 4 GB of disk, and root, or a user with sudo if something must be
installed. It touches no PostgreSQL cluster and no PostgreSQL file of this machine.

  --seconds N  how long each of the two runs takes (default $seconds)
  --keep       leave the second cluster running to look around in it; says how to stop it

Environment: PG_CONFIG=/path/to/pg_config or PGVERSION=16 (default: the newest PostgreSQL installed, or else
the newest one apt offers), WALSIZER_TMPDIR (where to work; default /var/tmp).
END
}

arguments=("$@")
while (($#)); do
  case $1 in
  --seconds)
    [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--seconds wants a number"
    seconds=$2
    shift
    ;;
  --keep) stay=1 ;;
  -h | --help) usage && exit ;;
  *) usage >&2 && die "what is $1?" ;;
  esac
  shift
done

# ---- Outer run: install, then continue in a copy, as an ordinary user ------------------------------------

if ! is_inner; then
  clean_up_at_exit
  prepare make gcc g++ postgresql-N- postgresql-server-dev-N-
  make_workdir 4000
  hand_over ${arguments[@]+"${arguments[@]}"}
  exit
fi

# ---- Inner run: build, one cluster for each run ----------------------------------------------------------

cluster=
declare -A tps forced wal_per_xact final_size

# Both runs start from copies of one data directory, so that nothing but walsizer differs between them.
make_clusters() {
  local data=$work/template name
  say "Creating a throwaway cluster in $work and filling it (pgbench scale $scale)"
  new_cluster "$data" <<<"shared_buffers = 256MB" || exit
  start_cluster "$data" || exit
  if ! in_background pgbench -i -q -s "$scale" >"$work/init.log" 2>&1 || ! stop_cluster "$data"; then
    tail -n 5 "$work/init.log" >&2
    die "cannot fill the cluster"
  fi
  cat >>"$data/postgresql.conf" <<END
max_wal_size = ${start_size}MB
checkpoint_timeout = ${timeout}s
synchronous_commit = off
log_checkpoints = on
log_line_prefix = '%m '
lc_messages = 'C'
END
  for name in without with; do
    cp -a --reflink=auto "$data" "$work/$name" || die "cannot copy the cluster"
  done
  say "shared_preload_libraries = 'walsizer'" >>"$work/with/postgresql.conf"
  rm -rf "$data"
}

# ---- A run and its live view -----------------------------------------------------------------------------

# PostgreSQL's own account, the same for both runs: what the log says started each checkpoint.
forced_so_far() { grep -c 'checkpoint starting:.* wal' "$cluster.log"; }

# wal_now RUN REDO: WAL since redo, trigger, max_wal_size, in MB. Without walsizer SQL does not show the redo
# point before the checkpoint has ended; REDO is where WAL stood when the log said that a checkpoint starts.
wal_now() {
  if [[ $1 == with ]]; then
    query -F ' ' -c "SELECT wal_since_redo >> 20, trigger_size >> 20, max_wal_size >> 20 FROM walsizer.status"
  else
    query -F ' ' -v redo="$2" <<'END'
SELECT (pg_wal_lsn_diff(pg_current_wal_insert_lsn(), :'redo') / 1048576)::bigint,
       floor(size / segment / (1 + target))::bigint * segment >> 20, size >> 20
FROM (SELECT pg_size_bytes(current_setting('max_wal_size')) AS size,
             pg_size_bytes(current_setting('wal_segment_size')) AS segment,
             current_setting('checkpoint_completion_target')::float8 AS target) AS s
END
  fi
}

# live_view RUN PROCESS: a line for each progress report of pgbench, as long as it runs
live_view() {
  local progress shown='' redo starts=0 now wal trigger size last_size=$start_size bar mark
  redo=$(query -c "SELECT redo_lsn FROM pg_control_checkpoint()")
  say
  say '  elapsed    tps   WAL since redo, of the trigger   max_wal_size  forced'
  while kill -0 "$2" 2>/dev/null; do
    sleep 0.2
    now=$(grep -c 'checkpoint starting' "$cluster.log")
    ((now != starts)) && redo=$(query -c "SELECT pg_current_wal_insert_lsn()") && starts=$now
    progress=$(tail -n 1 "$work/$1.progress")
    [[ $progress != "$shown" && $progress =~ ^progress:\ ([0-9]+)[.0-9]*\ s,\ ([0-9]+) ]] || continue
    shown=$progress
    read -r wal trigger size <<<"$(wal_now "$1" "$redo")"
    [[ -n $size ]] || continue
    bar=$((trigger > 0 ? wal * 12 / trigger : 0))
    bar=$(printf '%*s' $((bar < 0 ? 0 : bar > 12 ? 12 : bar)) '')
    mark=
    ((size > last_size)) && mark=' raised'
    last_size=$size
    printf '  %5d s  %6d   [%-12s] %5d of %5d MB  %7d MB  %6d%s\n' "${BASH_REMATCH[1]}" \
      "${BASH_REMATCH[2]}" "${bar// /#}" "$wal" "$trigger" "$size" "$(forced_so_far)" "$mark"
  done
}

# run NAME TITLE
run() {
  local name=$1 start end result=$work/$1.result transactions
  heading "$2"
  cluster=$work/$name
  start_cluster "$cluster" || exit
  if [[ $name == with ]]; then
    query -c "CREATE EXTENSION walsizer" || exit
    wait_for_walsizer tuning
  fi
  say "max_wal_size = ${start_size}MB, checkpoint_timeout = ${timeout}s, synchronous_commit = off"
  say "pgbench -c $clients -j 2 -T $seconds"
  start=$(query -c "SELECT pg_current_wal_insert_lsn()")
  set -m
  pgbench -c "$clients" -j 2 -T "$seconds" -P 2 >"$result" 2>"$work/$name.progress" </dev/null &
  child=$!
  set +m
  live_view "$name" "$child"
  if ! wait "$child"; then
    tail -n 5 "$work/$name.progress" >&2
    die "pgbench failed"
  fi
  child=
  end=$(query -c "SELECT pg_current_wal_insert_lsn()")
  transactions=$(pgbench_transactions "$result")
  ((transactions > 0)) || die "pgbench ran no transaction"
  tps[$name]=$(pgbench_tps "$result")
  forced[$name]=$(forced_so_far)
  wal_per_xact[$name]=$(query -c "SELECT round(pg_wal_lsn_diff('$end', '$start') / $transactions)")
  final_size[$name]=$(query -c "SELECT pg_size_bytes(current_setting('max_wal_size')) >> 20")
}

# ---- What came of it -------------------------------------------------------------------------------------

# rows SQL: one column per line, long values wrapped between words to 80 columns
rows() {
  query -x -F $'\t' -P null=- -c "$1" | awk -F '\t' '
    NF < 2 {print ""; next}
    {
      line = sprintf("  %-20s", $1)
      for (i = 1; i <= split($2, word, " "); i++) {
        if (length(line) + 1 + length(word[i]) > 80) {
          print line
          line = sprintf("  %20s", "")
        }
        line = line " " word[i]
      }
      print line
    }'
}

compared() { # BEFORE AFTER WORD_FOR_MORE WORD_FOR_LESS
  awk -v a="$1" -v b="$2" -v more="$3" -v less="$4" \
    'BEGIN {d = b - a; printf "%.0f %% %s", (d < 0 ? -d : d) * 100 / (a ? a : 1), (d < 0 ? less : more)}'
}

verdict() {
  local line='  %-28s %12s %12s\n' a=${forced[without]} b=${forced[with]}
  heading "Before and after"
  # shellcheck disable=SC2059 # the format is above
  {
    printf "$line" "" without with
    printf "$line" "forced checkpoints" "$a" "$b"
    printf "$line" "WAL per transaction, bytes" "${wal_per_xact[without]}" "${wal_per_xact[with]}"
    printf "$line" "transactions per second" "${tps[without]}" "${tps[with]}"
    printf "$line" "max_wal_size at the end, MB" "${final_size[without]}" "${final_size[with]}"
  }
  say
  if ((a == 0)); then
    say "This machine wrote too little WAL to force a checkpoint, so there was nothing to gain."
    return
  fi
  say "With walsizer: $b forced checkpoints instead of $a," \
    "$(compared "${wal_per_xact[without]}" "${wal_per_xact[with]}" more less) WAL per"
  say "transaction, throughput $(compared "${tps[without]}" "${tps[with]}" higher lower)."
  ((b * 4 <= a)) || say "That is not what walsizer is for; please report it with the lines above."
}

leave_running() {
  cat >"$work/stop" <<END
#!/bin/sh
# Ends the demo's server and removes its directory.
if pid=\$(head -n 1 '$cluster/postmaster.pid' 2>/dev/null) && kill -INT "\$pid"; then
  while kill -0 "\$pid" 2>/dev/null; do sleep 0.1; done
fi
rm -rf '$work'
END
  chmod +x "$work/stop"
  say
  say "The server with walsizer is still running."
  say "  look around:        psql -h $work/t -U postgres"
  say "  stop and remove it: $work/stop"
}

clean_up_at_exit
export_connection
say "walsizer's demo, as user $(id -un), in $work"
build_and_install
make_clusters

run without "First run: without walsizer"
say
say "The last of $(grep -c 'too frequently' "$cluster.log") such lines in the server's log:"
grep 'too frequently' "$cluster.log" | tail -n 1
stop_cluster "$cluster" immediate
rm -rf "$cluster"

run with "Second run: the same, with shared_preload_libraries = 'walsizer'"
heading "What walsizer decided: SELECT ... FROM walsizer.decisions ORDER BY id"
rows "SELECT id, to_char(decided_at, 'HH24:MI:SS.MS') AS decided_at, action, cause,
             pg_size_pretty(old_size) AS old_size, pg_size_pretty(new_size) AS new_size, outcome, reason
      FROM walsizer.decisions ORDER BY id"
heading "How it sees the server now: SELECT * FROM walsizer.status"
rows "SELECT * FROM walsizer.status"
verdict
say "(${SECONDS} s in all)"
if ((stay)); then leave_running; fi
