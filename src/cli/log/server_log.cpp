#include "cli/log/server_log.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace walsizer::cli {

namespace {

// So many checkpoints show the settings; then they are accounted as they come, and memory stays constant.
constexpr std::size_t kWarmUp = 4096;
// Restarts beyond this many share an account; nothing is lost but what separates them.
constexpr std::size_t kMostLanes = 1024;
// The server is ready right after the checkpoint that ends recovery.
constexpr Micros kRightAfter = 2 * kSecond;
// A recovery shorter than this tells no rate.
constexpr Micros kShortestReplay = kSecond;

}  // namespace

void ReplayWatch::Take(const Event& event) {
    if (event.kind == EventKind::kRedoStart) from_ = event.lsn;
    if (event.kind == EventKind::kRedoDone) from_ = 0;
    if (event.kind != EventKind::kRedoProgress || from_ == 0 || event.lsn <= from_) return;
    if (event.elapsed < kShortestReplay) return;
    rate_ = static_cast<double>(event.lsn - from_) * kSecond / static_cast<double>(event.elapsed);
}

std::size_t ServerLog::LaneOf(std::int64_t pid) {
    for (std::size_t i = lanes_.size(); i-- > 0;)
        if (lanes_[i]->pid() == pid) return i;
    if (lanes_.size() >= kMostLanes) return kMostLanes - 1;
    const std::size_t lane = lanes_.size();
    lanes_.push_back(std::make_unique<Lane>(pid, [this, lane](const LoggedCheckpoint& checkpoint) {
        Queue({lane, checkpoint});
    }));
    accounts_.emplace_back();
    return lane;
}

void ServerLog::Take(const Event& event) {
    version_.rds = version_.rds || event.rds;
    version_.before_ten = version_.before_ten || event.old_format;
    switch (event.kind) {
        case EventKind::kStart:
        case EventKind::kComplete:
        case EventKind::kFrequent:
        case EventKind::kHint:
            lanes_[LaneOf(event.pid)]->Take(event);
            break;
        case EventKind::kSetting:
            Queue({0, SettingChange{event.setting, event.value, event.at}});
            break;
        case EventKind::kVersion:
            version_.major = event.major;
            for (const auto& lane : lanes_) lane->Break();
            break;
        case EventKind::kReady:
            NoteReady(event);
            break;
        case EventKind::kRedoStart:
        case EventKind::kRedoProgress:
        case EventKind::kRedoDone:
            replay_.Take(event);
            break;
        case EventKind::kNone:
            break;
    }
}

// Up to 14 the startup process makes the checkpoint that ends crash recovery, and a log may not show its
// beginning.
void ServerLog::NoteReady(const Event& event) {
    if (queue_.empty() || !event.at) return;
    auto* checkpoint = std::get_if<LoggedCheckpoint>(&queue_.back().what);
    if (checkpoint == nullptr || checkpoint->started || checkpoint->cause != Cause::kUnknown) return;
    if (checkpoint->completed && std::abs(event.at->at - checkpoint->completed->at) <= kRightAfter)
        checkpoint->cause = Cause::kRecovery;
}

void ServerLog::Queue(LoggedItem item) {
    queue_.push_back(std::move(item));
    if (!settled_ && queue_.size() < kWarmUp) return;
    Settle();
    // The latest stays back: a line to come may tell what it was.
    while (queue_.size() > 1) {
        AccountFor(queue_.front());
        queue_.pop_front();
    }
}

void ServerLog::Settle() {
    if (settled_) return;
    settled_ = true;
    const Guess guess = GuessSettings(queue_, version_, options_);
    now_.settings = guess.settings;
    now_.smallest_forced = guess.smallest_forced;
}

void ServerLog::AccountFor(const LoggedItem& item) {
    if (const auto* change = std::get_if<SettingChange>(&item.what)) {
        const Bytes before = now_.settings.max_wal_size.value;
        const bool assumed = now_.settings.max_wal_size.origin == Origin::kDefault;
        ApplyChange(*change, options_, now_.settings);
        if (change->name != SettingName::kMaxWalSize || options_.max_wal_size) return;
        const bool raised = assumed || now_.settings.max_wal_size.value > before;
        now_.raised_at = raised ? change->at : std::nullopt;
        now_.smallest_forced = -1;
        return;
    }
    accounts_[item.lane].Take(std::get<LoggedCheckpoint>(item.what), now_);
}

std::vector<LoggedServer> ServerLog::Finish() {
    for (const auto& lane : lanes_) lane->Break();
    Settle();
    for (; !queue_.empty(); queue_.pop_front()) AccountFor(queue_.front());
    std::vector<const Tally*> lives;
    for (Account& account : accounts_) {
        account.Close(now_);
        if (account.tally().counts.total() > 0) lives.push_back(&account.tally());
    }
    // A checkpointer that begins before another one ends belongs to another server.
    const auto begins = [](const Tally* life) { return life->from ? life->from->at : Timestamp{0}; };
    std::stable_sort(lives.begin(), lives.end(),
                     [&](const Tally* left, const Tally* right) { return begins(left) < begins(right); });
    std::vector<LoggedServer> servers;
    for (const Tally* life : lives) {
        const auto free = std::find_if(servers.begin(), servers.end(), [&](const LoggedServer& server) {
            return !life->from || !server.tally.to || life->from->at >= server.tally.to->at - kRightAfter;
        });
        if (free != servers.end()) {
            free->tally.Add(*life);
        } else {
            servers.emplace_back();
            servers.back().tally = *life;
        }
    }
    if (servers.empty()) servers.emplace_back();
    for (std::size_t i = 0; i < servers.size(); ++i) {
        servers[i].name = servers.size() == 1 ? name_ : name_ + " #" + std::to_string(i + 1);
        servers[i].settings = now_.settings;
        servers[i].raised_at = now_.raised_at;
        servers[i].replay_rate = replay_.rate();
        servers[i].rds = version_.rds;
    }
    return servers;
}

}  // namespace walsizer::cli
