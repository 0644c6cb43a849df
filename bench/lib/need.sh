# shellcheck shell=bash
# Sourced by bench/common.sh: finds the right fixed max_wal_size by measurement.
# shellcheck disable=SC2154,SC2034 # common.sh has the variables

# Writes down every half second how far WAL has come, as long as the server lives.
watch_lsn() {
  printf '%s\n' "SELECT extract(epoch FROM clock_timestamp()), pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')" \
    '\watch 0.5' | psql -XqAt -F ' ' >"$work/lsn" 2>/dev/null &
}

# Bytes: the most that fell into any stretch of checkpoint_timeout.
most_wal_in_a_timeout() {
  awk -v timeout="${p[timeout]}" '
    NF == 2 {
      t[++n] = $1; lsn[n] = $2
      if (!first) first = 1
      while (t[n] - t[first] > timeout) first++
      if (lsn[n] - lsn[first] > most) most = lsn[n] - lsn[first]
    }
    END {printf "%.0f\n", most}' "$work/lsn"
}

# right_size_for BYTES: MB. One segment more, as a checkpoint may come one segment early, times (1 + the completion
# target of 0.9), and a quarter more because rates differ between runs; whole segments of 16 MB.
right_size_for() { awk -v bytes="$1" 'BEGIN {printf "%d\n", 16 * int((bytes / 1048576 + 16) * 1.9 * 1.25 / 16 + 1)}'; }

# find_right_size COMMAND...: the command runs the load on the contender "measuring". Sets right_size, MB.
find_right_size() {
  local most
  right_size=${p[fixed]}
  ((right_size)) && return
  say "Measuring how much WAL falls into one checkpoint_timeout when nothing forces a checkpoint"
  settings[measuring]="max_wal_size = 64GB"
  "$@"
  most=$(most_wal_in_a_timeout)
  right_size=$(right_size_for "$most")
  say "It was $((most >> 20)) MB: the right fixed max_wal_size is $right_size MB"
}
