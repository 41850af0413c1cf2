// SPDX-License-Identifier: Apache-2.0

// A recording with arbitrary content. The first byte of an input is 0: the rest is the file. Otherwise the rest is a list of blocks,
// each with its type, its process, two bytes of length and its payload, to which the right headers and checksums are added.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "recording/checksum.hpp"
#include "recording/failures.hpp"
#include "recording/format.hpp"
#include "recording/marks.hpp"
#include "recording/peaks.hpp"
#include "recording/replay.hpp"
#include "segment/read_everything_test_support.hpp"

namespace {

namespace recording = ttmem::recording;

void require(bool holds, const std::string& what) {
    if (!holds) {
        std::fprintf(stderr, "not so: %s\n", what.c_str());
        std::abort();
    }
}

template <class T>
std::string bytes_of(const T& object) {
    return {reinterpret_cast<const char*>(&object), sizeof object};
}

std::string file_of(std::string_view input) {
    recording::FileHeader file;
    file.checksum = recording::checksum_of(
        std::string_view(bytes_of(file)).substr(0, offsetof(recording::FileHeader, checksum)));
    std::string bytes = bytes_of(file);
    uint32_t sequence = 0;
    for (uint64_t time = 100; input.size() >= 4; time += 100) {
        const auto byte = [&](size_t i) { return static_cast<uint8_t>(input[i]); };
        recording::BlockHeader header;
        const bool is_summaries = (byte(0) & 32u) != 0;
        header.type = is_summaries ? static_cast<uint8_t>(recording::BlockType::summaries) : byte(0) & 7u;
        header.sequence = sequence++;
        header.process = byte(1) & 3u;
        const size_t wanted = byte(2) | static_cast<size_t>(byte(3)) << 8;
        const std::string_view payload = input.substr(4, wanted);
        header.first_ns = time;
        header.last_ns = time + 50;
        header.events = byte(1);
        header.lost = (byte(0) & 8u) != 0 ? 1 : 0;
        header.stored_bytes = header.raw_bytes = static_cast<uint32_t>(payload.size());
        header.payload_checksum = recording::checksum_of(payload);
        header.header_checksum = recording::checksum_of(
            std::string_view(bytes_of(header)).substr(offsetof(recording::BlockHeader, payload_checksum)));
        bytes += bytes_of(header);
        bytes += payload;
        input.remove_prefix(4 + payload.size());
    }
    return bytes;
}

void read_at(recording::Replay& replay, uint64_t time_ns) {
    if (!replay.move_to(time_ns)) {
        return;
    }
    const auto census = replay.census();
    if (!census) {
        return;
    }
    for (const ttmem::census::Process& process : census->processes) {
        ttmem::segment::Cursor cursor;
        const auto everything = ttmem::segment::read_everything(*process.ledger, cursor);
        require(everything.problem.empty(), everything.problem);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::string bytes = data[0] == 0 ? std::string(input) : file_of(input);
    const int file = memfd_create("fuzz", MFD_CLOEXEC);
    require(write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "the file is written");
    const auto opened = recording::Recording::open("/proc/self/fd/" + std::to_string(file));
    if (opened) {
        recording::Replay replay(*opened, ttmem::segment::kMinRingRecords);
        const uint64_t first = (*opened)->first_ns();
        const uint64_t last = (*opened)->last_ns();
        read_at(replay, last);
        read_at(replay, first);
        read_at(replay, first + (last - first) / 2);
        recording::Replay steps(*opened, ttmem::segment::kMinRingRecords);
        while (steps.step()) {
        }
        [[maybe_unused]] const auto peaks = recording::find_peaks(*opened, {}, [] { return true; });
        recording::find_failures(**opened);
        recording::find_marks(**opened);
    } else {
        require(!opened.error().text.empty(), "an error has a text");
    }
    close(file);
    return 0;
}
