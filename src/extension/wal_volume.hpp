// Reads the facts of walsizer/volume.hpp from the running server.
#pragma once

#include "walsizer/volume.hpp"

// The file system that pg_wal lies on, through the symlink if it is one, and who keeps old WAL there. Looks
// at the file system and at shared memory only: no SQL, no database. Never raises an ERROR: what cannot be
// read leaves `known` false and is logged, at most once an hour. Cheap enough for a call a second, whatever
// pg_wal has grown to: an unchanged directory is not read again, and reading takes at most a thousandth of
// the time.
walsizer::VolumeFacts walsizer_read_volume();
