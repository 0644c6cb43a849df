# shellcheck shell=bash
# Shared by the benchmarks: their parameters, slow storage, results and the machine's description.
#
# Like demo.sh a benchmark runs twice (see scripts/common.sh): the outer run installs packages, slows the storage
# down and collects the results; the inner run builds walsizer, runs throwaway servers and measures. A benchmark
# declares its parameters, then calls begin, then measures: only the inner run comes back from begin.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../scripts/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh" || exit
# shellcheck source-path=SCRIPTDIR source=lib/storage.sh
. "$top/bench/lib/storage.sh" || exit
# shellcheck source-path=SCRIPTDIR source=lib/need.sh
. "$top/bench/lib/need.sh" || exit

# shellcheck disable=SC2034 # the benchmarks use it
readonly lib=$top/bench/lib
name=${0##*/}
readonly name=${name%.sh}
results=$work/results # meaningful in the inner run
arguments=("$@")
told=() # those that matter to a reader of the results

# ---- Parameters ------------------------------------------------------------------------------------------

declare -A p full quick smoke meaning # p: the values in force
parameters=()

# parameter NAME FULL QUICK SMOKE MEANING: becomes the option --NAME. "-": has no value unless given.
parameter() {
  parameters+=("$1")
  # shellcheck disable=SC2034 # by name, in parse_options
  full[$1]=$2 quick[$1]=$3 smoke[$1]=$4 meaning[$1]=$5
}

# Says what stands at the top of the benchmark's own file, and its parameters.
usage() {
  local parameter
  sed -n '/^# shellcheck/d; 2,/^[^#]/s/^# \{0,1\}//p' "$top/$self"
  printf '\nUsage: %s [--quick | --smoke] [--PARAMETER VALUE]... [--out DIR]\n\n' "$self"
  printf '  %-16s %9s %9s\n' '' '' --quick
  for parameter in "${parameters[@]}"; do
    printf '  --%-14s %9s %9s  %s\n' "$parameter" "${full[$parameter]}" "${quick[$parameter]}" "${meaning[$parameter]}"
  done
  cat <<END

  --quick        the second column: small and short, for 2 cores
  --smoke        a few seconds that only show that this benchmark still runs
  --out DIR      where the results go (default: results/$name)
  --check        exit status 1 if a target is missed; without it only if the run itself fails
  --keep         keep the private directory

Environment: PG_CONFIG, PGVERSION, WALSIZER_TMPDIR (the storage to measure; default /var/tmp), as scripts/demo.sh.
END
}

declare -i check=0
size=full # or quick, smoke
out=$PWD/results/$name

parse_options() {
  local parameter argument
  for argument; do [[ $argument == --quick || $argument == --smoke ]] && size=${argument#--}; done
  local -n values=$size
  for parameter in "${parameters[@]}"; do p[$parameter]=${values[$parameter]}; done
  while (($#)); do
    case $1 in
    --quick | --smoke) told+=("$1") ;;
    --check) check=1 ;;
    --keep) keep=1 ;;
    -h | --help) usage && exit ;;
    --out)
      out=$(realpath -m -- "${2:?--out wants a directory}")
      shift
      ;;
    *)
      parameter=${1#--}
      [[ $1 == --* && -n ${full[$parameter]:-} ]] || die "what is $1? Try --help"
      [[ ! ${full[$parameter]} =~ ^[0-9]+$ || ${2:-} =~ ^[0-9]+$ ]] || die "$1 wants a number"
      p[$parameter]=${2:?$1 wants a value}
      told+=("$1" "$2")
      shift
      ;;
    esac
    shift
  done
}

# ---- Outer run -------------------------------------------------------------------------------------------

collect_results() {
  [[ -d $work/results ]] || return
  if mkdir -p "$out" && cp -r "$work/results/." "$out/"; then say "Results: $out"; else die "cannot write to $out"; fi
}

# begin FULL QUICK SMOKE: MB of disk needed for each size. Only the inner run returns.
begin() {
  local status plot=()
  local -A disk_mb=([full]=$1 [quick]=$2 [smoke]=$3)
  parse_options "${arguments[@]}"
  clean_up_at_exit
  if is_inner; then
    rm -rf "$work"/{results,template,run} # the tests run several benchmarks in one place
    mkdir "$results"
    export_connection
    build_and_install
    tell_machine
    return
  fi
  command -v gnuplot >/dev/null || plot=(gnuplot-nox)
  prepare make gcc g++ postgresql-N- postgresql-server-dev-N- "${plot[@]}"
  make_workdir "${disk_mb[$size]}"
  outer_hook
  ((${p[iops]:-0} == 0)) || limit_writes "${p[iops]}"
  hand_over "${arguments[@]}"
  status=$?
  collect_results
  exit "$status"
}
outer_hook() { :; } # what a benchmark adds to the outer run

