# shellcheck shell=bash
# Sourced by bench/common.sh: storage that takes no more than so many writes per second, as a cloud volume does.
# shellcheck disable=SC2154,SC2034 # common.sh has the variables

# The whole disk that holds $1, as MAJOR:MINOR. Empty when it is no block device (tmpfs, overlay).
disk_of() {
  local device
  device=$(stat -c %d -- "$1")
  device=$((device >> 8 & 0xfff)):$(((device & 0xff) | (device >> 12 & 0xfff00)))
  [[ -e /sys/dev/block/$device ]] || return
  if [[ -e /sys/dev/block/$device/partition ]]; then cat "/sys/dev/block/$device/../dev"; else say "$device"; fi
}

# limit_writes IOPS: from here on the inner run, and nobody else, gets that many writes per second from its disk. The
# kernel counts flushes, too. Says in $work/storage what came of it.
limit_writes() {
  local disk group controller escapes='' root=${CGROUP_ROOT:-/sys/fs/cgroup} added=()
  disk=$(disk_of "$work")
  group=walsizer_bench.$$
  if [[ -z $disk ]]; then
    say "not limited: ${work%/*} is on no disk of its own" >"$work/storage"
  elif [[ -d $root/blkio ]]; then
    # This older kind knows not whose pages the kernel writes back by itself.
    escapes=", except what the kernel writes back by itself"
    limit_by "$root/blkio/$group" blkio.throttle.write_iops_device "$disk $1"
  elif grep -qw io "$root/cgroup.controllers" 2>/dev/null; then
    # The kernel knows whose pages it writes back by itself where memory is accounted for, too.
    for controller in memory io; do
      grep -qw "$controller" "$root/cgroup.subtree_control" && continue
      say "+$controller" | as_root tee "$root/cgroup.subtree_control" >/dev/null 2>&1 || continue
      added+=("say -$controller | as_root tee '$root/cgroup.subtree_control' >/dev/null")
    done
    grep -qw memory "$root/cgroup.subtree_control" || escapes=", except what the kernel writes back by itself"
    limit_by "$root/$group" io.max "$disk wiops=$1"
    undo+=("${added[@]}")
  else
    say "not limited: this kernel offers no blkio or io controller at $root" >"$work/storage"
  fi
  if [[ -s $work/storage ]]; then
    warn "The storage is $(cat "$work/storage")"
  else
    say "limited to $1 writes per second by the kernel (control group)$escapes" >"$work/storage"
  fi
}

# limit_by GROUP FILE VALUE
limit_by() {
  if ! as_root mkdir "$1" 2>/dev/null || ! say "$3" | as_root tee "$1/$2" >/dev/null 2>&1; then
    as_root rmdir "$1" 2>/dev/null
    say "not limited: no permission to make the control group $1" >"$work/storage"
    return
  fi
  undo+=("remove_group '$1'")
  # shellcheck disable=SC2016 # the inner shell expands
  launcher=(as_root bash -c 'echo $$ >"$0" && exec "$@"' "$1/cgroup.procs")
  # With sudo, back to who started this; root's run becomes an ordinary user anyway.
  ((EUID == 0)) || launcher+=(setpriv "--reuid=$EUID" "--regid=$(id -g)" --init-groups)
}

# After an interrupt the last member may still be on its way out.
remove_group() {
  local try
  for try in {1..50}; do
    as_root rmdir "$1" 2>/dev/null && return
    sleep 0.1
  done
  warn "cannot remove the control group $1 (tried $try times)"
}

# Eight writers at once, 8 kB each, over and over the same place, as WAL is written.
writes_per_second() {
  local file writers=() began count=250
  for file in "$work"/t/probe.{1..8}; do dd if=/dev/zero of="$file" bs=8k count=$count conv=fsync 2>/dev/null; done
  began=$(now)
  for file in "$work"/t/probe.{1..8}; do
    dd if=/dev/zero of="$file" bs=8k count=$count oflag=dsync conv=notrunc 2>/dev/null &
    writers+=($!)
  done
  wait "${writers[@]}"
  calculate %.0f "8 * $count / ($(now) - $began)"
  rm -f "$work"/t/probe.*
}

tell_storage() {
  local limit="not limited: as it is" measured
  [[ -s $work/storage ]] && limit=$(cat "$work/storage")
  measured=$(writes_per_second)
  say "Storage $limit"
  say "measured: $measured synchronous writes of 8 kB per second by 8 writers"
  [[ $limit != limited* ]] || ((measured <= p[iops])) || say "THE LIMIT DOES NOT HOLD: this is not slow storage"
}

# Writes that the disk below $work has completed, from whomever; empty where there is no such disk.
disk_writes() {
  local disk
  disk=$(disk_of "$work")
  [[ -n $disk ]] && awk '{print $5}' "/sys/dev/block/$disk/stat"
}
