// The configuration files as text. walsizer's reload makes everything in them effective, so before it
// walsizer looks for edits that somebody has not loaded yet, and after every reload for edits of max_wal_size
// that walsizer's own line in postgresql.auto.conf would hide.
//
// Text is compared with the text at the last reload, never with live values: those differ in spelling
// everywhere.
#pragma once

#include "compat.hpp"
#include "walsizer/tuner.hpp"

// At the worker's start and after each reload: this text is what the server runs with, unless it has an
// error, so that the reload applied nothing. `just_loaded` is false at the start, when files may be newer
// than what the postmaster read.
void walsizer_remember_files(bool just_loaded);

// What a reload would bring along, or what would make it apply nothing. Empty: nothing.
walsizer::Obstacle walsizer_find_pending_edit();

// max_wal_size in postgresql.conf and its includes, as remembered; the server's default when they say
// nothing. `where` becomes file:line. 0: the files could not be read.
walsizer::Bytes walsizer_file_max_wal_size(walsizer::Text<200>* where);
