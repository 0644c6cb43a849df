// The functions that act: they ask the worker and wait for its answer. And recommend(), which only tells.
#include "module.hpp"
#include "rows.hpp"
#include "shared_state.hpp"
#include "sql_journal.hpp"
#include "walsizer/recommendation.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(walsizer_evaluate);
PG_FUNCTION_INFO_V1(walsizer_undo);
PG_FUNCTION_INFO_V1(walsizer_resume);
PG_FUNCTION_INFO_V1(walsizer_reset);
PG_FUNCTION_INFO_V1(walsizer_shrink);
PG_FUNCTION_INFO_V1(walsizer_recommend);
}

static constexpr long patience_ms = 10000;

// A worker that was terminated is back within a second or two.
static void walsizer_wait_for_worker() {
    constexpr long nap_ms = 100;
    for (long waited = 0; waited < patience_ms && walsizer_shared->worker_pid == 0; waited += nap_ms) {
        (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, nap_ms, walsizer_wait_event());
        ResetLatch(MyLatch);
        CHECK_FOR_INTERRUPTS();
    }
}

static uint64 walsizer_draw_ticket(walsizer::CommandKind kind) {
    const char* role = GetUserNameFromId(GetUserId(), false);
    WalsizerShared* shared = walsizer_shared;
    LWLockAcquire(shared->lock, LW_EXCLUSIVE);
    const bool running = shared->worker_pid != 0;
    const bool crowded = shared->tickets_drawn - shared->tickets_served >= WalsizerShared::kTickets;
    const uint64 ticket = shared->tickets_drawn;
    if (running && !crowded) {
        WalsizerRequest& request = shared->requests[ticket % WalsizerShared::kTickets];
        request = WalsizerRequest();
        request.command.kind = kind;
        request.command.role.Set("%s", role);
        shared->tickets_drawn++;
        SetLatch(shared->worker_latch);
    }
    LWLockRelease(shared->lock);
    if (!running)
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the walsizer worker is not running"),
             errhint("The server log tells why; it is started again within seconds unless the server lacks "
                     "worker processes (max_worker_processes).")));
    if (crowded)
        ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                        errmsg("too many requests wait for the walsizer worker"),
                        errhint("Try again in a second.")));
    return ticket;
}

static bool walsizer_answer(uint64 ticket, walsizer::CommandResult* result) {
    WalsizerShared* shared = walsizer_shared;
    LWLockAcquire(shared->lock, LW_SHARED);
    const WalsizerRequest& request = shared->requests[ticket % WalsizerShared::kTickets];
    const bool done = request.done;
    if (done) *result = request.result;
    LWLockRelease(shared->lock);
    return done;
}

static walsizer::CommandResult walsizer_ask(walsizer::CommandKind kind) {
    walsizer_require_active();
    walsizer_wait_for_worker();
    const uint64 ticket = walsizer_draw_ticket(kind);
    const TimestampTz asked_at = GetCurrentTimestamp();
    walsizer::CommandResult result;
    bool done = false;
    ConditionVariablePrepareToSleep(&walsizer_shared->answered);
    while (!(done = walsizer_answer(ticket, &result))) {
        const long waited = TimestampDifferenceMilliseconds(asked_at, GetCurrentTimestamp());
        if (waited >= patience_ms) break;
        ConditionVariableTimedSleep(&walsizer_shared->answered, patience_ms - waited, walsizer_wait_event());
    }
    ConditionVariableCancelSleep();
    if (!done)
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("the walsizer worker did not answer within 10 seconds"),
             errhint("It may still carry out the request: see walsizer.status, walsizer.decisions and the "
                     "server log.")));
    if (result.decision == 0)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg_internal("%s", result.refusal.c_str()),
                        result.hint.empty() ? 0 : errhint("%s", result.hint.c_str())));
    return result;
}

static Datum walsizer_command(FunctionCallInfo fcinfo, walsizer::CommandKind kind) {
    const walsizer::CommandResult result = walsizer_ask(kind);
    walsizer::DecisionRecord decision;
    LWLockAcquire(walsizer_shared->lock, LW_SHARED);
    const walsizer::Journal journal = walsizer_journal();
    for (uint32 age = 0; age < journal.decisions.size(); age++)
        if (journal.decisions.Newest(age).id == result.decision) decision = journal.decisions.Newest(age);
    LWLockRelease(walsizer_shared->lock);
    WalsizerRow row;
    walsizer_fill_decision(&row, decision);
    return walsizer_one_row(fcinfo, &row);
}

Datum walsizer_evaluate(PG_FUNCTION_ARGS) {
    return walsizer_command(fcinfo, walsizer::CommandKind::kEvaluate);
}
Datum walsizer_undo(PG_FUNCTION_ARGS) {
    return walsizer_command(fcinfo, walsizer::CommandKind::kUndo);
}
Datum walsizer_resume(PG_FUNCTION_ARGS) {
    return walsizer_command(fcinfo, walsizer::CommandKind::kResume);
}
Datum walsizer_reset(PG_FUNCTION_ARGS) {
    return walsizer_command(fcinfo, walsizer::CommandKind::kReset);
}
Datum walsizer_shrink(PG_FUNCTION_ARGS) {
    return walsizer_command(fcinfo, walsizer::CommandKind::kShrink);
}

Datum walsizer_recommend(PG_FUNCTION_ARGS) {
    walsizer_require_active();
    const char* format = text_to_cstring(PG_GETARG_TEXT_PP(0));
    walsizer::Need need;
    walsizer::Bytes size = 0;
    walsizer::ServerSettings server;
    LWLockAcquire(walsizer_shared->lock, LW_SHARED);
    const bool started = walsizer_shared->loaded && walsizer_shared->tuner.tracker().started();
    if (started) {
        const walsizer::Journal journal = walsizer_journal();
        need = walsizer_shared->tuner.need(journal);
        size = walsizer_shared->tuner.Recommended(journal);
        server = walsizer_shared->tuner.tracker().latest().server;
    }
    LWLockRelease(walsizer_shared->lock);
    if (!started)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("walsizer has not looked at the server yet"), errhint("Try again in a second.")));
    walsizer::Text<1024> line;
    if (!walsizer::Recommend(format, size, need, server, line))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown format \"%s\"", format),
                        errhint("Formats are %s.", walsizer::kRecommendFormats)));
    PG_RETURN_TEXT_P(cstring_to_text(line.c_str()));
}
