# shellcheck shell=bash
# Shared by the scripts here and in bench: install what is missing, work in a private directory, undo everything at exit.
#
# test.sh, demo.sh and the benchmarks run twice. The outer run may be root: it installs packages, makes the private directory,
# copies the tree into it and starts the same script from that copy as an ordinary user (initdb refuses root).
# The inner run builds, starts servers and reports. All it makes lies below $WALSIZER_WORK, so that one rule
# cleans up: end the processes that run from there, remove the directory.
#
# Environment: PG_CONFIG (a server's pg_config), PGVERSION (a major version), WALSIZER_TMPDIR (where to work).

readonly oldest_major=13 newest_major=19
readonly createcluster=/etc/postgresql-common/createcluster.d
readonly no_main=$createcluster/walsizer-tmp.conf
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P) || exit
self=$(cd "$(dirname "$0")" && pwd -P)/${0##*/}
readonly self=${self#"$top/"} # the running script, seen from the top of the tree
work=${WALSIZER_WORK:-} # the private directory; the environment has it in the inner run only
bin=                    # the temporary installation's programs
child=                  # process group of the running step, or of the inner run
keep=0                  # 1: leave the private directory in place
launcher=()             # a command that starts the inner run, such as one that limits its resources
undo=()                 # commands that clean_up runs after the inner run has ended

say() { printf '%s\n' "$*"; }
heading() { printf '\n== %s\n' "$*"; }
warn() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
  warn "$*"
  exit 1
}

is_inner() { [[ -n ${WALSIZER_WORK:-} ]]; }
as_root() { if ((EUID == 0)); then "$@"; else sudo "$@"; fi; }
cores() { getconf _NPROCESSORS_ONLN; }

# ---- Packages --------------------------------------------------------------------------------------------

apt_get() {
  local log
  log=$(mktemp) || return
  # Waits for the lock: a machine that has just booted is often still updating itself.
  if ! as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
    apt-get -y -q -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

package_installed() {
  [[ " $(dpkg-query -W -f='${db:Status-Status} ' "$1" 2>/dev/null)" == *" installed "* ]]
}

need_root_for() {
  ((EUID == 0)) || command -v sudo >/dev/null ||
    die "to install packages this needs root or sudo. As root: apt-get install $*"
}

apt_updated=0
apt_update_once() {
  ((apt_updated)) && return
  apt_updated=1
  say "Refreshing the package lists (apt-get update)"
  apt_get update || warn "apt-get update failed; going on with the lists at hand"
}

# Debian's server package would create and start a cluster "main" on port 5432. Nobody asked for that one.
forbid_main_cluster() {
  as_root mkdir -p "$createcluster" && say "create_main_cluster = false" | as_root tee "$no_main" >/dev/null
}
allow_main_cluster() {
  [[ -e $no_main ]] || return 0
  as_root rm -f "$no_main"
  as_root rmdir --ignore-fail-on-non-empty "$createcluster"
}

# install_missing PACKAGE...
install_missing() {
  local package missing=()
  if ! command -v apt-get >/dev/null; then
    say "No apt-get here: going on with what is installed. Needed: $*"
    return
  fi
  exec 8<"$top" && flock 8 # .ci/run has two of us at work; apt waits for some of its locks only
  for package; do package_installed "$package" || missing+=("$package"); done
  if ((${#missing[@]} == 0)); then
    exec 8<&-
    return
  fi
  need_root_for "${missing[@]}"
  apt_update_once
  say "Installing what is missing: ${missing[*]}"
  if [[ " ${missing[*]} " =~ \ postgresql-[0-9]+\  ]]; then
    apt_get install --no-install-recommends postgresql-common || die "cannot install postgresql-common"
    forbid_main_cluster
  fi
  apt_get install --no-install-recommends "${missing[@]}" || die "apt-get install failed: ${missing[*]}"
  allow_main_cluster
  exec 8<&-
}

# Those of PACKAGE... that can neither be found here nor installed.
not_offered() {
  local package
  for package; do
    package_installed "$package" || [[ $(apt-cache policy "$package") == *"Candidate: "[0-9]* ]] || echo "$package"
  done
}

# install_if_offered PACKAGE...: all of them, or none when this system lacks one; sets lacking.
install_if_offered() {
  command -v apt-cache >/dev/null || return 0
  lacking=$(not_offered "$@" | xargs)
  if [[ -n $lacking ]] && { ((EUID == 0)) || command -v sudo >/dev/null; }; then
    apt_update_once
    lacking=$(not_offered "$@" | xargs)
  fi
  [[ -n $lacking ]] || install_missing "$@"
}

# ---- The server to work with -----------------------------------------------------------------------------

newest_supported() {
  sort -n | awk "/^[0-9]+\$/ && \$1 >= $oldest_major && \$1 <= $newest_major {v = \$1} END {print v}"
}

newest_installed() {
  local path
  for path in /usr/lib/postgresql/*/bin/postgres; do
    [[ $path =~ /postgresql/([0-9]+)/ ]] && echo "${BASH_REMATCH[1]}"
  done | newest_supported
}

newest_installable() {
  local name
  for name in $(apt-cache pkgnames postgresql-server-dev-); do
    name=${name#postgresql-server-dev-}
    [[ $(apt-cache policy "postgresql-$name") == *"Candidate: "[0-9]* ]] && echo "$name"
  done | newest_supported
}

# Sets pg_major and debian_server (1: the server's files belong to Debian packages).
choose_server() {
  local bindir
  debian_server=1
  if [[ -n ${PG_CONFIG:-} ]]; then
    bindir=$("$PG_CONFIG" --bindir) || die "PG_CONFIG=$PG_CONFIG does not work"
    pg_major=$("$PG_CONFIG" --version | sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p')
    [[ $bindir == /usr/lib/postgresql/$pg_major/bin ]] || debian_server=0
  else
    pg_major=${PGVERSION:-$(newest_installed)}
    if [[ -z $pg_major ]] && command -v apt-get >/dev/null; then
      need_root_for postgresql
      apt_update_once
      pg_major=$(newest_installable)
    fi
  fi
  [[ $pg_major =~ ^[0-9]+$ ]] || die "found no PostgreSQL server, name one: PG_CONFIG=/path/to/pg_config $0"
  ((pg_major >= oldest_major && pg_major <= newest_major)) ||
    die "walsizer is for PostgreSQL $oldest_major to $newest_major, this is $pg_major"
}

# prepare PACKAGE...: chooses the server, installs it and the packages. "-N-" in a name becomes the major
# version; such packages belong to Debian's server.
prepare() {
  local package wanted=()
  choose_server
  for package; do
    if [[ $package != *-N-* ]]; then
      wanted+=("$package")
    elif ((debian_server)); then
      package=${package/-N-/-$pg_major-}
      wanted+=("${package%-}")
    fi
  done
  install_missing "${wanted[@]}"
  ((debian_server)) && PG_CONFIG=/usr/lib/postgresql/$pg_major/bin/pg_config
  PG_CONFIG=$("$PG_CONFIG" --bindir)/pg_config # /usr/bin/pg_config is Debian's wrapper around the newest one
  [[ -x $PG_CONFIG ]] || die "no pg_config at $PG_CONFIG"
}

# ---- The private directory, and the change from the outer to the inner run -------------------------------

# make_workdir MEGABYTES: on a real disk first, /tmp is often memory.
make_workdir() {
  local dir probe
  for dir in ${WALSIZER_TMPDIR:+"$WALSIZER_TMPDIR"} /var/tmp /tmp; do
    (($(df -Pm "$dir" 2>/dev/null | awk 'NR == 2 {print $4 + 0}') >= $1)) || continue
    work=$(mktemp -d "$dir/walsizer.XXXXXX" 2>/dev/null) || continue
    probe=$work/probe
    printf '#!/bin/sh\n' >"$probe" && chmod +x "$probe"
    "$probe" 2>/dev/null && return # not mounted noexec
    rm -rf "$work"
  done
  work=
  die "no directory with $1 MB free and programs allowed; name one: WALSIZER_TMPDIR=/path $0"
}

# The server's processes run from copies of its programs below $work: that tells ours from all others.
# our_processes [PROGRAM]
# shellcheck disable=SC2120
our_processes() { find /proc/[0-9]*/exe -maxdepth 0 -lname "${1:-$work/*}" 2>/dev/null | cut -d / -f 3; }

end_our_processes() {
  local signal pids deadline
  for signal in QUIT KILL; do # QUIT is PostgreSQL's immediate shutdown
    deadline=$((SECONDS + 10))
    while mapfile -t pids < <(our_processes) && ((${#pids[@]})); do
      kill -s "$signal" "${pids[@]}" 2>/dev/null
      ((SECONDS < deadline)) || break
      sleep 0.1
    done
  done
}

end_child() {
  [[ -n $child ]] || return
  kill -TERM -- "-$child" 2>/dev/null
  { wait "$child"; } 2>/dev/null
  child=
}

# $work/stop exists when a server was left running on purpose; it ends that server and removes everything.
clean_up() {
  local command
  trap '' INT TERM HUP PIPE
  end_child
  is_inner || allow_main_cluster
  [[ -n $work && ! -e $work/stop ]] || return
  end_our_processes
  is_inner && return
  for command in "${undo[@]}"; do eval "$command"; done
  if ((keep)); then say "Kept: $work"; else rm -rf "$work"; fi
}

interrupted() {
  is_inner || warn "interrupted, cleaning up"
  exit "$1"
}

clean_up_at_exit() {
  trap clean_up EXIT
  trap 'interrupted 130' INT
  trap 'interrupted 143' TERM
  trap 'exit 129' HUP PIPE
}

# in_background COMMAND...: waits for it in a way that an interrupt ends it with all its children.
in_background() {
  local result
  set -m # a process group of its own
  "$@" </dev/null &
  child=$!
  set +m
  wait "$child"
  result=$?
  child=
  return "$result"
}

# hand_over ARGUMENT...: runs this script's copy as an ordinary user, with a clean environment.
hand_over() {
  local user become=() clear
  mkdir "$work/src" "$work/t" || die "cannot write below $work"
  tar -C "$top" --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude='*.a' --exclude='*.bc' \
    --exclude=./build --exclude=tmp_check --exclude=./results -cf - . | tar -C "$work/src" -xf - ||
    die "cannot copy $top to $work/src"
  if ((EUID == 0)); then
    user=nobody
    getent passwd postgres >/dev/null && user=postgres
    chown -R "$user:" "$work" || die "cannot give $work to the user $user"
    become=(setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups)
  fi
  mapfile -t clear < <(compgen -e | grep -E '^(PG[^_]|MAKE|MFLAGS|LC_|LANG|DESTDIR|PERL5)')
  cd / # the caller's directory may be closed to that user
  # TMPDIR is short: Unix sockets lie there, and their paths end at 107 bytes.
  in_background "${launcher[@]}" "${become[@]}" env "${clear[@]/#/-u}" WALSIZER_WORK="$work" PG_CONFIG="$PG_CONFIG" \
    HOME="$work" TMPDIR="$work/t" LC_ALL=C bash "$work/src/$self" "$@"
}

# shellcheck source-path=SCRIPTDIR source=servers.sh
. "$top/scripts/servers.sh" || exit
