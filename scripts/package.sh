#!/bin/bash
# Builds and tests everything that walsizer is shipped as, in Debian chroots.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit
# shellcheck source-path=SCRIPTDIR source=chroots/host.sh
. "$top/scripts/chroots/host.sh" || exit

usage() {
  cat <<'END'
Usage: scripts/package.sh [--output DIRECTORY] [SUITE...]

For each Debian suite (default: bookworm) it makes a chroot with the build tools and
  - builds the Debian source package and its binary packages, twice: the same bytes must come out
  - runs lintian on source and binaries: no error, no warning
  - installs the packages in a clean chroot and runs debian/tests there (autopkgtest)
In the first suite also the PGXN archive (META.json against PGXN's rules) and the RPM packages (rpmbuild,
rpmlint; not a Red Hat system). Needs Debian, root (or sudo), and the right to mount. Nothing of this
machine's own PostgreSQL is used; the chroots with the tools are kept for the next time.

  --output DIRECTORY   copy what was built there, one folder for each suite

Environment: WALSIZER_CHROOTS (where the chroots are; default /var/cache/walsizer-chroots), WALSIZER_MIRROR
(a Debian mirror to try before those of this machine's apt).
The last line is "N passed, N failed".
END
}

output='' arguments=("$@") suites=()
while (($#)); do
  case $1 in
  --output)
    output=$(realpath "${2:?--output wants a directory}") || exit
    shift
    ;;
  -h | --help) usage && exit ;;
  -*) usage >&2 && die "what is $1?" ;;
  *) suites+=("$1") ;;
  esac
  shift
done
((${#suites[@]})) || suites=(bookworm)

as_root_again "${arguments[@]}"
begin_chroots

passed=0 failed=0

# step SUITE NAME LIMIT ACTION ARGUMENT...: one action of package/chroot.sh
step() {
  local suite=$1 name=$2 limit=$3 log=$chroots/package-$1.$4.log began=$SECONDS
  shift 3
  job "package-$suite" "$log" "$limit" "$top/scripts/package/chroot.sh" "$chroots/package-$suite" "$@"
  if end_job "package-$suite"; then
    passed=$((passed + 1))
    printf '%-9s %-54s ok (%d s)\n' "$suite" "$name" $((SECONDS - began))
    sed -n 's/^## /          /p' "$log" # what is worth telling
    return
  fi
  failed=$((failed + 1))
  printf '%-9s %-54s FAILED\n' "$suite" "$name"
  tail -n 60 "$log" | cut -c1-200 | sed 's/^/   | /'
  say "   the whole log: $log"
  return 1
}

install_missing git util-linux
pack_tree "$scratch/tree.tar" || die "cannot pack the tree $top"
for suite in "${suites[@]}"; do
  base_chroot "$suite"
  if [[ ! -d $chroots/package-$suite ]]; then
    step "$suite" "a chroot with the build tools" 30m tools "$chroots/debian-$suite" || continue
  fi
  step "$suite" "source and binary packages, built twice" 60m deb "$scratch/tree.tar" || continue
  step "$suite" "lintian" 10m lint
  step "$suite" "autopkgtest in a clean chroot" 20m autopkgtest "$chroots/debian-$suite"
  if [[ $suite == "${suites[0]}" ]]; then
    step "$suite" "PGXN archive, META.json against PGXN's rules" 5m pgxn
    step "$suite" "RPM source and binary packages, rpmlint" 30m rpm
  fi
  if [[ -n $output ]]; then
    { mkdir -p "$output/$suite" && cp "$chroots/package-$suite/srv/out/"* "$output/$suite/"; } ||
      die "cannot write to $output"
  fi
done
case $("$top/scripts/maintainer.sh") in
*.invalid\>) say "These packages name no maintainer and are not for publishing: see debian/README.source" ;;
esac
say "$passed passed, $failed failed"
((failed == 0))
