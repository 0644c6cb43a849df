#!/bin/bash
# chroot.sh build|run VERSION DIRECTORY [ARGUMENT...]
#
# The part of matrix.sh that works inside one Debian chroot. matrix.sh starts it as
# the first process of its own mount, PID and IPC namespaces, so whatever ends it,
# kill -9 included, the kernel takes the mounts and every server with it. The
# explicit clean-up below is for the ordinary ways out.
#
#   build VERSION DIRECTORY SUITE MIRROR SECURITY_MIRROR
#       make the chroot with the server and the test tools (SECURITY_MIRROR may be empty)
#   run VERSION DIRECTORY TREE.tar [ARGUMENT OF test.sh...]
#       unpack the tree and run its scripts/test.sh as an ordinary user
set -euo pipefail

action=$1 version=$2 root=$3
shift 3

# Who runs the tests inside: initdb refuses root, and a developer is no root either.
user=tester
home=/home/$user

mounted=()

mount_in() { # mount_in TYPE OPTIONS DIRECTORY
  mkdir -p "$root$3"
  mount -t "$1" -o "$2" "$1" "$root$3"
  mounted=("$root$3" "${mounted[@]}")
}

unmount_all() {
  local point
  for point in "${mounted[@]}"; do
    umount "$point" 2>/dev/null || umount --lazy "$point" || true
  done
  mounted=()
}
trap unmount_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

in_chroot() {
  chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive "$@"
}

mount_all() {
  mount_in proc nosuid,nodev,noexec /proc
  mount_in devpts newinstance,ptmxmode=0666,mode=0620,gid=5,nosuid,noexec /dev/pts
  # PostgreSQL keeps dynamic shared memory here.
  mount_in tmpfs mode=1777,nosuid,nodev /dev/shm
}

install() {
  in_chroot apt-get install --yes --quiet=2 --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
}

write_sources() { # write_sources SUITE MIRROR SECURITY_MIRROR
  local suite=$1 mirror=$2 security=$3
  {
    echo "deb $mirror $suite main"
    [ -z "$security" ] || echo "deb $security $suite-security main"
    # A release candidate is packaged in experimental, on top of unstable.
    [ "$version" != 19 ] || echo "deb $mirror experimental main"
  } >"$root/etc/apt/sources.list"
  {
    # A mirror's copy of unstable may be older than its Release file promises.
    [ "$suite" != sid ] || echo 'Acquire::Check-Valid-Until "false";'
    echo 'Acquire::Languages "none";'
    echo 'APT::Install-Suggests "false";'
    [ -z "${http_proxy:-}" ] || echo "Acquire::http::Proxy \"$http_proxy\";"
  } >"$root/etc/apt/apt.conf.d/90matrix"
}

build() {
  local suite=$1 mirror=$2 security=$3
  local major=postgresql-$version from=()

  debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror"
  rm -f "$root/debootstrap/debootstrap.log"

  # The chroot is for tests: no service of it may ever start, and after a power cut
  # it is made anew, so dpkg need not wait for the disk.
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/matrix"
  write_sources "$suite" "$mirror" "$security"
  mount_all

  in_chroot apt-get update --quiet=2
  in_chroot apt-get dist-upgrade --yes --quiet=2 -o Dpkg::Use-Pty=0
  # First alone, so that the server's package finds cluster creation switched off.
  install postgresql-common
  sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' \
    "$root/etc/postgresql-common/createcluster.conf"
  [ "$version" != 19 ] || from=(--target-release experimental)
  install "${from[@]}" "$major" "postgresql-server-dev-$version"
  install g++ clang make git perl procps libgtest-dev libipc-run-perl \
    libtap-parser-sourcehandler-pgtap-perl
  install_pgtap
  in_chroot apt-get clean
  make_user
  unmount_all
}

# pgTAP's files for a server are SQL only. Where Debian has no package for the
# version yet, take those of the newest version that has one.
install_pgtap() {
  local package extension
  if install "postgresql-$version-pgtap" 2>/dev/null; then
    return
  fi
  package=$(in_chroot apt-cache search --names-only '^postgresql-[0-9]+-pgtap$' |
    cut -d' ' -f1 | sort -V | tail -n 1)
  if [ -z "$package" ]; then
    echo "no pgTAP package for PostgreSQL $version" >&2
    return
  fi
  extension=/usr/share/postgresql/${package//[!0-9]/}/extension
  mkdir -p "$root/tmp/pgtap"
  in_chroot sh -c "cd /tmp/pgtap && apt-get download --quiet=2 $package && dpkg-deb -x ./*.deb ."
  cp "$root/tmp/pgtap$extension"/pgtap* "$root/usr/share/postgresql/$version/extension/"
  rm -r "$root/tmp/pgtap"
}

# The user owns the directories that "make install" writes to, so that a run needs
# no root; the chroot has no other use.
make_user() {
  local config=/usr/lib/postgresql/$version/bin/pg_config
  in_chroot useradd --create-home --home-dir "$home" --shell /bin/bash "$user"
  in_chroot sh -ec "
    library=\$($config --pkglibdir)
    share=\$($config --sharedir)
    mkdir -p \$library/bitcode \$share/extension \$($config --docdir)
    chown -R $user: \$library \$share \$($config --docdir) \$($config --bindir)"
}

"$action" "$@"
