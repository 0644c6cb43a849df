#!/bin/bash
# chroot.sh build VERSION DIRECTORY SUITE MIRROR
# chroot.sh run VERSION DIRECTORY TREE.tar [ARGUMENT OF test.sh...]
#
# The part of matrix.sh that works inside one Debian chroot. matrix.sh starts it as the first process of
# mount, PID and IPC namespaces of its own. So whatever ends it, kill -9 included, the kernel takes its mounts
# and its servers with it; the unmounting below is for the ordinary ways out.
#
#   build  make the chroot with the server and the test tools; DIRECTORY appears only when it is complete
#   run    unpack the tree and run its scripts/test.sh, as an ordinary user without a way to become root
set -euo pipefail

action=$1 version=$2 root=$3
shift 3

readonly user=tester
readonly path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# ---- Mounts ----------------------------------------------------------------------------------------------

mounted=()
incomplete= # what to remove when it does not get finished

mount_in() { # mount_in TYPE OPTIONS DIRECTORY
  mkdir -p "$root$3"
  mount -t "$1" -o "$2" "$1" "$root$3"
  mounted=("$root$3" "${mounted[@]}")
}

mount_all() {
  mount_in proc nosuid,nodev,noexec /proc
  mount_in devpts newinstance,ptmxmode=0666,mode=0620,gid=5,nosuid,noexec /dev/pts
  # PostgreSQL keeps its dynamic shared memory here.
  mount_in tmpfs mode=1777,nosuid,nodev /dev/shm
}

unmount_all() {
  local point
  for point in "${mounted[@]}"; do
    umount "$point" 2>/dev/null || umount --lazy "$point" || true
  done
  mounted=()
}

at_exit() {
  trap '' INT TERM
  unmount_all
  [[ -n $incomplete ]] || return 0
  [[ ! -s $root/debootstrap/debootstrap.log ]] || tail -n 20 "$root/debootstrap/debootstrap.log"
  rm -rf --one-file-system "$incomplete"
}

trap at_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

in_chroot() {
  chroot "$root" /usr/bin/env -i PATH="$path" HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# ---- build -----------------------------------------------------------------------------------------------

apt() { in_chroot apt-get --yes --quiet=2 -o Dpkg::Use-Pty=0 "$@"; }
install() { apt install --no-install-recommends "$@"; }

# Debian's main archive alone: the updates in between are at times not complete on a mirror, least of all
# those of an old release.
configure_apt() { # configure_apt SUITE MIRROR
  {
    echo "deb $2 $1 main"
    # What is not released yet is packaged there, on top of unstable.
    ((version < 19)) || echo "deb $2 experimental main"
  } >"$root/etc/apt/sources.list"
  {
    # A mirror's copy of unstable may be older than its Release file promises.
    [[ $1 != sid ]] || echo 'Acquire::Check-Valid-Until "false";'
    [[ -z ${http_proxy:-} ]] || echo "Acquire::http::Proxy \"$http_proxy\";"
    echo 'Acquire::Languages "none";'
    echo 'Acquire::Retries "3";'
  } >"$root/etc/apt/apt.conf.d/90matrix"
}

build() { # build SUITE MIRROR
  local complete=$root release=()
  root=$complete.partial incomplete=$root
  rm -rf --one-file-system "$root"

  debootstrap --variant=minbase --include=ca-certificates "$1" "$root" "$2"
  # No service of it may ever start.
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  # After a power cut it is made anew, so dpkg need not wait for the disk.
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/matrix"
  [[ -s $root/etc/hosts ]] || printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
  configure_apt "$@"
  mount_all

  apt update
  apt dist-upgrade
  # First alone, so that the server's package finds the creation of a cluster switched off.
  install postgresql-common
  sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' \
    "$root/etc/postgresql-common/createcluster.conf"
  ((version < 19)) || release=(--target-release experimental)
  install "${release[@]}" "postgresql-$version" "postgresql-server-dev-$version"
  # scripts/test.sh finds all it wants to install here.
  install gcc g++ clang make git perl procps libgtest-dev libipc-run-perl \
    libtap-parser-sourcehandler-pgtap-perl
  install_pgtap
  apt clean
  in_chroot useradd --create-home --shell /bin/bash "$user"

  unmount_all
  mv "$root" "$complete"
  incomplete=
}

# pgTAP for a server is SQL alone. Where Debian has no package for this version yet, one is made from that
# of the newest version which has it.
install_pgtap() {
  local package=postgresql-$version-pgtap newest directory=$root/tmp/pgtap
  if in_chroot apt-cache show "$package" >/dev/null 2>&1; then
    install "$package"
    return
  fi
  newest=$(in_chroot apt-cache pkgnames postgresql- | grep -xE 'postgresql-[0-9]+-pgtap' | sort -V |
    tail -n 1)
  if [[ -z $newest ]]; then
    echo "Debian has no pgTAP for any PostgreSQL here"
    return 1
  fi
  mkdir -p "$directory/tree/DEBIAN"
  in_chroot sh -c "cd /tmp/pgtap && apt-get -o APT::Sandbox::User=root download $newest &&
    dpkg-deb --extract ./$newest*.deb old"
  mkdir -p "$directory/tree/usr/share/postgresql"
  mv "$directory/old/usr/share/postgresql/"* "$directory/tree/usr/share/postgresql/$version"
  printf '%s\n' "Package: $package" 'Version: 0~matrix' 'Architecture: all' 'Maintainer: nobody' \
    "Description: the SQL files of $newest" >"$directory/tree/DEBIAN/control"
  in_chroot sh -c 'cd /tmp/pgtap && dpkg-deb --build tree new.deb && dpkg --install new.deb'
  rm -r "$directory"
}

# ---- run -------------------------------------------------------------------------------------------------

run() { # run TREE.tar [ARGUMENT...]
  local tree=$1 home=/home/$user
  shift
  # What an earlier run left that was ended hard; matrix.sh's lock says that no other run is here now.
  rm -rf --one-file-system "$root$home/walsizer" "$root"/var/tmp/walsizer.*
  mount_all
  mkdir "$root$home/walsizer"
  tar -C "$root$home/walsizer" --no-same-owner -xf "$tree"
  in_chroot chown -R "$user:" "$home/walsizer"
  in_chroot setpriv --reuid="$user" --regid="$user" --init-groups --no-new-privs \
    /usr/bin/env -u DEBIAN_FRONTEND HOME="$home" USER="$user" \
    PG_CONFIG="/usr/lib/postgresql/$version/bin/pg_config" \
    bash "$home/walsizer/scripts/test.sh" "$@" </dev/null
}

"$action" "$@"
