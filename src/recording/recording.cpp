// SPDX-License-Identifier: Apache-2.0
#include "recording/recording.hpp"

#include <algorithm>
#include <utility>

#include "recording/block_writer.hpp"

namespace ttmem::recording {

using base::Error;

namespace {

std::string counted(uint64_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

bool is_same_recording(const FileHeader& a, const FileHeader& b) {
    return std::equal(std::begin(a.recording_id), std::end(a.recording_id), std::begin(b.recording_id));
}

}  // namespace

base::Expected<std::shared_ptr<const Recording>> Recording::open(const std::string& path) {
    auto newest = BlockReader::open(path);
    if (!newest) {
        return tl::unexpected(std::move(newest.error()));
    }
    const auto recording = std::make_shared<Recording>();
    recording->path_ = path;
    recording->epoch_offset_ns_ = newest->file_header().epoch_offset_ns;
    recording->first_ns_ = UINT64_MAX;
    const FileHeader& header = newest->file_header();
    if (header.part != 0) {
        auto earlier = BlockReader::open(earlier_part_of(path));
        if (earlier && is_same_recording(earlier->file_header(), header) &&
            earlier->file_header().part + 1 == header.part) {
            recording->files_.push_back(std::make_unique<BlockReader>(std::move(*earlier)));
        }
    }
    recording->files_.push_back(std::make_unique<BlockReader>(std::move(*newest)));
    for (const auto& file : recording->files_) {
        recording->read_blocks(*file);
    }
    recording->first_ns_ = std::min(recording->first_ns_, recording->last_ns_);
    if (!recording->is_finished_) {
        recording->problems_.emplace_back("the recording was not ended: its last second may lack events");
    }
    const bool has_processes = !recording->processes_.empty();
    if (!has_processes && recording->host_.host.empty()) {
        return base::error(Error::Code::refused,
                           path + " is a recording that was cut before its first block");
    }
    return std::shared_ptr<const Recording>(recording);
}

RecordedProcess* Recording::find(uint32_t number) {
    const auto found = std::lower_bound(
        processes_.begin(), processes_.end(), number,
        [](const RecordedProcess& process, uint32_t wanted) { return process.number < wanted; });
    return found != processes_.end() && found->number == number ? &*found : nullptr;
}

void Recording::read_process(const BlockPlace& place) {
    const uint32_t number = place.header().process;
    const auto payload = place.read();
    if (!payload || find(number) != nullptr || processes_.size() >= kMostProcesses) {
        return;
    }
    ByteReader from(*payload);
    RecordedProcess process;
    process.number = number;
    process.facts = read_process_facts(from);
    process.first_ns = place.header().first_ns;
    if (from.is_good()) {
        const auto after =
            std::upper_bound(processes_.begin(), processes_.end(), number,
                             [](uint32_t wanted, const auto& other) { return wanted < other.number; });
        processes_.insert(after, std::move(process));
    }
}

void Recording::read_blocks(const BlockReader& file) {
    bytes_ += file.file_header().header_bytes;
    uint64_t unknown = 0;
    for (const StoredBlock& block : file.blocks()) {
        const BlockPlace place{&file, &block};
        bytes_ += sizeof(BlockHeader) + block.header.stored_bytes;
        first_ns_ = std::min(first_ns_, block.header.first_ns);
        last_ns_ = std::max(last_ns_, block.header.last_ns);
        is_finished_ = place.type() == BlockType::finish;
        RecordedProcess* process = find(block.header.process);
        switch (place.type()) {
            case BlockType::host:
                if (const auto payload = place.read()) {
                    ByteReader from(*payload);
                    host_ = read_host_facts(from);
                }
                break;
            case BlockType::process:
                read_process(place);
                break;
            case BlockType::ledger:
            case BlockType::events:
                if (process == nullptr) {
                    ++unknown;
                    break;
                }
                process->blocks.push_back(place);
                if (place.type() == BlockType::events) {
                    events_ += block.header.events;
                    lost_ += block.header.lost;
                }
                break;
            case BlockType::end:
                if (process != nullptr) {
                    process->ended_ns = block.header.last_ns;
                }
                break;
            case BlockType::finish:
                break;
        }
    }
    if (file.cut_bytes() != 0) {
        problems_.push_back("the last " + counted(file.cut_bytes(), "byte") +
                            " are not a whole block: the recording was cut there");
    }
    if (file.damaged_bytes() != 0) {
        problems_.push_back(counted(file.damaged_bytes(), "byte") + " inside the recording are damaged");
    }
    if (unknown != 0) {
        problems_.push_back(counted(unknown, "block") + " of processes whose description is damaged");
    }
}

}  // namespace ttmem::recording
