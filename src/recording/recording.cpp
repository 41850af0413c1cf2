// SPDX-License-Identifier: Apache-2.0
#include "recording/recording.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "recording/flight_folder.hpp"
#include "recording/recording_file.hpp"

namespace ttmem::recording {

using base::Error;

namespace {

bool is_part_before(const FileHeader& earlier, const FileHeader& later) {
    return std::equal(std::begin(earlier.recording_id), std::end(earlier.recording_id),
                      std::begin(later.recording_id)) &&
           earlier.part + 1 == later.part;
}

}  // namespace

base::Expected<void> Recording::add_file(const std::string& path) {
    auto newest = BlockReader::open(path);
    if (!newest) {
        return tl::unexpected(std::move(newest.error()));
    }
    const FileHeader& header = newest->file_header();
    if (header.part != 0) {
        auto earlier = BlockReader::open(earlier_part_of(path));
        if (earlier && is_part_before(earlier->file_header(), header)) {
            files_.push_back(std::make_unique<BlockReader>(std::move(*earlier)));
        }
    }
    files_.push_back(std::make_unique<BlockReader>(std::move(*newest)));
    return {};
}

base::Expected<void> Recording::add_folder(const std::string& path, size_t earlier) {
    const std::vector<std::filesystem::path> found = flight_files(path);
    size_t passed = 0;  // newer recordings
    for (size_t i = found.size(); i-- > 0;) {
        auto file = BlockReader::open(found[i].string());
        if (!file && files_.empty()) {
            // Its header was not written yet, or it is damaged: an earlier one may be good.
            problems_.push_back(file.error().text);
            continue;
        }
        if (!file ||
            (!files_.empty() && !is_part_before(file->file_header(), files_.front()->file_header()))) {
            if (passed == earlier) {
                break;
            }
            ++passed;
            files_.clear();
            problems_.clear();
        }
        if (file) {
            files_.insert(files_.begin(), std::make_unique<BlockReader>(std::move(*file)));
        }
    }
    if (passed < earlier) {
        return base::error(Error::Code::gone, path + " has no earlier recording");
    }
    if (files_.empty()) {
        return base::error(
            Error::Code::refused,
            path + " is a folder without a recording of 'ttmemd --record', or it can't be read");
    }
    return {};
}

base::Expected<std::shared_ptr<const Recording>> Recording::open(const std::string& path, size_t earlier) {
    const auto recording = std::make_shared<Recording>();
    recording->path_ = path;
    std::error_code problem;
    const bool is_folder = std::filesystem::is_directory(path, problem);
    if (!is_folder && earlier != 0) {
        return base::error(Error::Code::gone, path + " is one recording");
    }
    if (auto added = is_folder ? recording->add_folder(path, earlier) : recording->add_file(path); !added) {
        return tl::unexpected(std::move(added.error()));
    }
    recording->epoch_offset_ns_ = recording->files_.back()->file_header().epoch_offset_ns;
    recording->first_ns_ = UINT64_MAX;
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

// They are about blocks before this one in the same file, and in the same order.
void Recording::read_summaries(const BlockPlace& place, RecordedProcess& process) {
    const auto payload = place.read();
    if (!payload) {
        return;
    }
    ByteReader from(*payload);
    std::vector<BlockSummary> found = recording::read_summaries(from);
    auto block = process.blocks.rbegin();
    for (auto summary = found.rbegin(); summary != found.rend(); ++summary) {
        const auto is_later = [&](const BlockPlace& other) {
            return other.file == place.file && other.header().sequence > summary->sequence;
        };
        block = std::find_if_not(block, process.blocks.rend(), is_later);
        if (block == process.blocks.rend() || block->file != place.file) {
            return;
        }
        if (block->header().sequence == summary->sequence) {
            block->summary = &summaries_.emplace_back(std::move(*summary));
        }
    }
}

// Of which process they were is not known.
void Recording::note_missing(uint64_t blocks) {
    for (RecordedProcess& process : processes_) {
        process.missing_at_end += process.ended_ns ? 0 : blocks;
    }
}

void Recording::read_blocks(const BlockReader& file) {
    bytes_ += file.file_header().header_bytes;
    uint64_t unknown = 0;
    uint32_t expected = 0;
    for (const StoredBlock& block : file.blocks()) {
        if (block.header.sequence != expected) {
            note_missing(1);
        }
        expected = block.header.sequence + 1;
        BlockPlace place{&file, &block};
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
            case BlockType::totals:
            case BlockType::events:
                if (process == nullptr) {
                    ++unknown;
                    break;
                }
                place.missing_before = std::exchange(process->missing_at_end, 0);
                process->blocks.push_back(place);
                if (place.type() == BlockType::events) {
                    events_ += block.header.events;
                    lost_ += block.header.lost;
                }
                break;
            case BlockType::summaries:
                if (process != nullptr) {
                    read_summaries(place, *process);
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
        problems_.push_back("the recording was cut: its last block lacks its end (" +
                            base::format_count(file.cut_bytes(), "byte", "bytes") + ")");
    }
    if (file.damaged_bytes() != 0) {
        problems_.push_back(base::format_count(file.damaged_bytes(), "byte inside the recording is",
                                               "bytes inside the recording are") +
                            " damaged");
    }
    if (unknown != 0) {
        problems_.push_back(base::format_count(unknown, "block", "blocks") +
                            " of processes whose description is damaged");
    }
}

}  // namespace ttmem::recording
