# shellcheck shell=bash
# Shared by the scripts that host.sh starts as the first process of mount, PID and IPC namespaces of their own.
# So whatever ends one, kill -9 included, the kernel takes its mounts and its servers with it; the unmounting
# below is for the ordinary ways out. Sourced with $root set to the chroot's directory.

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

# as_root_directory COMMAND...: the same, but the chroot becomes the root of a mount namespace. Some tests mount
# small volumes in namespaces of their own, and the kernel gives none to a process in a mere chroot.
as_root_directory() {
  # shellcheck disable=SC2016 # it is the inner shell that expands
  PATH=$path unshare --mount --propagation private sh -ec '
    mount --rbind "$0" "$0"
    cd "$0"
    pivot_root . .
    umount --lazy .
    cd /
    exec "$@"' "$root" /usr/bin/env -i PATH="$path" HOME=/root LANG=C.UTF-8 "$@"
}

# ---- Packages --------------------------------------------------------------------------------------------

apt() { in_chroot apt-get --yes --quiet=2 -o Dpkg::Use-Pty=0 "$@"; }
install() { apt install --no-install-recommends "$@"; }

# Debian's main archive alone: the updates in between are at times not complete on a mirror, least of all
# those of an old release.
configure_apt() { # configure_apt SUITE MIRROR
  echo "deb $2 $1 main" >"$root/etc/apt/sources.list"
  {
    # A mirror's copy of unstable may be older than its Release file promises.
    [[ $1 != sid ]] || echo 'Acquire::Check-Valid-Until "false";'
    [[ -z ${http_proxy:-} ]] || echo "Acquire::http::Proxy \"$http_proxy\";"
    echo 'Acquire::Languages "none";'
    echo 'Acquire::Retries "3";'
  } >"$root/etc/apt/apt.conf.d/90walsizer"
}

# ---- A chroot appears under its name, or replaces an older one, only when it is complete --------------------------------------------

begin_build() {
  complete=$root root=$root.partial incomplete=$root.partial
  rm -rf --one-file-system "$root"
}

finish_build() {
  unmount_all
  rm -rf --one-file-system "$complete"
  mv "$root" "$complete"
  root=$complete incomplete=
}

# debian SUITE MIRROR: a Debian with nothing in it but apt, and mounted
debian() {
  debootstrap --variant=minbase --include=ca-certificates "$1" "$root" "$2"
  # No service of it may ever start.
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  # After a power cut it is made anew, so dpkg need not wait for the disk.
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/walsizer"
  [[ -s $root/etc/hosts ]] || printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
  configure_apt "$@"
  mount_all
  apt update
  apt dist-upgrade
}
