#!/bin/bash
# chroot.sh DIRECTORY BASE TREE.tar COMMAND...
#
# The part of newcomer.sh that works inside a fresh copy of the chroot BASE, in namespaces of its own: each COMMAND
# in turn, from the tree's directory. "## N took S s, exit status E" tells how it went.
set -euo pipefail

root=$1 base=$2 tree=$3
shift 3
# shellcheck source-path=SCRIPTDIR source=../chroots/guest.sh
. "${BASH_SOURCE[0]%/*}/../chroots/guest.sh"

rm -rf --one-file-system "$root" # of a run that was ended hard
incomplete=$root                 # removed at the end, whatever happens
cp -a --reflink=auto "$base" "$root"
mount_all
mkdir "$root/root/walsizer"
tar -C "$root/root/walsizer" --no-same-owner -xf "$tree"

count=0
for command; do
  count=$((count + 1)) began=$SECONDS status=0
  echo "## $count begins"
  in_chroot env -u DEBIAN_FRONTEND bash -c "cd /root/walsizer && $command" </dev/null || status=$?
  echo "## $count took $((SECONDS - began)) s, exit status $status"
done
