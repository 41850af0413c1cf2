// SPDX-License-Identifier: Apache-2.0
#include "recording/block_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "recording/checksum.hpp"

namespace ttmem::recording {

using base::Error;

namespace {

constexpr size_t kSearchBytes = 65'536;

// Reads as much as there is.
size_t read_at(const base::Descriptor& file, uint64_t offset, char* into, size_t length) {
    size_t done = 0;
    while (done < length) {
        const ssize_t got = pread(file.get(), into + done, length - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        done += static_cast<size_t>(got);
    }
    return done;
}

template <class T>
std::string_view bytes_from(const T& object, size_t from) {
    return {reinterpret_cast<const char*>(&object) + from, sizeof object - from};
}

}  // namespace

base::Expected<BlockReader> BlockReader::open(const std::string& path) {
    // Without O_NONBLOCK a named pipe would wait for its writer.
    base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat found {};
    if (!file || fstat(file.get(), &found) != 0) {
        return base::error(errno == ENOENT ? Error::Code::gone : Error::Code::failed,
                           "can't open " + path + ": " + std::strerror(errno));
    }
    if (!S_ISREG(found.st_mode)) {
        return base::error(Error::Code::refused, path + " is not a recording: it is not a file");
    }
    BlockReader reader(std::move(file));
    const auto size = static_cast<uint64_t>(found.st_size);
    FileHeader& header = reader.header_;
    const size_t got = read_at(reader.file_, 0, reinterpret_cast<char*>(&header), sizeof header);
    if (got == 0) {
        return base::error(Error::Code::refused, path + " is not a recording: it is empty");
    }
    if (got < sizeof header.magic || header.magic != kFileMagic) {
        return base::error(Error::Code::refused,
                           path + " is not a recording (make one with 'ttmem record -o FILE')");
    }
    if (got < sizeof header) {
        return base::error(Error::Code::refused,
                           path + " is a recording that was cut before its first block");
    }
    if (header.version != kRecordingVersion) {
        return base::error(Error::Code::refused, path + " has version " + std::to_string(header.version) +
                                                     ", this program reads " +
                                                     std::to_string(kRecordingVersion) + ": upgrade ttmem");
    }
    if (header.header_bytes < sizeof header || header.header_bytes > 4096 ||
        checksum_of({reinterpret_cast<const char*>(&header), offsetof(FileHeader, checksum)}) !=
            header.checksum) {
        return base::error(Error::Code::refused, path + " is a recording with a damaged header");
    }
    reader.find_blocks(size);
    return reader;
}

bool BlockReader::is_block_at(uint64_t offset, uint64_t size, BlockHeader& header) const {
    return offset + sizeof header <= size &&
           read_at(file_, offset, reinterpret_cast<char*>(&header), sizeof header) == sizeof header &&
           header.magic == kBlockMagic && header.stored_bytes <= kMostStoredBytes &&
           header.raw_bytes <= kMostRawBytes &&
           checksum_of(bytes_from(header, offsetof(BlockHeader, payload_checksum))) == header.header_checksum;
}

// The next place at or after `offset` where a block begins; `size` if there is none.
uint64_t BlockReader::next_block(uint64_t offset, uint64_t size) const {
    std::string buffer(kSearchBytes, '\0');
    const std::string magic(reinterpret_cast<const char*>(&kBlockMagic), sizeof kBlockMagic);
    while (offset + sizeof(BlockHeader) <= size) {
        const size_t got = read_at(file_, offset, buffer.data(), buffer.size());
        const std::string_view here(buffer.data(), got);
        for (size_t at = here.find(magic); at != std::string_view::npos; at = here.find(magic, at + 1)) {
            BlockHeader header;
            if (is_block_at(offset + at, size, header)) {
                return offset + at;
            }
        }
        if (got < magic.size()) {
            break;
        }
        offset += got - (magic.size() - 1);
    }
    return size;
}

void BlockReader::find_blocks(uint64_t size) {
    uint64_t offset = header_.header_bytes;
    while (offset < size) {
        StoredBlock block;
        if (!is_block_at(offset, size, block.header)) {
            const uint64_t next = next_block(offset + 1, size);
            (next == size ? cut_bytes_ : damaged_bytes_) += next - offset;
            offset = next;
            continue;
        }
        block.offset = offset + sizeof(BlockHeader);
        if (size - block.offset < block.header.stored_bytes) {
            cut_bytes_ += size - offset;
            return;
        }
        blocks_.push_back(block);
        offset = block.offset + block.header.stored_bytes;
    }
}

base::Expected<std::string> BlockReader::read(const StoredBlock& block) const {
    const auto damaged = [&] {
        return base::error(Error::Code::refused,
                           "block " + std::to_string(block.header.sequence) + " of the recording is damaged");
    };
    std::string stored(block.header.stored_bytes, '\0');
    if (read_at(file_, block.offset, stored.data(), stored.size()) != stored.size() ||
        checksum_of(stored) != block.header.payload_checksum) {
        return damaged();
    }
    if (block.header.compression == static_cast<uint8_t>(Compression::none)) {
        return stored;
    }
    // A hostile block claims any size: what the compressed bytes claim themselves bounds it, and zstd checks that.
    const unsigned long long claimed = ZSTD_getFrameContentSize(stored.data(), stored.size());
    if (block.header.compression != static_cast<uint8_t>(Compression::zstd) ||
        claimed != block.header.raw_bytes) {
        return damaged();
    }
    std::string raw(block.header.raw_bytes, '\0');
    const size_t length = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
    if (ZSTD_isError(length) != 0 || length != raw.size()) {
        return damaged();
    }
    return raw;
}

}  // namespace ttmem::recording
