#!/bin/bash
# What a newcomer gets: a clean Debian 12, the README's commands, a watch.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit
# shellcheck source-path=SCRIPTDIR source=chroots/host.sh
. "$top/scripts/chroots/host.sh" || exit

readonly suite=bookworm

usage() {
  cat <<'END'
Usage: scripts/newcomer.sh

Reads README.md from its first line, takes the first two commands of this project that it shows (to see
walsizer work, and to test it), and runs them as they stand there in a clean Debian 12 with nothing but the
tree in it. The first must end with a raised max_wal_size, the second with tests of which none failed. Then it makes,
installs, preloads and queries walsizer as the README's "Use it" says. Tells how many seconds each took. Needs
Debian, root (or sudo), and the right to mount.

Environment: WALSIZER_CHROOTS (where the chroots are; default /var/cache/walsizer-chroots), WALSIZER_MIRROR
(a Debian mirror to try before those of this machine's apt).
END
}

for argument; do
  case $argument in
  -h | --help) usage && exit ;;
  *) usage >&2 && die "what is $argument?" ;;
  esac
done

as_root_again "$@"
begin_chroots

# The commands in the README's code blocks that are scripts of this project, in their order, each once.
mapfile -t commands < <(awk '/^```/ {code = !code; next} code && /^scripts\// {sub(/ *#.*/, ""); print}' \
  "$top/README.md" | awk '!seen[$0]++' | head -n 2)
((${#commands[@]} == 2)) || die "README.md shows ${#commands[@]} commands, not two"

passed=0 failed=0

result() { # result SECONDS TEXT FAULT
  if [[ -z $3 ]]; then
    passed=$((passed + 1))
    printf '%5d s   ok       %s\n' "$1" "$2"
  else
    failed=$((failed + 1))
    printf '%5d s   FAILED   %s: %s\n' "$1" "$2" "$3"
  fi
}

# The chroot lives as long as this function: one job for each command would be two newcomers.
install_missing git util-linux
pack_tree "$scratch/tree.tar" || die "cannot pack the tree $top"
base_chroot "$suite"
log=$chroots/newcomer.log
say "In a clean Debian 12 (its apt, and this tree), as root:"
commands+=(scripts/newcomer/use.sh)
for command in "${commands[@]}"; do say "   $command"; done
job newcomer "$log" 60m "$top/scripts/newcomer/chroot.sh" "$chroots/newcomer" "$chroots/debian-$suite" \
  "$scratch/tree.tar" "${commands[@]}"
end_job newcomer || warn "the newcomer ended with $?"

spent() { sed -n "s/^## $1 took \([0-9]*\) s, exit status \([0-9]*\)\$/$2/p" "$log"; }
begun() { sed -n "/^## $1 begins\$/,/^## $1 took/p" "$log"; }

fault=
[[ $(spent 1 '\2') == 0 ]] || fault="exit status $(spent 1 '\2')"
sizes=$(begun 1 | sed -n 's/^ *max_wal_size at the end, MB  *\([0-9]*\)  *\([0-9]*\)$/\1 \2/p')
read -r without with <<<"${sizes:-0 0}"
((with > without)) || fault+=" max_wal_size was not raised ($without MB without, $with MB with walsizer)"
result "$(($(spent 1 '\1') + 0))" "${commands[0]}: max_wal_size raised from $without to $with MB" "$fault"

fault=
[[ $(spent 2 '\2') == 0 ]] || fault="exit status $(spent 2 '\2')"
last=$(begun 2 | grep -E '^[0-9]+ passed, [0-9]+ failed$' | tail -n 1)
[[ $last =~ ^[1-9][0-9]*\ passed,\ 0\ failed$ ]] || fault+=" ${last:-no result}"
result "$(($(spent 2 '\1') + 0))" "${commands[1]}: ${last:-}" "$fault"

fault=
[[ $(spent 3 '\2') == 0 ]] || fault="exit status $(spent 3 '\2')"
result "$(($(spent 3 '\1') + 0))" "make, install, preload, restart, as README.md says: $(begun 3 | tail -n 2 | head -n 1)" "$fault"

((failed == 0)) || { tail -n 40 "$log" | cut -c1-200 | sed 's/^/   | /' && say "   the whole log: $log"; }
say "$passed passed, $failed failed"
((failed == 0))
