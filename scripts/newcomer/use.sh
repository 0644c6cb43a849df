#!/bin/bash
# use.sh: inside the newcomer's chroot, in the tree's directory, as root. What README.md ("Use it") and docs/install.md
# ("From source") show, as it stands there: make, install, preload, restart, look.
set -euo pipefail

mark='<!-- run by: scripts/newcomer.sh -->'
source=$(scripts/page_block docs/install.md "$mark")
[[ $source == "$(scripts/page_block README.md "$mark")" ]] || {
  echo "README.md and docs/install.md differ in how walsizer is made"
  exit 1
}
bash -ec "${source//sudo /}" # root in a clean Debian has no sudo

version=$(pg_config --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
[[ -d /etc/postgresql/$version/main ]] || pg_createcluster "$version" main
scripts/page_block README.md '## Use it' 1 ini >>"/etc/postgresql/$version/main/postgresql.conf"
pg_ctlcluster "$version" main restart
trap 'pg_ctlcluster "$version" main stop' EXIT
# From a directory that postgres may read
query() {
  (cd / && setpriv --reuid=postgres --regid=postgres --init-groups \
    psql --cluster "$version/main" -X -v ON_ERROR_STOP=1 "$@")
}
scripts/page_block README.md '## Use it' 1 sql | query -f -
for try in $(seq 100); do
  [[ $(query -At -c 'SELECT state FROM walsizer.status') != tuning ]] || { echo "state: tuning" && exit; }
  ((try < 100)) || { query -x -c 'SELECT * FROM walsizer.status' && exit 1; }
  sleep 0.2
done
