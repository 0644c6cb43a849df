#!/bin/bash
# Runs scripts/test.sh on several PostgreSQL versions, each in a Debian chroot of its own.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit
# shellcheck source-path=SCRIPTDIR source=chroots/host.sh
. "$top/scripts/chroots/host.sh" || exit

usage() {
  cat <<'END'
Usage: scripts/matrix.sh [--long | --build] [--server-only] [--minutes=N] [VERSION...]

Tests walsizer on PostgreSQL 13, 17, 18 and 19, or on the versions named (15 as well). For each it makes a
Debian chroot with that server and the test tools, copies the tree into it and runs scripts/test.sh there as
an ordinary user; where two versions come from the same Debian, what does not depend on the server only on
the first. A chroot is kept for the next time, until scripts/test.sh needs other packages; remove its
directory to have it made anew, with the newest ones. Needs Debian, root (or sudo), and the right to mount.
Nothing of this machine's own PostgreSQL is used.

  --long    test.sh --long: also the proofs that take minutes
  --build   make the chroots and test nothing
  --server-only  only what depends on the server, on every version
  --minutes=N   begin no version after so many minutes; those left out are named like those that cannot be had

Environment: WALSIZER_CHROOTS (where the chroots are; default /var/cache/walsizer-chroots), WALSIZER_MIRROR
(a Debian mirror to try before those of this machine's apt).

One line per version and kind of test; the last line is "N passed, N failed". A version whose Debian suite
cannot be had now is named loudly, but is no failure; neither is a machine that lets nobody mount. Exit status:
0 all well, 1 a test failed, 3 no version was tested.
END
}

# Which Debian has which server. PostgreSQL 14 and 16 are in no Debian release. 19 is in experimental, which
# is an addition to sid.
declare -A suites=([13]=bullseye [15]=bookworm [17]=trixie [18]=sid [19]=sid)
# Beside which server there is an older one to run pg_upgrade from, and whose Debian has it.
declare -A older=([17]=bookworm:15)

# A hung test must not eat the time of the other versions. Several times what they take on two slow cores.
readonly build_limit=30m
test_limit=25m
# One downloads while the other unpacks; more only wait for each other.
readonly builds_at_once=2

long=() versions=() only_build=() minutes='' server_only=()
for argument; do
  case $argument in
  --long) long=(--long) test_limit=150m ;;
  --build) only_build=(--build) ;;
  --server-only) server_only=(--server-only) ;;
  --minutes=*) minutes=${argument#*=} ;;
  -h | --help) usage && exit ;;
  *)
    [[ -n ${suites[$argument]:-} ]] || { usage >&2 && die "no chroot for PostgreSQL $argument is known"; }
    versions+=("$argument")
    ;;
  esac
done
((${#versions[@]})) || versions=(13 17 18 19)

# What the machine does not allow is not the code's fault, but nobody may overlook it.
if ! can_make_chroots; then
  say "!!! NOT TESTED: PostgreSQL ${versions[*]}: this machine does not let us mount (no root, or a container)"
  ((${#only_build[@]})) || say "0 passed, 0 failed"
  exit 3
fi
as_root_again "${long[@]}" "${only_build[@]}" "${server_only[@]}" ${minutes:+"--minutes=$minutes"} "${versions[@]}"
begin_chroots

# ---- Chroots ---------------------------------------------------------------------------------------------

declare -A untested=() # the reason, by version
test_packages=$(bash "$top/scripts/test.sh" --packages) || exit

wanted_packages() { echo "$test_packages${older[$1]:+ older:${older[$1]}}"; }
is_ready() { [[ $(cat "$chroots/$1/etc/walsizer-packages" 2>/dev/null) == "$(wanted_packages "$1")" ]]; }

finish_build() {
  local version=$1
  end_job "$version"
  if is_ready "$version"; then
    say "PostgreSQL $version: the chroot is ready (${SECONDS} s since the start)"
  else
    untested[$version]="the chroot could not be built, see $chroots/$version.build.log"
    tail -n 15 "$chroots/$version.build.log" 2>/dev/null | sed "s/^/   $version | /"
  fi
}

build_chroots() {
  local version mirror waiting=()
  for version; do is_ready "$version" || waiting+=("$version"); done
  ((${#waiting[@]})) || return 0
  prepare_debootstrap
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
    job "$version" "$chroots/$version.build.log" "$build_limit" \
      "$top/scripts/matrix/chroot.sh" build "$version" "$chroots/$version" "${suites[$version]}" "$mirror" \
      "$(wanted_packages "$version")"
  done
  for version in "${!jobs[@]}"; do finish_build "$version"; done
}

# ---- Tests -----------------------------------------------------------------------------------------------

passed=0 failed=0 tested=0
# Debians whose compilers have built and run the engine and the program, which know nothing of the server.
declare -A compilers_seen=()

# test.sh says "KIND: N passed, N failed" for each kind, and the sum without a KIND at its end.
result_lines() { sed -nE "s/^($1[0-9]+ passed, [0-9]+ failed)( .*)?\$/\\1/p" "$2"; }

test_version() {
  local version=$1 log=$scratch/$1.log kept=$chroots/$1.run.log status line began=$SECONDS kinds=("${server_only[@]}")
  [[ -z ${compilers_seen[${suites[$version]}]:-} ]] || kinds=(--server-only)
  compilers_seen[${suites[$version]}]=1
  job "$version" "$log" "$test_limit" "$top/scripts/matrix/chroot.sh" run "$version" "$chroots/$version" \
    "$scratch/tree.tar" "${long[@]}" "${kinds[@]}"
  end_job "$version"
  status=$?
  cp "$log" "$kept" # another run may have this chroot by now, and write there too
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

install_missing git util-linux
pack_tree "$scratch/tree.tar" || die "cannot pack the tree $top"
build_chroots "${versions[@]}"
if ((${#only_build[@]} == 0)); then
  for version in "${versions[@]}"; do
    [[ -z $minutes ]] || ((SECONDS < minutes * 60)) || untested[$version]=${untested[$version]:-no time was left}
    [[ -n ${untested[$version]:-} ]] || test_version "$version"
  done
fi

for version in "${!untested[@]}"; do
  say "!!! NOT TESTED: PostgreSQL $version: ${untested[$version]}"
done
((${#only_build[@]} == 0)) || exit 0
say "$passed passed, $failed failed"
((failed == 0)) || exit 1
((tested > 0)) || exit 3
