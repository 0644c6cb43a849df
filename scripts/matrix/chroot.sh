#!/bin/bash
# chroot.sh build VERSION DIRECTORY SUITE MIRROR "PACKAGE..."
# chroot.sh run VERSION DIRECTORY TREE.tar [ARGUMENT OF test.sh...]
#
# The part of matrix.sh that works inside one Debian chroot, in namespaces of its own.
#
#   build  make the chroot with the server and the test tools, as scripts/test.sh --packages names them: "-N-"
#          stands for the version, "?" marks those that are wanted where Debian has all of them;
#          older:SUITE:VERSION is one more server, for pg_upgrade
#   run    unpack the tree and run its scripts/test.sh, as an ordinary user without a way to become root
set -euo pipefail

action=$1 version=$2 root=$3
shift 3
# shellcheck source-path=SCRIPTDIR source=../chroots/guest.sh
. "${BASH_SOURCE[0]%/*}/../chroots/guest.sh"

readonly user=tester

# ---- build -----------------------------------------------------------------------------------------------

build() { # build SUITE MIRROR PACKAGES
  local release=() package tools=() optional=() older='' stamp=/etc/walsizer-packages
  [[ $(cat "$root$stamp" 2>/dev/null) != "$3" ]] || return 0 # another run has built it
  begin_build
  debian "$1" "$2"
  if ((version >= 19)); then # what is not released yet is packaged there, on top of unstable
    echo "deb $2 experimental main" >>"$root/etc/apt/sources.list"
    apt update
    release=(--target-release experimental)
  fi
  # First alone, so that the server's package finds the creation of a cluster switched off.
  install postgresql-common
  sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' \
    "$root/etc/postgresql-common/createcluster.conf"
  install "${release[@]}" "postgresql-$version" "postgresql-server-dev-$version"
  for package in $3; do
    case $package in
    *-N-*) ;;
    older:*) older=${package#older:} ;;
    \?*) optional+=("${package#?}") ;;
    *) tools+=("$package") ;;
    esac
  done
  install "${tools[@]}"
  if is_offered "${optional[@]}"; then install "${optional[@]}"; fi
  install_pgtap
  [[ -z $older ]] || install_older "$2" "${older%:*}" "${older#*:}"
  apt clean
  echo "$3" >"$root$stamp"
  in_chroot useradd --create-home --shell /bin/bash "$user"
  finish_build
}

# install_older MIRROR SUITE VERSION: the server of an older Debian, for pg_upgrade. Its headers alone: with them
# comes a whole compiler of that Debian.
install_older() {
  local package=postgresql-server-dev-$3
  echo "deb $1 $2 main" >"$root/etc/apt/sources.list.d/older.list"
  apt update
  install "postgresql-$3"
  in_chroot sh -c "cd /tmp && apt-get -o APT::Sandbox::User=root download $package &&
    dpkg-deb --extract ./${package}_*.deb / && rm ./${package}_*.deb"
}

is_offered() { # is_offered PACKAGE...: all of them
  local package
  for package; do [[ $(in_chroot apt-cache policy "$package") == *"Candidate: "[0-9]* ]] || return 1; done
}

# pgTAP for a server is SQL alone. Where Debian has no package for this version yet, one is made from that
# of the newest version which has it.
install_pgtap() {
  local package=postgresql-$version-pgtap newest directory=$root/tmp/pgtap
  if is_offered "$package"; then
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
  as_root_directory setpriv --reuid="$user" --regid="$user" --init-groups --no-new-privs \
    /usr/bin/env HOME="$home" USER="$user" \
    PG_CONFIG="/usr/lib/postgresql/$version/bin/pg_config" \
    bash "$home/walsizer/scripts/test.sh" "$@" </dev/null
}

"$action" "$@"
