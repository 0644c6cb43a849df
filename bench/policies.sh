#!/usr/bin/env bash
# Compares policies for max_wal_size on the simulated server (docs/simulator.md), and times a fleet of them. No server
# runs, nothing outside build/ is written. Fails when walsizer breaks a promise on these traces.
#
#   bench/policies.sh [--csv FILE] [--servers N]
set -euo pipefail

csv='' servers=1000
usage() { sed -n '2,5s/^# \{0,1\}//p' "$0"; }
while [ $# -gt 0 ]; do
	case $1 in
		--csv)     csv=${2:?--csv needs a file};          shift 2 ;;
		--servers) servers=${2:?--servers needs a number}; shift 2 ;;
		-h | --help) usage; exit 0 ;;
		*) echo "policies.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
	esac
done

cd "$(dirname "$0")/.."
make -s build/simulate
# The commands as they stand on the page. Its second one is its first with a file.
while IFS= read -r command; do
	case $command in
		make\ *) [ -z "$csv" ] || continue ;;
		*--csv*) [ -n "$csv" ] || continue; command=${command/results.csv/$(printf %q "$csv")} ;;
	esac
	command=${command/--servers 1000/--servers $servers}
	echo "== $command"
	bash -ec "$command" </dev/null
done < <(scripts/page_block docs/simulator.md '<!-- run by: bench/policies.sh -->' | sed 's/ *#.*//')
