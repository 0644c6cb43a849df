#!/bin/bash
# Who publishes the packages: prints it, or writes it to every place that names a maintainer.
set -euo pipefail

usage() {
  cat <<'END_OF_USAGE'
Usage: scripts/maintainer.sh ['NAME <ADDRESS>']

Prints the maintainer that the packages name. With NAME <ADDRESS>: writes that to debian/control.in, debian/control,
META.json, and the newest entry of debian/changelog and of packaging/walsizer.spec's changelog.
END_OF_USAGE
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
-h | --help) usage && exit ;;
-*) usage >&2 && exit 2 ;;
'') sed -n 's/^Maintainer: //p' debian/control.in && exit ;;
esac

# Nothing that JSON, a mail header, an RPM macro or sed would take for its own.
readonly form='^[^]["\\<>@,;:%&|]+ <[^]["\\<>@,;:%&|[:space:]]+@[^]["\\<>@,;:%&|[:space:]]+>$'
[[ $# == 1 && $1 =~ $form ]] || {
  echo "scripts/maintainer.sh: not of the form NAME <ADDRESS>: $*" >&2
  exit 2
}

sed -i "s|^Maintainer: .*|Maintainer: $1|" debian/control.in debian/control
sed -i "s|^\(  \"maintainer\": \"\).*\",\$|\1$1\",|" META.json
sed -i "0,/^ -- .*>  /s|^ -- .*>  | -- $1  |" debian/changelog
sed -i "/^%changelog/ {n; s|^\(\* [A-Z][a-z]* [A-Z][a-z]* [0-9]* [0-9]*\) .*> - |\1 $1 - |}" packaging/walsizer.spec
