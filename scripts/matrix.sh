#!/bin/bash
# Runs scripts/test.sh on several PostgreSQL versions, each in a Debian chroot of its own.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit

usage() {
  cat <<'END'
Usage: scripts/matrix.sh [--long] [VERSION...]

Tests walsizer on PostgreSQL 13, 17, 18 and 19, or on the versions named (15 as well). For each it makes a
Debian chroot with that server and the test tools, copies the tree into it and runs scripts/test.sh there as
an ordinary user. A chroot is kept for the next time; remove its directory to have it made anew, with the
newest packages. Needs Debian, root (or sudo), and the right to mount. Nothing of this machine's own
PostgreSQL is used.

  --long    test.sh --long: also the proofs that take minutes

Environment: WALSIZER_CHROOTS (where the chroots are; default /var/cache/walsizer-chroots), WALSIZER_MIRROR
(a Debian mirror to try before those of this machine's apt).

One line per version and kind of test; the last line is "N passed, N failed". A version whose Debian suite
cannot be had now is named loudly, but is no failure. Exit status: 0 all well, 1 a test failed, 3 no version
was tested.
END
}

# Which Debian has which server. PostgreSQL 14 and 16 are in no Debian release. 19 is in experimental, which
# is an addition to sid.
declare -A suites=([13]=bullseye [15]=bookworm [17]=trixie [18]=sid [19]=sid)

# A hung test must not eat the time of the other versions. Several times what they take on two slow cores.
readonly build_limit=30m
test_limit=25m
# One downloads while the other unpacks; more only wait for each other.
readonly builds_at_once=2

chroots=${WALSIZER_CHROOTS:-/var/cache/walsizer-chroots}
long=() versions=()
for argument; do
  case $argument in
  --long) long=(--long) test_limit=150m ;;
  -h | --help) usage && exit ;;
  *)
    [[ -n ${suites[$argument]:-} ]] || { usage >&2 && die "no chroot for PostgreSQL $argument is known"; }
    versions+=("$argument")
    ;;
  esac
