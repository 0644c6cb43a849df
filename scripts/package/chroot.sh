#!/bin/bash
# chroot.sh DIRECTORY ACTION [ARGUMENT...]
#
# The part of package.sh that works inside one Debian chroot, in namespaces of its own.
#
#   tools BASE         make the chroot DIRECTORY: a copy of BASE with the build tools
#   deb TREE.tar       build the Debian packages, twice
#   lint               lintian on what deb built
#   autopkgtest BASE   debian/tests in a fresh copy of BASE, with the packages that deb built
#   pgxn               the archive for PGXN, and its META.json
#   rpm                the RPM packages, from PGXN's archive
#
# What is built lies in DIRECTORY/srv/out. Lines that begin with "## " are for the reader of package.sh.
set -euo pipefail

root=$1 action=$2
shift 2
# shellcheck source-path=SCRIPTDIR source=../chroots/guest.sh
. "${BASH_SOURCE[0]%/*}/../chroots/guest.sh"

readonly user=builder out=/srv/out

as_builder() { in_chroot setpriv --reuid="$user" --regid="$user" --init-groups /usr/bin/env HOME="/home/$user" "$@"; }

copy_of() { # copy_of BASE: into $root
  [[ -d $1 ]]
  cp -a --reflink=auto "$1" "$root"
}

tools() { # tools BASE
  [[ ! -d $root ]] || return 0 # another run has built it
  begin_build
  copy_of "$1"
  mount_all
  apt update
  # As in matrix/chroot.sh: no cluster is wanted.
  install postgresql-common
  sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' \
    "$root/etc/postgresql-common/createcluster.conf"
  install build-essential fakeroot lintian autopkgtest rpm rpmlint python3-jsonschema zip unzip diffoscope-minimal
  apt clean
  in_chroot useradd --create-home --shell /bin/bash "$user"
  finish_build
}

# documented N: the N-th block of the page that package.sh is said to run there
documented() {
  local tree=$root/srv/one/walsizer
  "$tree/scripts/page_block" "$tree/docs/install.md" '<!-- run by: scripts/package.sh -->' "$1" | sed 's/ *#.*//'
}

# The server versions of this suite decide which packages there are.
build_at() { # build_at DIRECTORY
  mkdir -p "$root$1/walsizer"
  tar -C "$root$1/walsizer" --no-same-owner -xf "$root/srv/tree.tar"
  in_chroot chown -R "$user:" "$1"
  in_chroot bash -ec "cd '$1/walsizer' && $(documented 1)"
  as_builder bash -ec "cd '$1/walsizer' && $(documented 2)" | tee "$root/srv/build.log"
  # Without a server the build would leave its tests out, and say nothing.
  grep -q 'All [0-9]* tests passed' "$root/srv/build.log"
}

deb() { # deb TREE.tar
  local file other
  mount_all
  apt update # the clean chroot gets today's packages too
  apt dist-upgrade
  cp "$1" "$root/srv/tree.tar"
  rm -rf "$root$out" "$root/srv/one" "$root/srv/other"
  mkdir "$root$out"
  build_at /srv/one
  build_at /srv/other/place # another path and another time
  for file in "$root"/srv/one/*.{deb,dsc,tar.*}; do
    other=$root/srv/other/place/${file##*/}
    cmp "$file" "$other" || {
      in_chroot diffoscope "${file#"$root"}" "${other#"$root"}" || true
      return 1
    }
    [[ $file == *-dbgsym_* ]] || echo "## ${file##*/}"
  done
  holds 'walsizer_*' ./usr/bin/walsizer ./usr/share/man/man1/walsizer.1.gz \
    ./usr/share/bash-completion/completions/walsizer
  holds 'postgresql-*-walsizer_*' ./usr/lib/postgresql/PGVERSION/lib/walsizer.so \
    ./usr/share/postgresql/PGVERSION/extension/walsizer.control
  find "$root/srv/one" -maxdepth 1 -type f -exec cp {} "$root$out/" ';'
}

# holds PATTERN FILE...: every binary package of that name has these files
holds() {
  local pattern=$1 package version file files
  shift
  for package in "$root"/srv/one/$pattern.deb; do
    version=${package##*/postgresql-}
    files=$(dpkg-deb --fsys-tarfile "$package" | tar -t)
    for file in "${@//PGVERSION/"${version%%-*}"}"; do
      grep -qxF "$file" <<<"$files" || {
        echo "${package##*/} has no $file"
        return 1
      }
    done
  done
}

lint() { # nothing that lintian calls an error or a warning, and all hardening, of which it only informs
  mount_all
  as_builder bash -c "cd $out && lintian --display-info --info --show-overrides *.changes" |
    tee "$root/srv/lintian.log"
  ! grep -E '^(E:|W:|I: .* hardening-)' "$root/srv/lintian.log"
}

autopkgtest() { # autopkgtest BASE
  local clean=$root tools=$root
  root=$(mktemp -d "${tools%/*}/clean.XXXXXX")
  incomplete=$root # removed at the end, whatever happens
  rmdir "$root"
  copy_of "$1"
  mount_all
  apt update
  mkdir -p "$tools/srv/clean"
  mount --rbind "$root" "$tools/srv/clean"
  mounted=("$tools/srv/clean" "${mounted[@]}")
  clean=$root root=$tools
  mount_all
  rm -rf "$tools/srv/autopkgtest"
  in_chroot bash -c "autopkgtest --ignore-restrictions=isolation-container --output-dir=/srv/autopkgtest $out/*.changes -- chroot /srv/clean"
  sed 's/^/## /' "$tools/srv/autopkgtest/summary"
  root=$clean
}

pgxn() {
  mount_all
  as_builder bash -c "cd /srv/one/walsizer && scripts/dist.sh zip /srv/one && cp /srv/one/*.zip /tmp/ &&
    scripts/dist.sh zip /srv/one && cmp /srv/one/*.zip /tmp/walsizer-*.zip && rm /tmp/walsizer-*.zip &&
    python3 test/packaging/pgxn.py /srv/one/*.zip"
  # The tree that was packed, all of it, and nothing that the builds before left there
  diff <(tar -tf "$root/srv/tree.tar" | LC_ALL=C sort) \
    <(in_chroot bash -c 'unzip -Z1 /srv/one/*.zip' | sed 's,^[^/]*/,,' | LC_ALL=C sort)
  cp "$root"/srv/one/*.zip "$root$out/"
}

rpm() { # this also proves that the archive builds with nothing but what is in it
  local version rpmbuild
  mount_all
  version=$(in_chroot /usr/share/postgresql-common/supported-versions | tail -n 1)
  # Debian's server, and no names of a Red Hat system's packages
  rpmbuild=$(documented 3 | sed "s/pgmajor 17/pgmajor $version/")
  rpmbuild+=" --nodeps --define '_topdir /srv/one/rpm' --define 'dist %{nil}'"
  rpmbuild+=" --define 'pgbindir /usr/lib/postgresql/$version/bin'"
  rpmbuild+=" --define 'pglibdir /usr/lib/postgresql/$version/lib'"
  rpmbuild+=" --define 'pgsharedir /usr/share/postgresql/$version'"
  as_builder bash -ec "rm -rf /srv/one/rpm
    cd /srv/one/walsizer
    ${rpmbuild/-ba/-bs}
    $rpmbuild"
  find "$root/srv/one/rpm" -name '*.rpm' -printf '## %f\n' -exec cp {} "$root$out/" ';'
  as_builder bash -c "cd /srv/one/walsizer && rpmlint --strict --config packaging/rpmlint.toml packaging/walsizer.spec $out/*.rpm"
}

"$action" "$@"
