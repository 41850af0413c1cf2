// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of a recording, which docs/RECORDING_FORMAT.md describes for other readers.
//
//     +-------------+ 0
//     | file header |   magic, version, identity of the recording, clock
//     +-------------+ 64
//     | block       |   header of 64 bytes: checksums, type, process, sizes, times, events
//     |             |   payload, compressed
//     +-------------+
//     | block       |   each block can be read without the ones before it, given the ledger of its process
//     +-------------+
//     | ...         |
//
// A block is appended by one write, and nothing before it ever changes. So a file that was cut at any byte has all blocks before
// the cut, and the last one fails its checksum.

#include <cstddef>
#include <cstdint>

namespace ttmem::recording {

constexpr uint64_t kFileMagic = 0x4345'524d'454d'5454;  // "TTMEMREC"
constexpr uint32_t kBlockMagic = 0x4b42'4d54;           // "TMBK"

// Raised when a reader of the version before would misread the file. New types of blocks, new table changes and new bytes at the
// end of a payload do not raise it: readers skip what they do not know.
constexpr uint32_t kRecordingVersion = 1;

struct FileHeader {
    uint64_t magic = kFileMagic;
    uint32_t version = kRecordingVersion;
    uint32_t header_bytes = 64;
    uint64_t recording_id[2] = {};  // random: parts of one recording have the same
    uint64_t part = 0;              // from 0
    uint64_t started_ns = 0;        // of the recording, monotonic
    uint64_t epoch_offset_ns = 0;   // a time since the epoch is the monotonic time plus this, modulo 2^64
    uint32_t unused = 0;
    uint32_t checksum = 0;  // of the bytes before
};
static_assert(sizeof(FileHeader) == 64 && offsetof(FileHeader, checksum) == 60);

enum class BlockType : uint8_t {
    host = 1,       // the host, its driver's devices and the numbers of devices
    process = 2,    // who a process is
    ledger = 3,     // everything that a process held
    events = 4,     // what happened in a process since the block before
    end = 5,        // the process has ended
    finish = 6,     // the recording ended on purpose
    totals = 7,     // what a process of another user held, in sums
    summaries = 8,  // what the ledgers and events of a process have, in a few numbers per block
};

enum class Compression : uint8_t { none = 0, zstd = 1 };

struct BlockHeader {
    uint32_t magic = kBlockMagic;
    uint32_t header_checksum = 0;   // of the bytes 8 to 63
    uint32_t payload_checksum = 0;  // of the payload as stored
    uint8_t type = 0;
    uint8_t compression = 0;
    uint16_t unused = 0;
    uint32_t process = 0;       // its number in the recording, from 1; 0: the host
    uint32_t sequence = 0;      // of the block in its file, from 0
    uint32_t stored_bytes = 0;  // of the payload
    uint32_t raw_bytes = 0;     // of the payload when it is decompressed
    uint64_t first_ns = 0;      // monotonic
    uint64_t last_ns = 0;
    uint64_t events = 0;  // in this block
    uint64_t lost = 0;    // events of the process that were lost since the block before
};
static_assert(sizeof(BlockHeader) == 64 && offsetof(BlockHeader, stored_bytes) == 24);
static_assert(offsetof(BlockHeader, first_ns) == 32 && offsetof(BlockHeader, lost) == 56);

// Limits of a reader. A file that exceeds them is damaged or hostile.
constexpr uint32_t kMostRawBytes = 1u << 30;
constexpr uint32_t kMostStoredBytes = 1u << 30;
constexpr uint32_t kMostProcesses = 65'536;

// Events wait for their block at most this long. A crash of the recorder loses no more.
constexpr uint64_t kLongestWaitNs = 1'000'000'000;

// Times of events are multiples of this after the first time of their block.
constexpr uint64_t kTimeUnitNs = 16;

// What a change of the tables is about: the regions of a segment by their number, and these.
enum class TableId : uint8_t {
    devices = 0,
    sets = 1,
    core_sets = 2,
    pools = 3,  // the peak of a pool
    names = 5,
    failures = 6,
    cards = 10,
    marks = 12,
    inexact = 32,         // a counter of segment::Inexact
    failure_totals = 33,  // by type
    pool_totals = 34,     // the counters of a pool, in blocks of totals
};

}  // namespace ttmem::recording
