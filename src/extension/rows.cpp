#include "rows.hpp"

static void walsizer_add(WalsizerRow* row, Datum value, bool null) {
    if (row->used >= WalsizerRow::kMost)
        elog(ERROR, "walsizer: a row has more than %d columns", WalsizerRow::kMost);
    row->values[row->used] = value;
    row->nulls[row->used++] = null;
}

void walsizer_add_null(WalsizerRow* row) {
    walsizer_add(row, (Datum)0, true);
}

void walsizer_add_text(WalsizerRow* row, const char* value) {
    if (value == NULL || value[0] == '\0')
        walsizer_add_null(row);
    else
        walsizer_add(row, CStringGetTextDatum(value), false);
}

void walsizer_add_int32(WalsizerRow* row, int32 value) {
    walsizer_add(row, Int32GetDatum(value), false);
}

void walsizer_add_int64(WalsizerRow* row, int64 value) {
    walsizer_add(row, Int64GetDatum(value), false);
}

void walsizer_add_bytes(WalsizerRow* row, walsizer::Bytes value) {
    walsizer_add(row, Int64GetDatum(value), value < 0);
}

void walsizer_add_float(WalsizerRow* row, double value) {
    walsizer_add(row, Float8GetDatum(value), false);
}

void walsizer_add_ratio(WalsizerRow* row, int64 part, int64 whole) {
    walsizer_add(row, Float8GetDatum(whole > 0 ? (double)part / (double)whole : 0), whole <= 0);
}

void walsizer_add_bool(WalsizerRow* row, bool value) {
    walsizer_add(row, BoolGetDatum(value), false);
}

void walsizer_add_time(WalsizerRow* row, TimestampTz value) {
    walsizer_add(row, TimestampTzGetDatum(value), value == 0);
}

void walsizer_add_interval(WalsizerRow* row, walsizer::Micros value) {
    Interval* interval = (Interval*)palloc0(sizeof(Interval));
    interval->time = value;
    walsizer_add(row, PointerGetDatum(interval), value < 0);
}

void walsizer_add_lsn(WalsizerRow* row, XLogRecPtr value) {
    walsizer_add(row, LSNGetDatum(value), false);
}

WalsizerRowSet walsizer_begin_rows(FunctionCallInfo fcinfo) {
    ReturnSetInfo* info = (ReturnSetInfo*)fcinfo->resultinfo;
    if (info == NULL || !IsA(info, ReturnSetInfo) || (info->allowedModes & SFRM_Materialize) == 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("set-valued function called in context that cannot accept a set")));
    WalsizerRowSet set;
    MemoryContext before = MemoryContextSwitchTo(info->econtext->ecxt_per_query_memory);
    if (get_call_result_type(fcinfo, NULL, &set.descriptor) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "walsizer: return type must be a row type");
    set.descriptor = BlessTupleDesc(set.descriptor);
    set.store = tuplestore_begin_heap((info->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
    MemoryContextSwitchTo(before);
    info->returnMode = SFRM_Materialize;
    info->setResult = set.store;
    info->setDesc = set.descriptor;
    return set;
}

// A library newer than the installed SQL definition may know more columns than it asks for: the first ones
// agree.
static void walsizer_check_width(TupleDesc descriptor, const WalsizerRow* row) {
    if (descriptor->natts > row->used)
        elog(ERROR,
             "walsizer: the SQL definition wants %d columns, the library has %d; run ALTER EXTENSION "
             "walsizer UPDATE",
             descriptor->natts, row->used);
}

void walsizer_put_row(WalsizerRowSet* set, WalsizerRow* row) {
    walsizer_check_width(set->descriptor, row);
    tuplestore_putvalues(set->store, set->descriptor, row->values, row->nulls);
}

Datum walsizer_one_row(FunctionCallInfo fcinfo, WalsizerRow* row) {
    TupleDesc descriptor;
    if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "walsizer: return type must be a row type");
    descriptor = BlessTupleDesc(descriptor);
    walsizer_check_width(descriptor, row);
    return HeapTupleGetDatum(heap_form_tuple(descriptor, row->values, row->nulls));
}
