// walsizer.advice(): findings about the neighbours of max_wal_size.
#include "advice_facts.hpp"
#include "module.hpp"
#include "rows.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(walsizer_advice);
}

Datum walsizer_advice(PG_FUNCTION_ARGS) {
    walsizer_require_active();
    WalsizerRowSet set = walsizer_begin_rows(fcinfo);
    WalsizerJournalCopy* copy = walsizer_copy_journal();
    const walsizer::Journal journal = walsizer_view(copy);
    walsizer::AdviceFacts facts;
    walsizer_gather_facts(*copy, journal, &facts);
    auto* findings = (walsizer::Findings*)palloc0(sizeof(walsizer::Findings));
    walsizer::Advise(facts, *findings);
    for (unsigned i = 0; i < findings->count; i++) {
        const walsizer::Finding& finding = findings->rows[i];
        WalsizerRow row;
        row.used = 0;
        walsizer_add_text(&row, walsizer::Name(finding.severity));
        walsizer_add_text(&row, finding.topic);
        walsizer_add_text(&row, finding.finding.c_str());
        walsizer_add_text(&row, finding.evidence.c_str());
        walsizer_add_text(&row, finding.statement.c_str());
        walsizer_put_row(&set, &row);
    }
    return (Datum)0;
}
