// Small helpers to hand records and sets to SQL.
#pragma once

#include "compat.hpp"
#include "walsizer/units.hpp"

// Values of one row, filled from left to right in the order of the SQL definition.
struct WalsizerRow {
    static constexpr int kMost = 40;

    Datum values[kMost];
    bool nulls[kMost];
    int used;
};

void walsizer_add_null(WalsizerRow* row);
void walsizer_add_text(WalsizerRow* row, const char* value);  // NULL or "" becomes NULL
void walsizer_add_int32(WalsizerRow* row, int32 value);
void walsizer_add_int64(WalsizerRow* row, int64 value);
void walsizer_add_bytes(WalsizerRow* row, walsizer::Bytes value);  // negative becomes NULL
void walsizer_add_float(WalsizerRow* row, double value);
void walsizer_add_ratio(WalsizerRow* row, int64 part, int64 whole);  // NULL when whole is 0
void walsizer_add_bool(WalsizerRow* row, bool value);
void walsizer_add_time(WalsizerRow* row, TimestampTz value);           // 0 becomes NULL
void walsizer_add_interval(WalsizerRow* row, walsizer::Micros value);  // negative becomes NULL
void walsizer_add_lsn(WalsizerRow* row, XLogRecPtr value);

// A set-returning function: begin, put each row, return (Datum)0.
struct WalsizerRowSet {
    Tuplestorestate* store;
    TupleDesc descriptor;
};
WalsizerRowSet walsizer_begin_rows(FunctionCallInfo fcinfo);
void walsizer_put_row(WalsizerRowSet* set, WalsizerRow* row);

// A function that returns one composite value.
Datum walsizer_one_row(FunctionCallInfo fcinfo, WalsizerRow* row);