# ---- Inner run -------------------------------------------------------------------------------------------

# What a reader must know about the machine to compare with another one. Goes to the results, too.
tell_machine() {
  {
    say "$(cores) cores, $(awk '/^MemTotal/ {printf "%.0f", $2 / 1048576}' /proc/meminfo) GB of RAM, Linux $(uname -r | cut -d . -f 1-2)"
    say "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1); data on $(stat -f -c %T "$work")"
    say "$("$bin/postgres" --version), walsizer $(sed -n "s/^default_version = '\(.*\)'/\1/p" "$top/walsizer.control")"
    if [[ -n ${p[iops]:-} ]]; then tell_storage; fi
    say "$self ${told[*]}"
  } | tee "$results/machine.txt"
}

now() { date +%s.%N; }
calculate() { awk "BEGIN {printf \"$1\", $2}"; } # calculate FORMAT EXPRESSION
megabytes() { query -c "SELECT pg_size_bytes(current_setting('$1')) >> 20"; }
insert_lsn() { query -c "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"; }

# forced_since LINE: PostgreSQL's own account, the lines of the server's log after LINE
forced_since() { tail -n "+$(($1 + 1))" "$cluster.log" | grep -c 'checkpoint starting:.* wal'; }
log_lines() { wc -l <"$cluster.log"; }

# Other people's work would be measured, too: waits for the processors to be half idle, at most --patience seconds.
# Sets load, the load average, and busy, the share of processor time taken by others in the last look, in per cent.
wait_for_quiet() {
  local deadline=$((SECONDS + p[patience])) before after
  while :; do
    before=$(processor_time) && sleep 1 && after=$(processor_time)
    busy=$(awk -v a="$before" -v b="$after" 'BEGIN {
      split(a, x); split(b, y); t = y[1] - x[1]; printf "%.0f", t ? 100 * (1 - (y[2] - x[2]) / t) : 0 }')
    ((busy > 50 && SECONDS < deadline)) || break
  done
  # shellcheck disable=SC2034 # the benchmarks write it down
  load=$(cut -d ' ' -f 1 /proc/loadavg)
}
# all of it, and the idle part
processor_time() { awk '/^cpu / {for (i = 2; i <= 9; i++) t += $i; print t, $5 + $6}' /proc/stat; }

# make_template SETTING...: the data directory that every run starts from, filled by the benchmark's load_data.
make_template() {
  local template=$work/template
  new_cluster "$template" < <(printf '%s\n' "$@" "max_wal_size = 32GB") || exit
  cluster=$template
  start_cluster "$template" || exit
  load_data >"$work/load.log" 2>&1 || {
    tail -n 5 "$work/load.log" >&2
    die "cannot fill the cluster"
  }
  stop_cluster "$template"
}

declare -A settings
contenders=()
# contender NAME SETTING...
contender() {
  contenders+=("$1")
  settings[$1]=$(printf '%s\n' "${@:2}")
}
preloads_walsizer() { [[ ${settings[$1]} == *"preload_libraries = 'walsizer'"* ]]; }

# start_contender NAME [STATE]: a server on a fresh copy of the template, with that contender's settings; walsizer is
# in that state.
start_contender() {
  local state=${2:-}
  [[ -z $state ]] && preloads_walsizer "$1" && state=tuning
  cluster=$work/run
  rm -rf "$cluster" "$cluster.log"
  cp -a --reflink=auto "$work/template" "$cluster" || die "cannot copy the cluster"
  printf '%s\n' "${settings[$1]}" "log_checkpoints = on" "log_line_prefix = '%n '" >>"$cluster/postgresql.conf"
  find "$cluster" -type f -exec sync {} + # the copy is not to be written during the run
  start_cluster "$cluster" || exit
  [[ $1 == measuring ]] && watch_lsn
  [[ -n $state ]] || return 0
  query -c "CREATE EXTENSION IF NOT EXISTS walsizer" || exit
  wait_for_walsizer "$state"
}

# ---- What is printed -------------------------------------------------------------------------------------

missed=0
# target WHAT VALUE COMPARISON BOUND: says whether it was reached. COMPARISON is <= or >=.
target() {
  local verdict=reached
  if [[ ! $2 =~ ^-?[0-9.]+$ ]]; then
    verdict="not measured"
    missed=$((missed + 1))
  elif ! awk "BEGIN {exit !($2 $3 $4)}"; then
    verdict=MISSED
    missed=$((missed + 1))
  fi
  printf '  %-50s %8s  %s %-5s %s\n' "$1" "$2" "$3" "$4" "$verdict" | tee -a "$results/targets.txt"
}

finish() {
  ((check && missed)) && exit 1
  exit 0
}
