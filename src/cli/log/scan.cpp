#include "cli/log/scan.hpp"

#include <algorithm>
#include <cstring>

namespace walsizer::cli {

namespace {

// Every line of interest, in whatever language PostgreSQL wrote it, has one of these words. Three bytes of
// each, chosen to be rare elsewhere, are searched for, all at once; then the word is compared.
struct Word {
    std::string_view text;
    unsigned offset;  // of the three bytes
};
constexpr Word kWords[] = {{"kpoint", 0},            // checkpoint, Checkpoint, checkpoint_timeout
                           {"tpoint", 0},            // restartpoint
                           {"max_wal_size", 2},      //
                           {"redo", 1},              //
                           {"Redo", 1},              // de
                           {"REDO", 1},              // ja, ru, uk
                           {"database system ", 9},  //
                           {"starting PostgreSQL", 7},
                           {"Restart-Punkt", 6},  // de
                           {"riavvio", 2},        // it
                           {"control", 2},        // es: puntos de control; pt: pontos de controle
                           {"kontrolne", 2},      // pl: punkty kontrolne
                           {"\xD1\x82\xD0\xBE\xD1\x87\xD0\xBA", 5},  // ru, uk: точка
                           {"\xE3\x83\x9D\xE3\x82\xA4", 1},  // ja: チェックポイント, リスタートポイント
                           {"\xED\x81\xAC\xED\x8F\xAC", 2},               // ko: 체크포인트
                           {"\xE7\x82\xB9", 0},                           // zh_CN: 检查点, 重启点
                           {"\xE9\xBB\x9E", 0},                           // zh_TW: 檢查點, 重啟點
                           {"\xE1\x83\xAC\xE1\x83\x94\xE1\x83\xA0", 2}};  // ka: წერტილი

// The distinct triples of bytes of kWords: several words share one.
constexpr unsigned char kTriples[][3] = {
    {'k', 'p', 'o'},    {'t', 'p', 'o'},    {'x', '_', 'w'},    {'e', 'd', 'o'},
    {'E', 'D', 'O'},    {'s', 'y', 's'},    {'g', ' ', 'P'},    {'t', '-', 'P'},
    {'a', 'v', 'v'},    {'n', 't', 'r'},    {0x87, 0xD0, 0xBA}, {0x83, 0x9D, 0xE3},
    {0xAC, 0xED, 0x8F}, {0xE7, 0x82, 0xB9}, {0xE9, 0xBB, 0x9E}, {0xAC, 0xE1, 0x83}};

constexpr bool Covers(const Word& word) {
    for (const auto& triple : kTriples) {
        bool equal = true;
        for (unsigned i = 0; i < 3; ++i)
            equal = equal && static_cast<unsigned char>(word.text[word.offset + i]) == triple[i];
        if (equal) return true;
    }
    return false;
}
constexpr bool AllCovered() {
    for (const Word& word : kWords)
        if (!Covers(word)) return false;
    return true;
}
static_assert(AllCovered(), "a word whose three bytes are not searched for");

typedef unsigned char Bytes16 __attribute__((vector_size(16)));
typedef unsigned char Bytes32 __attribute__((vector_size(32)));

// By reference: a wide vector as a result has another ABI with AVX than without.
template <typename Vector>
[[gnu::always_inline]] inline void Load(const char* data, Vector& vector) {
    std::memcpy(&vector, data, sizeof vector);
}

template <typename Vector>
[[gnu::always_inline]] inline bool Any(const Vector& vector) {
    std::uint64_t parts[sizeof(Vector) / 8];
    std::memcpy(parts, &vector, sizeof vector);
    std::uint64_t any = 0;
    for (const std::uint64_t part : parts) any |= part;
    return any != 0;
}

// The start of the first block of sizeof(Vector) bytes in which a triple begins; where whole blocks end when
// there is none. Reads two bytes beyond the block.
template <typename Vector>
[[gnu::always_inline]] inline std::size_t SkipBlocks(const char* data, std::size_t from, std::size_t size) {
    for (; from + sizeof(Vector) + 2 <= size; from += sizeof(Vector)) {
        Vector first, second, third, hit = {};
        Load(data + from, first);
        Load(data + from + 1, second);
        Load(data + from + 2, third);
#pragma GCC unroll 32
        for (const auto& triple : kTriples)
            hit |=
                reinterpret_cast<Vector>((first == triple[0]) & (second == triple[1]) & (third == triple[2]));
        if (Any(hit)) break;
    }
    return from;
}

std::size_t SkipNarrow(const char* data, std::size_t from, std::size_t size) {
    return SkipBlocks<Bytes16>(data, from, size);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] std::size_t SkipWide(const char* data, std::size_t from, std::size_t size) {
    return SkipBlocks<Bytes32>(data, from, size);
}
#endif

using Skip = std::size_t (*)(const char*, std::size_t, std::size_t);

Skip BestSkip() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return SkipWide;
#endif
    return SkipNarrow;
}

bool WordAround(const char* data, std::size_t at, std::size_t size) {
    for (const Word& word : kWords) {
        if (data[at] != word.text[word.offset] || at < word.offset) continue;
        const std::size_t begin = at - word.offset;
        if (size - begin >= word.text.size() &&
            std::memcmp(data + begin, word.text.data(), word.text.size()) == 0)
            return true;
    }
    return false;
}

// Whether a byte begins one of the triples.
struct Beginnings {
    bool table[256] = {};
    constexpr Beginnings() {
        for (const auto& triple : kTriples) table[triple[0]] = true;
    }
};
constexpr Beginnings kBeginnings;

// A line longer than this is taken in pieces, so that memory does not grow with it.
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

std::int64_t CountLines(const char* data, std::size_t size) {
    std::int64_t count = 0;
    std::size_t at = 0;
    while (at + 16 <= size) {
        // A lane counts to 255 before its sum is taken.
        Bytes16 lanes = {};
        for (unsigned step = 0; step < 255 && at + 16 <= size; ++step, at += 16) {
            Bytes16 bytes;
            Load(data + at, bytes);
            lanes -= reinterpret_cast<Bytes16>(bytes == static_cast<unsigned char>('\n'));
        }
        for (unsigned lane = 0; lane < 16; ++lane) count += lanes[lane];
    }
    return count + std::count(data + at, data + size, '\n');
}

}  // namespace

