// Finds the sets of pages whose first touches follow given points: relative least squares without negative
// amounts.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "walsizer/first_touch.hpp"

namespace walsizer {

namespace {

// Rows are relative: a further column that gains less than this is none.
constexpr double kNothingLeft = 1e-12;
constexpr double kNoGain = 1e-6;
constexpr unsigned kBasis = 28;  // constants a factor of two apart

struct Fitted {
    double images;
    double records;
};

// Least squares over the columns that are in use, by elimination. A hair on the diagonal keeps columns that
// are alike apart.
void SolveUsed(const double (&gram)[kBasis][kBasis], const double (&right)[kBasis],
               const bool (&used)[kBasis], double (&solution)[kBasis]) noexcept {
    double matrix[kBasis][kBasis + 1] = {};
    unsigned column[kBasis];
    unsigned count = 0;
    for (unsigned i = 0; i < kBasis; ++i)
        if (used[i]) column[count++] = i;
    for (unsigned i = 0; i < count; ++i) {
        for (unsigned j = 0; j < count; ++j) matrix[i][j] = gram[column[i]][column[j]];
        matrix[i][i] *= 1 + 1e-10;
        matrix[i][count] = right[column[i]];
    }
    for (unsigned i = 0; i < count; ++i) {
        // What the columns before it already say leaves nothing: it gets no amount.
        if (!(matrix[i][i] > kNothingLeft * gram[column[i]][column[i]])) {
            for (unsigned j = i; j <= count; ++j) matrix[i][j] = 0;
            for (unsigned row = 0; row < count; ++row) matrix[row][i] = 0;
            matrix[i][i] = 1;
        }
        for (unsigned row = i + 1; row < count; ++row) {
            const double factor = matrix[row][i] / matrix[i][i];
            for (unsigned j = i; j <= count; ++j) matrix[row][j] -= factor * matrix[i][j];
        }
    }
    std::fill(std::begin(solution), std::end(solution), 0.0);
    for (unsigned i = count; i-- > 0;) {
        double rest = matrix[i][count];
        for (unsigned j = i + 1; j < count; ++j) rest -= matrix[i][j] * solution[column[j]];
        solution[column[i]] = rest / matrix[i][i];
    }
}

// Least squares with no amount below zero: the active-set method of Lawson and Hanson (1974).
void SolveNonNegative(const double (&gram)[kBasis][kBasis], const double (&right)[kBasis],
                      double (&amounts)[kBasis]) noexcept {
    bool used[kBasis] = {};
    double trial[kBasis];
    for (unsigned round = 0; round < 3 * kBasis; ++round) {
        unsigned best = kBasis;
        double steepest = 0;
        for (unsigned i = 0; i < kBasis; ++i) {
            if (used[i] || !(gram[i][i] > 0)) continue;
            double slope = right[i];
            for (unsigned j = 0; j < kBasis; ++j) slope -= gram[i][j] * amounts[j];
            slope /= std::sqrt(gram[i][i]);
            if (slope > steepest) {
                steepest = slope;
                best = i;
            }
        }
        if (best == kBasis || steepest < kNoGain) return;
        used[best] = true;
        for (unsigned inner = 0; inner < kBasis; ++inner) {
            SolveUsed(gram, right, used, trial);
            // As far towards the trial as no amount falls below zero; those that reach it leave.
            double step = 1;
            for (unsigned i = 0; i < kBasis; ++i)
                if (used[i] && trial[i] <= 0) step = std::min(step, amounts[i] / (amounts[i] - trial[i]));
            for (unsigned i = 0; i < kBasis; ++i) {
                amounts[i] += step * (trial[i] - amounts[i]);
                if (!used[i] || amounts[i] > 0) continue;
                amounts[i] = 0;
                used[i] = false;
            }
            if (step >= 1) break;
        }
    }
}

// A point's weight is relative to what it is expected to be, so that a hundred and a million images are met
// equally well. What is expected is the fit so far; at first all points have the same images per record, so
// that a few odd ones cannot draw the curve to themselves.
void FitOnce(const CurvePoint* points, unsigned count, const double (&constants)[kBasis],
             const double* expected, double (&amounts)[kBasis]) noexcept {
    double gram[kBasis][kBasis] = {};
    double right[kBasis] = {};
    for (unsigned k = 0; k < count; ++k) {
        const CurvePoint& point = points[k];
        const double level = std::max(point.images, expected[k]);
        const double weight = point.weight / (level * level);
        double row[kBasis];
        for (unsigned j = 0; j < kBasis; ++j) row[j] = -std::expm1(-point.records / constants[j]);
        for (unsigned i = 0; i < kBasis; ++i) {
            right[i] += weight * row[i] * point.images;
            for (unsigned j = 0; j < kBasis; ++j) gram[i][j] += weight * row[i] * row[j];
        }
    }
    std::fill(std::begin(amounts), std::end(amounts), 0.0);
    SolveNonNegative(gram, right, amounts);
}

// Few sets will do: neighbours are joined, keeping their number of pages and their first slope.
unsigned Join(Fitted (&sets)[kBasis], unsigned count) noexcept {
    while (count > FirstTouchCurve::kSets) {
        unsigned closest = 0;
        for (unsigned i = 1; i + 1 < count; ++i)
            if (sets[i + 1].records / sets[i].records < sets[closest + 1].records / sets[closest].records)
                closest = i;
        const double slope = sets[closest].images / sets[closest].records +
                             sets[closest + 1].images / sets[closest + 1].records;
        sets[closest].images += sets[closest + 1].images;
        sets[closest].records = sets[closest].images / slope;
        std::copy(sets + closest + 2, sets + count, sets + closest + 1);
        --count;
    }
    return count;
}

}  // namespace

void FitCurve(const CurvePoint* points, unsigned count,
              FirstTouchCurve::Set (&sets)[FirstTouchCurve::kSets]) noexcept {
    constexpr unsigned most = 64;
    constexpr unsigned rounds = 4;
    count = std::min(count, most);
    if (count == 0) return;
    double first = points[0].records;
    double images = 0;
    double records = 0;
    for (unsigned k = 0; k < count; ++k) {
        first = std::min(first, points[k].records);
        images += points[k].weight * points[k].images;
        records += points[k].weight * points[k].records;
    }
    // From shorter than the first point to longer than anything that a cycle may show.
    double constants[kBasis];
    for (unsigned j = 0; j < kBasis; ++j) constants[j] = first / 2 * std::exp2(j);
    double expected[most];
    for (unsigned k = 0; k < count; ++k) expected[k] = points[k].records * images / records;
    double amounts[kBasis];
    for (unsigned round = 0; round < rounds; ++round) {
        FitOnce(points, count, constants, expected, amounts);
        for (unsigned k = 0; k < count; ++k) {
            expected[k] = 0;
            for (unsigned j = 0; j < kBasis; ++j)
                expected[k] += amounts[j] * -std::expm1(-points[k].records / constants[j]);
        }
    }
    Fitted fitted[kBasis];
    unsigned used = 0;
    for (unsigned j = 0; j < kBasis; ++j)
        if (amounts[j] > 0) fitted[used++] = {amounts[j], constants[j]};
    used = Join(fitted, used);
    for (unsigned i = 0; i < used; ++i) sets[i] = {fitted[i].images, fitted[i].records};
}

}  // namespace walsizer
