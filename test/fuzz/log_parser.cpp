// libFuzzer: whatever bytes stand in a log, reading it ends, without a fault, in an answer that makes sense.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cli/log/line.hpp"
#include "cli/log/log_advice.hpp"
#include "cli/print_advice.hpp"

namespace {

using namespace walsizer;
using namespace walsizer::cli;

class Memory : public Input {
  public:
    Memory(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
    std::size_t Read(char* buffer, std::size_t size) override {
        const std::size_t part = std::min(size, size_);
        if (part > 0) std::memcpy(buffer, data_, part);
        data_ += part;
        size_ -= part;
        return part;
    }

  private:
    const std::uint8_t* data_;
    std::size_t size_;
};

void Require(bool holds) {
    if (!holds) std::abort();
}

void CheckAnswer(const Advice& advice) {
    for (const ServerAdvice& server : advice.servers) {
        Require(server.recommendation.size >= server.settings.max_wal_size.value);
        Require(server.checkpoints.stale <= server.checkpoints[Cause::kWal]);
        for (const WhatIfSize& row : server.what_if.sizes)
            Require(row.wal_per_hour >= 0 && row.forced_per_hour >= 0);
        Require(server.span.watched >= 0 && server.wal_bytes >= 0);
        for (const std::int64_t count : server.checkpoints.of) Require(count >= 0);
    }
    Require(!AdviceAsJson(advice).empty());
    Require(!AdviceAsText(advice, Style(true)).empty());
    Require(!AdviceAsCsv(advice).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)LooksLikeServerLog({reinterpret_cast<const char*>(data), size});
    const SettingOptions options;
    // Small blocks, so that lines cross their borders; the block of a real file would hold any input whole,
    // and clearing it took most of a run.
    const std::size_t block = size % 2 == 0 ? 64 : 4096;
    LineScanner scanner(std::make_unique<Memory>(data, size), block);
    ServerLog log("", options);
    LogFacts facts;
    Candidate candidate;
    while (scanner.Next(candidate)) {
        Event event;
        const Reading reading = ReadLine(candidate, event);
        if (reading == Reading::kUnreadable) ++facts.unparsed;
        if (reading == Reading::kRead) log.Take(event);
    }
    facts.lines = scanner.lines();
    Require(facts.unparsed <= facts.lines);
    facts.servers = log.Finish();
    CheckAnswer(AdviseByLog({"-"}, facts, CeilingOptions()));
    return 0;
}
