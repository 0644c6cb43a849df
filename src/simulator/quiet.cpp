// Which looks may be left out.
#include <algorithm>
#include <cmath>

#include "simulator/policy.hpp"

namespace walsizer::simulator {

namespace {

// The tuner judges its pace from the last ten seconds and may act up to three looks and a reload ahead: this
// close to a trigger, at the present rate, it looks as often as it likes.
constexpr double kNear = 30;  // seconds
// As long it looks each second before it may have to judge: a change of load after which the trigger would be
// that near, the end of a window with forced checkpoints.
constexpr Micros kWarmUp = 12 * kSecond;
// Straight lines between looks may miss the curve of fading images by this share of a timeout's WAL.
constexpr double kMiss = 0.001;

double Seconds(Micros time) {
    return static_cast<double>(time) / kSecond;
}

// Time until WAL is so close to the trigger that it could be there within kNear; `most` at the latest.
Micros UntilNear(const SimulatedServer& server, Micros most) {
    const PaperCheckpointer& paper = server.paper();
    const ServerSettings& settings = paper.server();
    const Lsn trigger = TriggerPosition(paper.redo(), CheckpointSegments(settings), settings.segment_size);
    const double left = static_cast<double>(trigger) - static_cast<double>(paper.position());
    const double far = left - paper.Rate(server.load()) * kNear;
    const Micros until = paper.TimeFor(far, server.load(), most);
    return until < 0 ? most : until;
}

bool NearAfterChange(const SimulatedServer& server, Micros until) {
    const PaperCheckpointer& paper = server.paper();
    const ServerSettings& settings = paper.server();
    const Lsn trigger = TriggerPosition(paper.redo(), CheckpointSegments(settings), settings.segment_size);
    const double left = static_cast<double>(trigger) - static_cast<double>(paper.position()) -
                        paper.WalIn(until, server.load());
    return left < paper.Rate(server.NextLoad()) * 2 * kNear;
}

}  // namespace

Micros QuietFor(const SimulatedServer& server, const Tuner& tuner, const Journal& journal) {
    if (!server.Settled()) return 0;
    // A statement was seen that had not heard of the present trigger: the tuner looks at the uncut cycle,
    // too.
    if (tuner.tracker().open_cycle().older_trigger > 0) return 0;
    const PaperCheckpointer& paper = server.paper();
    const Micros now = server.now();
    // Events that the tuner sees at its first look after them.
    Micros quiet = std::max<Micros>(paper.timer_due() - now, 0);
    const Micros load_ends = server.LoadEnds() - now;
    quiet = std::min(quiet, load_ends);
    const Tracker& tracker = tuner.tracker();
    Micros window_left = tracker.open_window_due() - tracker.latest().wall;
    // Forced ones lately: the end of the window may be judged by the pace of its last seconds.
    const bool judged = RecentCheckpoints(journal, kRecentWindows).wal_forced > 0 ||
                        tracker.open_window().checkpoints.wal_forced > 0;
    if (judged) window_left -= kWarmUp;
    quiet = std::min(quiet, std::max<Micros>(window_left, 0));
    if (server.trace().disk_size > 0) quiet = std::min(quiet, server.WriteEnds(quiet));
    // Events for which it has to be warm.
    quiet = UntilNear(server, quiet);
    if (quiet > load_ends - kWarmUp && NearAfterChange(server, load_ends))
        quiet = std::min(quiet, std::max<Micros>(load_ends - kWarmUp, 0));
    // A straight line over h seconds misses a curve of slope r by at most r' h^2 / 8.
    const double slowdown = paper.Slowdown(server.load());
    const double whole = paper.Rate(server.load()) * Seconds(paper.server().checkpoint_timeout);
    const double straight = slowdown > 0 ? std::sqrt(8 * kMiss * whole / slowdown) : 1e6;
    return std::min(quiet, static_cast<Micros>(std::min(straight, 1e6) * kSecond));
}

}  // namespace walsizer::simulator
