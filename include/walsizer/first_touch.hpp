// Full-page images as a function of work since the redo point: learned from a server's own cycles.
//
// A page is logged whole at its first change after a redo point, so of images there are many at first and
// fewer and fewer later. Work is counted in WAL records, not in bytes or seconds: each record touches about
// one page, and images themselves do not count. Whatever the popularity of pages, the expected number of
// distinct pages after n touches is a sum of W * (1 - exp(-q n / W)) over sets of pages; so such a sum with
// few sets is what is fitted.
#pragma once

#include <cstdint>

#include "walsizer/paper_checkpointer.hpp"

namespace walsizer {

// WAL since a redo point: what the server's statistics reported of it, and what positions say.
struct SinceRedo {
    double records = 0;
    double images = 0;    // bytes of full-page images as reported (up to 18 a block each)
    double reported = 0;  // bytes of WAL as reported
    double written = 0;   // bytes of WAL by position; reports lag behind it by up to a second
};

// Images written until `records` records after a redo point.
struct FirstTouchCurve {
    static constexpr unsigned kSets = PaperLoad::kSets;

    struct Set {
        double images = 0;   // reported bytes, once all of its pages were touched
        double records = 0;  // after so many 63 % of them were; 0: the set is not used
    };

    bool known = false;
    Set sets[kSets];
    double image_scale = 1;       // real bytes of one reported byte of images: holes and compression
    double overhead = 1;          // bytes by position of one reported byte: page headers, alignment
    double bytes_per_record = 0;  // without images
    double longest = 0;           // records of the longest cycle that was seen

    double Images(double records) const noexcept;  // reported bytes
    // Images go on for ever as in the first half of the longest cycle that was seen: since they only fade, a
    // longer cycle has never more.
    FirstTouchCurve AtMost() const noexcept;
};

struct CurvePoint {
    double records = 0;
    double images = 0;
    double weight = 0;
};

// The curve through points, as near as sums of sets come; at most 64 points.
void FitCurve(const CurvePoint* points, unsigned count,
              FirstTouchCurve::Set (&sets)[FirstTouchCurve::kSets]) noexcept;

// Learns the curve. A plain value of one and a half kilobytes; survives a restart in the history file.
class ImageProfile {
  public:
    // A moment in a cycle, `seconds` after its redo point. At most one per bin and cycle. It counts by its
    // rate: what a nearly idle server touches says little about the load that a size is for.
    void AddPoint(const SinceRedo& since, double seconds) noexcept;
    // A cycle ended that lasted this share of checkpoint_timeout: what was learned before counts less.
    void Fade(double timeouts) noexcept;
    static unsigned BinOf(double written) noexcept;

    // A second or more of reported WAL, to learn how large an image really is; `written` by position.
    void AddStretch(const SinceRedo& stretch) noexcept;

    FirstTouchCurve Fit() const noexcept;
    void Mend() noexcept;  // after bytes of any origin were read into it

  private:
    // Half an octave of WAL since the redo point each, from 64 kB on. By position, since reports come in
    // lumps: bins of reported figures would sort by luck.
    static constexpr unsigned kBins = 64;
    struct Bin {
        float weight = 0;  // cycles, up to a limit: old ones fade
        float records = 0;
        float images = 0;
        float reported = 0;
        float written = 0;
    };
    // WAL = bytes_per_record * records + image_scale * images holds in any stretch. Within a group of
    // stretches close to each other the first factor is taken to be constant, which gives the second; a group
    // in which it was not, because the load changed, does not count.
    struct Group {
        double records = 0;
        double images = 0;
        double reported = 0;
        double written = 0;
        double images_squared = 0;  // each / records
        double images_reported = 0;
        double reported_squared = 0;
        std::int32_t stretches = 0;
    };
    static constexpr std::int32_t kGroup = 30;

    void Fold() noexcept;
    double ImageScale() const noexcept;

    Bin bins_[kBins];
    Group open_;
    Group total_;            // sums, old ones fading
    double fastest_ = 0;     // bytes/s of a cycle, fading
    double covariance_ = 0;  // of images and WAL per record, within groups
    double variance_ = 0;    // of images per record, within groups
};

}  // namespace walsizer