std::size_t FindWord(const char* data, std::size_t size) {
    static const Skip kSkip = BestSkip();
    std::size_t at = 0;
    while (at < size) {
        at = kSkip(data, at, size);
        const std::size_t end = std::min(at + sizeof(Bytes32), size);
        for (; at < end; ++at)
            if (kBeginnings.table[static_cast<unsigned char>(data[at])] && WordAround(data, at, size))
                return at;
    }
    return size;
}

LineScanner::LineScanner(std::unique_ptr<Input> input, std::size_t block)
    : input_(std::move(input)), block_(block), buffer_(block + kRest) {}

std::string_view LineScanner::Beginning() {
    if (filled_ == 0) Refill();
    return {buffer_.data() + at_, filled_ - at_};
}

// Moves what is left to the front and reads on. False when nothing is left.
bool LineScanner::Refill() {
    if (ended_) return false;
    const std::size_t left = filled_ - at_;
    std::memmove(buffer_.data(), buffer_.data() + at_, left);
    at_ = 0;
    filled_ = left;
    if (buffer_.size() - left < block_) buffer_.resize(left + block_);
    const std::size_t got = input_->Read(buffer_.data() + filled_, block_);
    lines_ += CountLines(buffer_.data() + filled_, got);
    bytes_ += static_cast<std::int64_t>(got);
    filled_ += got;
    ended_ = got == 0;
    if (ended_ && filled_ > 0 && buffer_[filled_ - 1] != '\n') ++lines_;
    // Whole lines only, and with enough behind them to see where a wrapped one goes on.
    whole_ = filled_;
    if (!ended_) {
        const std::size_t keep = std::min(filled_, kRest);
        const auto* newline = static_cast<const char*>(memrchr(buffer_.data(), '\n', filled_ - keep));
        if (newline != nullptr)
            whole_ = static_cast<std::size_t>(newline - buffer_.data()) + 1;
        else if (filled_ < kLongestLine)
            whole_ = 0;
    }
    return filled_ > 0;
}

bool LineScanner::Next(Candidate& candidate) {
    for (;;) {
        if (at_ >= whole_) {
            if (!Refill()) return false;
            continue;
        }
        const char* data = buffer_.data();
        const std::size_t hit = at_ + FindWord(data + at_, whole_ - at_);
        if (hit >= whole_) {
            at_ = whole_;
            continue;
        }
        const auto* before = static_cast<const char*>(memrchr(data + at_, '\n', hit - at_));
        const auto* after = static_cast<const char*>(std::memchr(data + hit, '\n', whole_ - hit));
        const char* begin = before != nullptr ? before + 1 : data + at_;
        const char* end = after != nullptr ? after : data + whole_;
        at_ = after != nullptr ? static_cast<std::size_t>(after - data) + 1 : whole_;
        candidate.line = {begin, static_cast<std::size_t>(end - begin)};
        candidate.rest = {data + at_, std::min(filled_ - at_, kRest)};
        return true;
    }
}

}  // namespace walsizer::cli
