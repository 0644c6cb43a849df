# shellcheck shell=bash disable=SC2154 # $top is common.sh's
# Shared by the scripts that work in Debian chroots (matrix.sh, package.sh, newcomer.sh): which mirror has a
# suite, jobs in namespaces of their own, the tree as a tar file. Sourced after common.sh.
#
# Environment: WALSIZER_CHROOTS (where the chroots are; default /var/cache/walsizer-chroots), WALSIZER_MIRROR
# (a Debian mirror to try before those of this machine's apt).

chroots=${WALSIZER_CHROOTS:-/var/cache/walsizer-chroots}
scratch=            # set by begin_chroots
declare -A jobs=()  # process ID, and process group, by name

# Whether there is a way to be root, and root may mount.
can_make_chroots() {
  ((EUID == 0)) || command -v sudo >/dev/null || return
  as_root unshare --mount --pid --fork sh -c 'mount -t tmpfs none /mnt' 2>/dev/null
}

# as_root_again ARGUMENT...: starts the calling script again as root
as_root_again() {
  ((EUID != 0)) || return 0
  command -v sudo >/dev/null || die "this needs root or sudo, to make and enter chroots"
  exec sudo WALSIZER_CHROOTS="$chroots" WALSIZER_MIRROR="${WALSIZER_MIRROR:-}" "$0" "$@"
}

begin_chroots() {
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/walsizer-chroots.XXXXXX") || exit
  trap end_chroots EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  trap 'exit 129' HUP
  mkdir -p "$chroots" || die "cannot make $chroots"
  unshare --mount --pid --fork true 2>/dev/null || die "this machine does not let root mount (a container?)"
}

end_chroots() {
  trap '' INT TERM HUP
  end_jobs
  rm -rf "$scratch"
}

# ---- Jobs: what runs inside a chroot ---------------------------------------------------------------------

# job NAME LOG LIMIT SCRIPT ARGUMENT...: starts a script of ours in namespaces of its own, with NAME's lock. The
# lock goes with the last process that has it open, however that one ends. Each link of the chain dies with the
# one before: nothing goes on without the calling script.
job() {
  local name=$1 log=$2 limit=$3
  shift 3
  set -m
  (
    exec 9>"$chroots/$name.lock"
    if ! flock --nonblock 9; then
      say "$name: waiting for another run to leave $chroots/$name" >&2
      flock 9
    fi
    kill -0 $$ 2>/dev/null || exit # the calling script ended while we waited
    exec setpriv --pdeathsig TERM timeout --kill-after=60 "$limit" setpriv --pdeathsig KILL \
      unshare --mount --propagation private --pid --fork --kill-child --mount-proc --ipc \
      bash "$@" >"$log" 2>&1 </dev/null
  ) &
  jobs[$name]=$!
  set +m
}

# end_job NAME: waits for it, and answers its exit status
end_job() {
  local status
  wait "${jobs[$1]}"
  status=$?
  unset "jobs[$1]"
  return "$status"
}

# TERM lets the scripts tidy up; who is not done by then is ended with its whole namespace.
end_jobs() {
  local pid deadline=$((SECONDS + 30))
  for pid in "${jobs[@]}"; do kill -TERM -- "-$pid"; done 2>/dev/null
  for pid in "${jobs[@]}"; do
    while kill -0 -- "-$pid" 2>/dev/null && ((SECONDS < deadline)); do sleep 0.1; done
    kill -KILL -- "-$pid" 2>/dev/null
  done
  wait
}

# ---- Mirrors ---------------------------------------------------------------------------------------------

# fetch URL FILE: by apt's own means, so that its proxies and certificates hold
fetch() { /usr/lib/apt/apt-helper download-file "$1" "$2" >/dev/null 2>&1; }

mirrors() {
  {
    [[ -z ${WALSIZER_MIRROR:-} ]] || echo "${WALSIZER_MIRROR%/}"
    # shellcheck disable=SC2016 # the names are apt's
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | sed 's,/*$,,'
  } | grep -E '^https?://' | awk '!seen[$0]++'
}

# find_mirror SUITE: other vendors use Debian's suite names too, hence the look into the file.
find_mirror() {
  local mirror release=$scratch/release
  while read -r mirror; do
    rm -f "$release"
    fetch "$mirror/dists/$1/InRelease" "$release" && grep -qx 'Origin: Debian' "$release" &&
      grep -qx 'Label: Debian' "$release" && echo "$mirror" && return
  done < <(mirrors)
  return 1
}

# What making chroots needs on this machine.
prepare_debootstrap() {
  local proxy=''
  install_missing debootstrap debian-archive-keyring
  # debootstrap does not read apt's settings.
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  [[ -z $proxy ]] || export http_proxy=$proxy
}

# base_chroot SUITE: $chroots/debian-SUITE, a Debian with nothing in it but apt
base_chroot() {
  local name=debian-$1 mirror
  [[ ! -d $chroots/$name ]] || return 0
  prepare_debootstrap
  mirror=$(find_mirror "$1") || die "no mirror of this machine's apt has Debian's suite $1 now"
  say "Making the chroot $chroots/$name"
  job "$name" "$chroots/$name.build.log" 30m "$top/scripts/chroots/base.sh" "$chroots/$name" "$1" "$mirror"
  end_job "$name" && return
  tail -n 15 "$chroots/$name.build.log" | sed 's/^/   | /'
  die "the chroot could not be built, see $chroots/$name.build.log"
}

# ---- The tree --------------------------------------------------------------------------------------------

# pack_tree FILE.tar: without what a build leaves; objects of another server would look up to date to make.
pack_tree() {
  local file list=$scratch/files
  if git -c safe.directory="$top" -C "$top" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git -c safe.directory="$top" -C "$top" ls-files -z --cached --others --exclude-standard |
      while IFS= read -r -d '' file; do
        [[ -e $top/$file || -L $top/$file ]] && printf '%s\0' "$file" # not one deleted since
      done >"$list"
    tar -C "$top" --null --verbatim-files-from --files-from="$list" -cf "$1"
  else
    tar -C "$top" --exclude='*.o' --exclude='*.bc' --exclude='*.so' --exclude='*.a' --exclude=./build \
      --exclude=tmp_check --exclude=./results -cf "$1" .
  fi
}
