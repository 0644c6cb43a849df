#!/bin/bash
# Shows what walsizer does: the same pgbench load twice on a throwaway server, without walsizer and with it.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" || exit

readonly start_size=128MB checkpoint_timeout=30 scale=20 clients=8
seconds=45

usage() {
	cat <<END
Usage: scripts/demo.sh [--seconds N] [--keep]

Installs what is missing (apt), builds walsizer, installs it into a temporary copy of the PostgreSQL server, and runs
pgbench twice on a throwaway cluster that starts at max_wal_size = $start_size: without walsizer, then with it. Needs
about 3 minutes, 4 GB of disk, and root, or a user with sudo if something must be installed. It touches no PostgreSQL
cluster and no PostgreSQL file of this machine.

  --seconds N  how long each of the two runs takes (default $seconds)
  --keep       leave the second cluster running to look around in it; says how to stop it

Environment: PG_CONFIG=/path/to/pg_config or PGVERSION=16 (default: the newest PostgreSQL installed, or else the
newest one apt offers), WALSIZER_TMPDIR (where to work; default /var/tmp).
END
}

arguments=("$@")
while (($#)); do
	case $1 in
	--seconds) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] && seconds=$2 && shift || die "--seconds wants a number" ;;
	--keep) keep=1 ;;
	-h | --help) usage && exit ;;
	*) usage >&2 && die "what is $1?" ;;
	esac
	shift
done

# ---- Outer run: install, then continue in a copy, as an ordinary user -----------------------------------------------

if ! is_inner; then
	clean_up_at_exit
	prepare
	make_workdir 4000
	hand_over ${arguments[@]+"${arguments[@]}"}
	exit
fi

# ---- Inner run ------------------------------------------------------------------------------------------------------

cluster=
declare -A tps forced wal_per_xact final_size

query() { psql -XqAt -v ON_ERROR_STOP=1 "$@"; }

# PostgreSQL's own account, the same for both runs: what the log says started each checkpoint.
forced_so_far() { grep -c 'checkpoint starting:.* wal' "$cluster.log"; }
