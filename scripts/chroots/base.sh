#!/bin/bash
# base.sh DIRECTORY SUITE MIRROR: makes a Debian chroot with nothing in it but apt. See host.sh.
set -euo pipefail

root=$1
# shellcheck source-path=SCRIPTDIR source=guest.sh
. "${BASH_SOURCE[0]%/*}/guest.sh"

[[ ! -d $root ]] || exit 0 # another run has built it
begin_build
debian "$2" "$3"
apt clean
finish_build
