// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the blocks of one file of a recording. The file may be cut, damaged, hostile, or written at this moment.

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "recording/format.hpp"

namespace ttmem::recording {

struct StoredBlock {
    BlockHeader header;
    uint64_t offset = 0;  // of the payload
};

class BlockReader {
public:
    // Reads the headers of all blocks. Errors name the file and say what it is instead of a recording.
    static base::Expected<BlockReader> open(const std::string& path);

    const FileHeader& file_header() const { return header_; }
    const std::vector<StoredBlock>& blocks() const { return blocks_; }

    // The payload of a block, decompressed. An error if it is damaged.
    base::Expected<std::string> read(const StoredBlock& block) const;

    // Bytes that belong to no whole block, at the end and elsewhere.
    uint64_t cut_bytes() const { return cut_bytes_; }
    uint64_t damaged_bytes() const { return damaged_bytes_; }

private:
    explicit BlockReader(base::Descriptor file) : file_(std::move(file)) {}
    void find_blocks(uint64_t size);
    bool is_block_at(uint64_t offset, uint64_t size, BlockHeader& header) const;
    uint64_t next_block(uint64_t offset, uint64_t size) const;

    base::Descriptor file_;
    FileHeader header_;
    std::vector<StoredBlock> blocks_;
    uint64_t cut_bytes_ = 0;
    uint64_t damaged_bytes_ = 0;
};

}  // namespace ttmem::recording
