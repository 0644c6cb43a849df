// walsizer.effect(): what each applied decision brought.
#include "journal_copy.hpp"
#include "module.hpp"
#include "rows.hpp"
#include "walsizer/effect.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(walsizer_effect);
}

static void walsizer_add_known(WalsizerRow* row, double value) {
    if (value < 0)
        walsizer_add_null(row);
    else
        walsizer_add_float(row, value);
}

static void walsizer_add_per_checkpoint(WalsizerRow* row, double total,
                                        const walsizer::CheckpointCounts& checkpoints) {
    const int64 count = checkpoints.effective();
    walsizer_add_known(row, count > 0 && total >= 0 ? total / (double)count : -1);
}

static void walsizer_add_time_or_null(WalsizerRow* row, const walsizer::Measures& measures,
                                      TimestampTz time) {
    walsizer_add_time(row, measures.recorded() ? time : 0);
}

// Before and after stand side by side.
static void walsizer_add_measures(WalsizerRow* row, const walsizer::Measures& before,
                                  const walsizer::Measures& after) {
    const walsizer::Measures* const sides[] = {&before, &after};
    for (const walsizer::Measures* side : sides) {
        walsizer_add_time_or_null(row, *side, side->start);
        walsizer_add_time_or_null(row, *side, side->end);
    }
    for (const walsizer::Measures* side : sides)
        walsizer_add_bytes(row, side->recorded() ? side->checkpoints.wal_forced : -1);
    for (const walsizer::Measures* side : sides)
        walsizer_add_ratio(row, side->checkpoints.wal_forced, side->checkpoints.effective());
    for (const walsizer::Measures* side : sides) walsizer_add_interval(row, side->TimePerCheckpoint());
    for (const walsizer::Measures* side : sides)
        walsizer_add_known(row, side->recorded() ? side->WalRate() : -1);
    for (const walsizer::Measures* side : sides) walsizer_add_known(row, side->WalPerTransaction());
    for (const walsizer::Measures* side : sides) walsizer_add_known(row, side->FpiShare());
    for (const walsizer::Measures* side : sides)
        walsizer_add_per_checkpoint(row, side->write_time, side->checkpoints);
    for (const walsizer::Measures* side : sides)
        walsizer_add_per_checkpoint(row, side->sync_time, side->checkpoints);
}

Datum walsizer_effect(PG_FUNCTION_ARGS) {
    walsizer_require_active();
    WalsizerRowSet set = walsizer_begin_rows(fcinfo);
    WalsizerJournalCopy* copy = walsizer_copy_journal();
    const walsizer::Journal journal = walsizer_view(copy);
    const TimestampTz now = GetCurrentTimestamp();
    const TimestampTz start = copy->watching ? copy->open_window.start : 0;
    const walsizer::EffectFacts facts = {journal, now, start, copy->watching ? copy->open_window_due : 0};
    for (uint32 age = 0; age < journal.decisions.size(); age++) {
        const walsizer::Effect effect = walsizer::EffectOf(facts, age);
        if (!effect.applied) continue;
        const walsizer::DecisionRecord& decision = journal.decisions.Newest(age);
        WalsizerRow row;
        row.used = 0;
        walsizer_add_int64(&row, decision.id);
        walsizer_add_time(&row, decision.decided_at);
        walsizer_add_text(&row, walsizer::Name(decision.action));
        walsizer_add_bytes(&row, decision.old_size);
        walsizer_add_bytes(&row, decision.new_size);
        walsizer_add_measures(&row, effect.before, effect.after);
        walsizer_add_text(&row, effect.verdict.c_str());
        walsizer_put_row(&set, &row);
        CHECK_FOR_INTERRUPTS();
    }
    return (Datum)0;
}
