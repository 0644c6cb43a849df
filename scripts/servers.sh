# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # common.sh has the variables
# Sourced by common.sh: a temporary installation with walsizer in it, and throwaway clusters.

# ---- A temporary installation: the server's own files are never touched ----------------------------------

# PostgreSQL finds its library and share directories relative to the program that runs. So copies of the
# programs beside links to the rest make a complete installation, into which anybody can install walsizer.
temporary_installation() {
  local program bindir dir
  bindir=$("$PG_CONFIG" --bindir)
  bin=$work$bindir
  mkdir -p "$bin"
  for program in "$bindir"/{pg_*,postgres,initdb,psql,pgbench,{create,drop}{db,user},vacuumdb}; do
    [[ -x $program ]] && cp -L "$program" "$bin/"
  done
  for dir in "$("$PG_CONFIG" --pkglibdir)" "$("$PG_CONFIG" --sharedir)"; do
    mkdir -p "$work$dir"
    cp -rs "$dir/." "$work$dir/" || die "cannot link the files of $dir"
    find "$work$dir" -name 'walsizer*' -prune -exec rm -rf {} + # one installed earlier
  done
  dir=$("$PG_CONFIG" --includedir-server)
  mkdir -p "$work${dir%/*}" && ln -s "$dir" "$work$dir"
  if [[ $("$bin/pg_config" --bindir) != "$bin" ]]; then # Debian 11 gives this one program fixed paths
    printf '#!/bin/sh\nexec %q "$@" | sed "s#/usr#%s/usr#g"\n' "$PG_CONFIG" "$work" >"$bin/pg_config"
  fi
  [[ $("$bin/initdb" --show -D "$work/none" 2>&1) == *"share_path=$work"* ]] ||
    die "the server in $bindir cannot be copied: it looks for its files at fixed paths"
  PATH=$bin:$PATH
}

# The extension alone, the program takes as long again. What is there already is used: the tests run the benchmarks
# in an installation that is complete.
build_and_install() {
  local make=(make -C "$work/src" PG_CONFIG="$PG_CONFIG" WERROR=1 PROGRAM_MISSING="nobody here") log=$work/build.log
  if [[ -e $work$("$PG_CONFIG" --pkglibdir)/walsizer.so ]]; then
    bin=$work$("$PG_CONFIG" --bindir)
    PATH=$bin:$PATH
    return
  fi
  say "Building walsizer for $("$PG_CONFIG" --version)"
  if in_background "${make[@]}" "-j$(cores)" >"$log" 2>&1; then
    temporary_installation
    in_background "${make[@]}" install DESTDIR="$work" >>"$log" 2>&1 && return
  fi
  tail -n 40 "$log" >&2
  die "the build failed"
}

# ---- Throwaway clusters: no TCP, sockets below $work, so no port can be taken ----------------------------

export_connection() { export PGHOST=$work/t PGPORT=5432 PGUSER=postgres PGDATABASE=postgres; }

# new_cluster DIR, with its extra configuration on standard input
new_cluster() {
  if ! initdb -D "$1" -U postgres -A trust -E UTF8 --no-locale -N >"$1.initdb.log" 2>&1; then
    cat "$1.initdb.log" >&2
    return 1
  fi
  cat - >>"$1/postgresql.conf" <(printf "listen_addresses = ''\nunix_socket_directories = '%s'\n" "$work/t")
}

start_cluster() {
  pg_ctl -D "$1" -l "$1.log" -w -t 900 start >/dev/null && return
  warn "the server in $1 does not start:"
  tail -n 15 "$1.log" >&2
  return 1
}

stop_cluster() { pg_ctl -D "$1" -m "${2:-fast}" -w -t 60 stop >/dev/null; }

query() { psql -XqAt -v ON_ERROR_STOP=1 "$@"; }

# What pgbench reports at its end, from a file with its output
pgbench_transactions() { sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$1"; }
# 13 gives two such lines, the second one without the time for connecting; later versions that one only.
pgbench_tps() { sed -n 's/^tps = \([0-9]*\).*/\1/p' "$1" | tail -n 1; }

# wait_for_walsizer STATE
wait_for_walsizer() {
  local deadline=$((SECONDS + 20)) wanted=$1 state
  while state=$(query -c "SELECT state FROM walsizer.status") && [[ $state != "$wanted" ]]; do
    ((SECONDS < deadline)) || die "walsizer is not at work, its state is: $state"
    sleep 0.2
  done
  [[ $state == "$wanted" ]] || die "walsizer.status cannot be read"
}