done
((${#versions[@]})) || versions=(13 17 18 19)

if ((EUID != 0)); then
  command -v sudo >/dev/null || die "this needs root or sudo, to make and enter chroots"
  exec sudo WALSIZER_CHROOTS="$chroots" WALSIZER_MIRROR="${WALSIZER_MIRROR:-}" "${BASH_SOURCE[0]}" \
    "${long[@]}" "${versions[@]}"
fi

# ---- Jobs: what runs inside a chroot ---------------------------------------------------------------------

scratch=$(mktemp -d "${TMPDIR:-/tmp}/walsizer-matrix.XXXXXX") || exit
declare -A jobs=() # process ID, and process group, by version

# job LOG VERSION LIMIT build|run ARGUMENT...: starts chroot.sh in namespaces of its own, with the chroot's
# lock. The lock goes with the last process that has it open, however that one ends. Each link of the chain
# dies with the one before: nothing goes on without this script.
job() {
  local log=$1 version=$2 limit=$3 action=$4
  shift 4
  set -m
  (
    exec 9>"$chroots/$version.lock"
    if ! flock --nonblock 9; then
      say "PostgreSQL $version: waiting for another run to leave $chroots/$version" >&2
      flock 9
    fi
    kill -0 $$ 2>/dev/null || exit # this script ended while we waited
    [[ $action == build && -d $chroots/$version ]] && exit # the other run has built it
    exec setpriv --pdeathsig TERM timeout --kill-after=60 "$limit" setpriv --pdeathsig KILL \
      unshare --mount --propagation private --pid --fork --kill-child --mount-proc --ipc \
      bash "$top/scripts/matrix/chroot.sh" "$action" "$version" "$chroots/$version" "$@" \
      >"$log" 2>&1 </dev/null
  ) &
  jobs[$version]=$!
  set +m
}

# TERM lets test.sh and chroot.sh tidy up; who is not done by then is ended with its whole namespace.
end_jobs() {
  local pid deadline=$((SECONDS + 30))
  for pid in "${jobs[@]}"; do kill -TERM -- "-$pid"; done 2>/dev/null
  for pid in "${jobs[@]}"; do
    while kill -0 -- "-$pid" 2>/dev/null && ((SECONDS < deadline)); do sleep 0.1; done
    kill -KILL -- "-$pid" 2>/dev/null
  done
  wait
}

at_exit() {
  trap '' INT TERM HUP
  end_jobs
  rm -rf "$scratch"
}
trap at_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# ---- Chroots ---------------------------------------------------------------------------------------------

declare -A untested=() # the reason, by version

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

finish_build() {
  local version=$1
  wait "${jobs[$version]}"
  unset "jobs[$version]"
  if [[ -d $chroots/$version ]]; then
    say "PostgreSQL $version: the chroot is ready (${SECONDS} s since the start)"
  else
    untested[$version]="the chroot could not be built, see $chroots/$version.build.log"
    tail -n 15 "$chroots/$version.build.log" 2>/dev/null | sed "s/^/   $version | /"
  fi
}

build_chroots() {
  local version mirror proxy='' waiting=()
  for version; do [[ -d $chroots/$version ]] || waiting+=("$version"); done
  ((${#waiting[@]})) || return 0
  install_missing debootstrap debian-archive-keyring
  # debootstrap does not read apt's settings.
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  [[ -z $proxy ]] || export http_proxy=$proxy
  for version in "${waiting[@]}"; do
    if ! mirror=$(find_mirror "${suites[$version]}"); then
      untested[$version]="no mirror of this machine's apt has Debian's suite ${suites[$version]} now"
      continue
    fi
    # The one that was started first is likely to be done first.
    while ((${#jobs[@]} >= builds_at_once)); do
      finish_build "$(printf '%s\n' "${!jobs[@]}" | sort -n | head -n 1)"
    done
    say "PostgreSQL $version: making the chroot $chroots/$version (Debian ${suites[$version]})"
    job "$chroots/$version.build.log" "$version" "$build_limit" build "${suites[$version]}" "$mirror"
  done
  for version in "${!jobs[@]}"; do finish_build "$version"; done
}

# ---- The tree --------------------------------------------------------------------------------------------

# Objects of another server would look up to date to make.
pack_tree() {
  local file list=$scratch/files
  if git -c safe.directory="$top" -C "$top" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git -c safe.directory="$top" -C "$top" ls-files -z --cached --others --exclude-standard |
      while IFS= read -r -d '' file; do
        [[ -e $top/$file || -L $top/$file ]] && printf '%s\0' "$file" # not one deleted since
      done >"$list"
    tar -C "$top" --null --verbatim-files-from --files-from="$list" -cf "$scratch/tree.tar"
  else
    tar -C "$top" --exclude='*.o' --exclude='*.bc' --exclude='*.so' --exclude='*.a' --exclude=./build \
      --exclude=tmp_check --exclude=./results -cf "$scratch/tree.tar" .
  fi
}

# ---- Tests -----------------------------------------------------------------------------------------------

passed=0 failed=0 tested=0

# test.sh says "KIND: N passed, N failed" for each kind, and the sum without a KIND at its end.
result_lines() { sed -nE "s/^($1[0-9]+ passed, [0-9]+ failed)( .*)?\$/\\1/p" "$2"; }

test_version() {
  local version=$1 log=$scratch/$1.log kept=$chroots/$1.run.log status line began=$SECONDS
  job "$log" "$version" "$test_limit" run "$scratch/tree.tar" "${long[@]}"
  wait "${jobs[$version]}"
  status=$?
  cp "$log" "$kept" # another run may have this chroot by now, and write there too
  unset "jobs[$version]"
  tested=$((tested + 1))
  while read -r line; do say "PostgreSQL $version  $line"; done < <(result_lines '[a-z]+: ' "$log")
  line=$(result_lines '' "$log" | tail -n 1)
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    if ((status != 0 && BASH_REMATCH[2] == 0)); then
      failed=$((failed + 1))
      line+=", but exit status $status"
    fi
  else
    failed=$((failed + 1))
    line="no result, exit status $status"
  fi
  ((status != 124)) || line+=", ended after $test_limit"
  say "PostgreSQL $version  all: $line ($((SECONDS - began)) s)"
  ((status == 0)) && return
  tail -n 400 "$log" | cut -c1-200 | sed "s/^/   $version | /"
  say "   the whole log: $kept"
}

mkdir -p "$chroots" || die "cannot make $chroots"
unshare --mount --pid --fork true 2>/dev/null || die "this machine does not let root mount (a container?)"
install_missing git util-linux
pack_tree || die "cannot pack the tree $top"
build_chroots "${versions[@]}"
for version in "${versions[@]}"; do
  [[ -n ${untested[$version]:-} ]] || test_version "$version"
done

for version in "${!untested[@]}"; do
  say "!!! NOT TESTED: PostgreSQL $version: ${untested[$version]}"
done
say "$passed passed, $failed failed"
((failed == 0)) || exit 1
((tested > 0)) || exit 3
