#pragma once

#include "journal_copy.hpp"
#include "walsizer/advice.hpp"

// What this server can tell for walsizer.advice(). Runs SQL, so only in a backend that was asked; `journal`
// is a view of `copy` and outlives the facts.
void walsizer_gather_facts(const WalsizerJournalCopy& copy, const walsizer::Journal& journal,
                           walsizer::AdviceFacts* facts);
