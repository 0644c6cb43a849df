#include "cli/log/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace walsizer::cli {

namespace {

constexpr std::size_t kCompressedBlock = std::size_t{1} << 16;
constexpr std::size_t kMagic = 6;  // the longest signature looked for

[[noreturn]] void Fail(const std::string& name, const std::string& what) {
    throw std::runtime_error(fmt::format("{}: {}", name, what));
}

class PlainFile : public Input {
  public:
    explicit PlainFile(const std::string& path) : name_(path == "-" ? "standard input" : path) {
        descriptor_ = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat facts = {};
        if (descriptor_ < 0 || fstat(descriptor_, &facts) != 0) Fail(name_, std::strerror(errno));
        if (S_ISDIR(facts.st_mode)) Fail(name_, "is a directory; name its files, as in DIR/*.log");
#ifdef POSIX_FADV_SEQUENTIAL
        (void)posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
        const std::size_t got = ReadFile(magic_, sizeof magic_);
        magic_size_ = got;
    }
    ~PlainFile() override {
        if (descriptor_ != STDIN_FILENO) close(descriptor_);
    }
    PlainFile(const PlainFile&) = delete;
    PlainFile& operator=(const PlainFile&) = delete;

    std::size_t Read(char* buffer, std::size_t size) override {
        const std::size_t part = std::min(size, magic_size_ - given_);
        std::memcpy(buffer, magic_ + given_, part);
        given_ += part;
        return part + ReadFile(buffer + part, size - part);
    }

    bool Begins(const char* signature, std::size_t size) const {
        return magic_size_ >= size && std::memcmp(magic_, signature, size) == 0;
    }
    const std::string& name() const {
        return name_;
    }

  private:
    std::size_t ReadFile(char* buffer, std::size_t size) {
        std::size_t filled = 0;
        while (filled < size) {
            const ssize_t got = read(descriptor_, buffer + filled, size - filled);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) Fail(name_, std::strerror(errno));
            if (got == 0) break;
            filled += static_cast<std::size_t>(got);
        }
        return filled;
    }

    std::string name_;
    int descriptor_ = -1;
    char magic_[kMagic] = {};
    std::size_t magic_size_ = 0;
    std::size_t given_ = 0;
};

class GzipFile : public Input {
  public:
    explicit GzipFile(std::unique_ptr<PlainFile> file) : file_(std::move(file)), block_(kCompressedBlock) {
        if (inflateInit2(&stream_, 15 + 16) != Z_OK) Fail(file_->name(), "zlib does not start");
    }
    ~GzipFile() override { inflateEnd(&stream_); }
    GzipFile(const GzipFile&) = delete;
    GzipFile& operator=(const GzipFile&) = delete;

    std::size_t Read(char* buffer, std::size_t size) override {
        stream_.next_out = reinterpret_cast<Bytef*>(buffer);
        stream_.avail_out = static_cast<uInt>(size);
        while (stream_.avail_out > 0 && !ended_ && Fill()) {
            const int result = inflate(&stream_, Z_NO_FLUSH);
            open_ = result != Z_STREAM_END;
            if (result == Z_STREAM_END) {
                // Rotated logs are often several streams, one after the other.
                inflateReset(&stream_);
            } else if (result != Z_OK && result != Z_BUF_ERROR) {
                // Padding behind the last stream is no error, nor is damage: what came before was read.
                damaged_ = started_inside_ || result != Z_DATA_ERROR;
                ended_ = true;
            }
            started_inside_ = open_;
        }
        return size - stream_.avail_out;
    }
    bool truncated() const override { return damaged_ || (ended_ && open_); }

  private:
    bool Fill() {
        if (stream_.avail_in > 0) return true;
        const std::size_t got = file_->Read(block_.data(), block_.size());
        stream_.next_in = reinterpret_cast<Bytef*>(block_.data());
        stream_.avail_in = static_cast<uInt>(got);
        ended_ = got == 0;
        return got > 0;
    }

    std::unique_ptr<PlainFile> file_;
    std::vector<char> block_;
    z_stream stream_ = {};
    bool open_ = true;             // inside a stream
    bool started_inside_ = false;  // some of the present stream was read
    bool damaged_ = false;
    bool ended_ = false;
};

class ZstdFile : public Input {
  public:
    explicit ZstdFile(std::unique_ptr<PlainFile> file)
        : file_(std::move(file)), block_(kCompressedBlock), stream_(ZSTD_createDStream()) {
        if (stream_ == nullptr) Fail(file_->name(), "libzstd does not start");
    }
    ~ZstdFile() override { ZSTD_freeDStream(stream_); }
    ZstdFile(const ZstdFile&) = delete;
    ZstdFile& operator=(const ZstdFile&) = delete;

    std::size_t Read(char* buffer, std::size_t size) override {
        ZSTD_outBuffer out = {buffer, size, 0};
        while (out.pos < out.size && !ended_) {
            if (in_.pos == in_.size && !Fill()) {
                ended_ = true;
                break;
            }
            const std::size_t result = ZSTD_decompressStream(stream_, &out, &in_);
            open_ = result != 0;
            if (ZSTD_isError(result) != 0) ended_ = true;
        }
        return out.pos;
    }
    bool truncated() const override { return ended_ && open_; }

  private:
    bool Fill() {
        in_ = {block_.data(), file_->Read(block_.data(), block_.size()), 0};
        return in_.size > 0;
    }

    std::unique_ptr<PlainFile> file_;
    std::vector<char> block_;
    ZSTD_DStream* stream_;
    ZSTD_inBuffer in_ = {nullptr, 0, 0};
    bool open_ = false;
    bool ended_ = false;
};

struct Foreign {
    const char* signature;
    std::size_t size;
    const char* name;
    const char* command;
};
constexpr Foreign kForeign[] = {{"\xFD"
                                 "7zXZ",
                                 5, "xz", "xz -dc"},
                                {"BZh", 3, "bzip2", "bzip2 -dc"},
                                {"\x04\x22\x4D\x18", 4, "lz4", "lz4 -dc"},
                                {"PK\x03\x04", 4, "zip", "unzip -p"}};

}  // namespace

std::unique_ptr<Input> OpenInput(const std::string& path) {
    auto file = std::make_unique<PlainFile>(path);
    if (file->Begins("\x1F\x8B", 2)) return std::make_unique<GzipFile>(std::move(file));
    if (file->Begins("\x28\xB5\x2F\xFD", 4)) return std::make_unique<ZstdFile>(std::move(file));
    for (const Foreign& foreign : kForeign)
        if (file->Begins(foreign.signature, foreign.size))
            Fail(file->name(), fmt::format("is compressed with {}: {} {} | walsizer advise --log -",
                                           foreign.name, foreign.command, file->name()));
    return file;
}

}  // namespace walsizer::cli
