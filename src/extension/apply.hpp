// Changing max_wal_size: ALTER SYSTEM through the server's own function, then a reload.
#pragma once

#include "compat.hpp"
#include "walsizer/tuner.hpp"

// What postgresql.auto.conf says of max_wal_size now. An unreadable file leaves `known` false.
walsizer::Original walsizer_read_original(walsizer::Bytes size);

// Carries out `orders.change`. Never ereports ERROR; on failure false, with the server's words in `error`.
bool walsizer_apply(const walsizer::Orders& orders, const walsizer::Original& original,
                    walsizer::Text<256>* error, walsizer::Text<256>* hint);

// What would make a change fail or have no effect, as far as it can be known beforehand.
walsizer::Obstacle walsizer_find_obstacle();

// "file:line", "command line", "default": where max_wal_size comes from in this process.
void walsizer_describe_source(char* buffer, size_t size);
