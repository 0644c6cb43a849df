#!/bin/bash
# Makes the archive of a release: the same tree gives the same bytes.
set -euo pipefail

usage() {
  cat <<'END_OF_USAGE'
Usage: scripts/dist.sh [zip|orig] [DIRECTORY]

  zip    walsizer-VERSION.zip, what PGXN takes (the default; `make dist`)
  orig   walsizer_VERSION.orig.tar.gz, the upstream half of the Debian source package: without debian/

Without git the files are those of the tree, less what a build leaves there.
END_OF_USAGE
}

kind=${1:-zip}
[[ $kind == zip || $kind == orig ]] || { usage >&2 && exit 2; }
target=$(realpath "${2:-.}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

release=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' META.json)     # PGXN wants three numbers
upstream=$(sed -n "s/^default_version = '\(.*\)'/\1/p" walsizer.control)
changed=$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1) # the time that every file in it gets
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

files() {
  if [[ -e .git ]]; then
    git -c safe.directory="$PWD" ls-files -z
  else
    find . -type f ! -path './build/*' ! -path './debian/*/*' ! -path './results/*' ! -path '*/tmp_check/*' \
      ! -path './.deps/*' ! -path './debian/debhelper-build-stamp' ! -path './debian/files' \
      ! -name '*.debhelper.log' ! -name '*.substvars' \
      ! -name '*.o' ! -name '*.so' ! -name '*.a' ! -name '*.bc' ! -name '*.zip' -printf '%P\0'
    find debian/source debian/tests -type f -print0 2>/dev/null || true
  fi | sort -zu
}

tree=$scratch/walsizer-$release
mkdir "$tree"
files | tar --null --verbatim-files-from --files-from=- -cf - | tar -C "$tree" -xf -
[[ $kind == zip ]] || rm -rf "$tree/debian"
find "$tree" -exec touch --no-dereference --date "$changed" {} +
if [[ $kind == zip ]]; then
  rm -f "$target/walsizer-$release.zip"
  # -X: no owners, no times of access
  (cd "$scratch" && find "walsizer-$release" -type f | LC_ALL=C sort | TZ=UTC zip -q -X -@ "$target/walsizer-$release.zip")
  echo "$target/walsizer-$release.zip"
else
  tar -C "$scratch" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw -cf - "walsizer-$release" |
    gzip -9n >"$target/walsizer_$upstream.orig.tar.gz"
  echo "$target/walsizer_$upstream.orig.tar.gz"
fi
