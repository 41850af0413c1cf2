// SPDX-License-Identifier: Apache-2.0
#include "recording/block_writer.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "recording/checksum.hpp"

namespace ttmem::recording {

using base::Error;

namespace {

constexpr int kLevel = 1;
constexpr mode_t kOwnerOnly = 0600;

tl::unexpected<Error> failed(const std::string& path, const char* what, int error) {
    return base::error(Error::Code::failed,
                       "can't " + std::string(what) + " " + path + ": " + std::strerror(error));
}

template <class T>
std::string_view bytes_of(const T& object, size_t from = 0) {
    return {reinterpret_cast<const char*>(&object) + from, sizeof object - from};
}

}  // namespace

std::string earlier_part_of(const std::string& path) { return path + ".1"; }

struct BlockWriter::Compressor {
    ZSTD_CCtx* context = ZSTD_createCCtx();

    Compressor() = default;
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;
    ~Compressor() { ZSTD_freeCCtx(context); }
};

BlockWriter::BlockWriter(FileSettings settings)
    : settings_(std::move(settings)), compressor_(std::make_unique<Compressor>()) {}
BlockWriter::BlockWriter(BlockWriter&& other) noexcept = default;
BlockWriter::~BlockWriter() = default;

base::Expected<BlockWriter> BlockWriter::create(FileSettings settings, uint64_t now_ns, uint64_t epoch_ns) {
    struct stat found {};
    if (lstat(settings.path.c_str(), &found) == 0) {
        if (!settings.replaces) {
            return base::error(Error::Code::refused, settings.path + " exists (replace it with --force)");
        }
        if (!S_ISREG(found.st_mode)) {
            return base::error(Error::Code::refused, settings.path + " is not a file: it is not replaced");
        }
    }
    if (settings.max_bytes != 0 && settings.max_bytes < kLeastMaxBytes) {
        return base::error(Error::Code::refused, "a recording needs at least 1 MiB");
    }
    BlockWriter writer(std::move(settings));
    writer.header_.started_ns = now_ns;
    writer.header_.epoch_offset_ns = epoch_ns - now_ns;
    if (getrandom(writer.header_.recording_id, sizeof writer.header_.recording_id, GRND_NONBLOCK) < 0) {
        writer.header_.recording_id[0] = epoch_ns;
    }
    if (auto opened = writer.open_file(); !opened) {
        return tl::unexpected(std::move(opened.error()));
    }
    return writer;
}

base::Expected<void> BlockWriter::open_file() {
    const std::string& path = settings_.path;
    if (settings_.replaces && unlink(path.c_str()) != 0 && errno != ENOENT) {
        return failed(path, "replace", errno);
    }
    base::Descriptor file(
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_APPEND, kOwnerOnly));
    if (!file) {
        return failed(path, "create", errno);
    }
    file_ = std::move(file);
    size_ = 0;
    sequence_ = 0;
    header_.checksum = checksum_of(bytes_of(header_).substr(0, offsetof(FileHeader, checksum)));
    return write(bytes_of(header_));
}

base::Expected<void> BlockWriter::begin_part() {
    const std::string before = earlier_part_of(settings_.path);
    if (rename(settings_.path.c_str(), before.c_str()) != 0) {
        return failed(settings_.path, "rename", errno);
    }
    ++header_.part;
    return open_file();
}

base::Expected<void> BlockWriter::write(std::string_view bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t written = ::write(file_.get(), bytes.data() + done, bytes.size() - done);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            const int error = written < 0 ? errno : ENOSPC;
            // A block is there or not. If even this fails, the checksum says so.
            [[maybe_unused]] const int cut = ftruncate(file_.get(), static_cast<off_t>(size_));
            return failed(settings_.path, "write", error);
        }
        done += static_cast<size_t>(written);
    }
    size_ += bytes.size();
    all_bytes_ += bytes.size();
    return {};
}

base::Expected<void> BlockWriter::append(const BlockContent& block) {
    BlockHeader header;
    header.type = static_cast<uint8_t>(block.type);
    header.process = block.process;
    header.sequence = sequence_;
    header.first_ns = block.first_ns;
    header.last_ns = block.last_ns;
    header.events = block.events;
    header.lost = block.lost;
    if (block.payload.size() > kMostRawBytes) {
        return base::error(Error::Code::failed, "a block of a recording is too large");
    }
    const size_t room = ZSTD_compressBound(block.payload.size());
    buffer_.resize(sizeof header + room);
    char* const stored = buffer_.data() + sizeof header;
    size_t length = ZSTD_compressCCtx(compressor_->context, stored, room, block.payload.data(),
                                      block.payload.size(), kLevel);
    if (ZSTD_isError(length) != 0 || length >= block.payload.size()) {
        length = block.payload.size();
        block.payload.copy(stored, length);
        header.compression = static_cast<uint8_t>(Compression::none);
    } else {
        header.compression = static_cast<uint8_t>(Compression::zstd);
    }
    header.stored_bytes = static_cast<uint32_t>(length);
    header.raw_bytes = static_cast<uint32_t>(block.payload.size());
    header.payload_checksum = checksum_of({stored, length});
    header.header_checksum = checksum_of(bytes_of(header, offsetof(BlockHeader, payload_checksum)));
    std::memcpy(buffer_.data(), &header, sizeof header);
    auto written = write({buffer_.data(), sizeof header + length});
    sequence_ += written ? 1u : 0u;
    return written;
}

}  // namespace ttmem::recording
