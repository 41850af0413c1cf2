// SPDX-License-Identifier: Apache-2.0
#include "recording/block_writer.hpp"

#include <sys/random.h>
#include <zstd.h>

#include <cstddef>
#include <cstring>
#include <utility>

#include "recording/checksum.hpp"

namespace ttmem::recording {

using base::Error;

namespace {

constexpr int kLevel = 1;

template <class T>
std::string_view bytes_of(const T& object, size_t from = 0) {
    return {reinterpret_cast<const char*>(&object) + from, sizeof object - from};
}

}  // namespace

struct BlockWriter::Compressor {
    ZSTD_CCtx* context = ZSTD_createCCtx();

    Compressor() = default;
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;
    ~Compressor() { ZSTD_freeCCtx(context); }
};

BlockWriter::BlockWriter(std::unique_ptr<RecordingTarget> target)
    : target_(std::move(target)), compressor_(std::make_unique<Compressor>()) {}
BlockWriter::BlockWriter(BlockWriter&& other) noexcept = default;
BlockWriter::~BlockWriter() = default;

base::Expected<BlockWriter> BlockWriter::create(std::unique_ptr<RecordingTarget> target, uint64_t now_ns,
                                                uint64_t epoch_ns) {
    BlockWriter writer(std::move(target));
    writer.header_.started_ns = now_ns;
    writer.header_.epoch_offset_ns = epoch_ns - now_ns;
    if (getrandom(writer.header_.recording_id, sizeof writer.header_.recording_id, GRND_NONBLOCK) < 0) {
        writer.header_.recording_id[0] = epoch_ns;
    }
    if (auto begun = writer.write_header(); !begun) {
        return tl::unexpected(std::move(begun.error()));
    }
    return writer;
}

base::Expected<void> BlockWriter::write_header() {
    sequence_ = 0;
    header_.checksum = checksum_of(bytes_of(header_).substr(0, offsetof(FileHeader, checksum)));
    auto begun = target_->begin_part(bytes_of(header_));
    all_bytes_ += begun ? sizeof header_ : 0;
    return begun;
}

base::Expected<void> BlockWriter::begin_part() {
    ++header_.part;
    return write_header();
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
    auto written = target_->append({buffer_.data(), sizeof header + length});
    if (written) {
        ++sequence_;
        all_bytes_ += sizeof header + length;
    }
    return written;
}

}  // namespace ttmem::recording
