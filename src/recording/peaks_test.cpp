// SPDX-License-Identifier: Apache-2.0
#include "recording/peaks.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "recording/event_times.hpp"
#include "recording/failures.hpp"
#include "recording/process_recorder.hpp"
#include "recording/recording_file.hpp"
#include "recording/replay.hpp"
#include "segment/clock.hpp"
#include "segment/segment_writer.hpp"

namespace ttmem::recording {

namespace {

using census::Kind;
using segment::AllocationKind;

constexpr uint32_t kSlots = 64;

// A process that writes its segment from this thread, at random.
class RandomProcess {
public:
    explicit RandomProcess(uint32_t seed) : random_(seed) {
        segment::Sizes sizes;
        sizes.writers = 1;
        const uint64_t bytes = segment::SegmentWriter::bytes_of(sizes);
        memory_.reset(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
            [bytes](void* start) { munmap(start, bytes); });
        writer_ =
            std::make_unique<segment::SegmentWriter>(static_cast<unsigned char*>(memory_.get()), sizes, 1, 1);
        segment::DeviceSet set;
        set.members = 1;
        set.opened_ticks = segment::monotonic_now();
        writer_->open_set(set);
        writer_->use_slots(kSlots);
        reader = std::make_shared<const segment::Reader>(*segment::Reader::over(memory_.get(), bytes));
    }

    void work(uint32_t events) {
        for (uint32_t i = 0; i < events; ++i) {
            const uint32_t slot = static_cast<uint32_t>(random_() % kSlots);
            if (is_live_[slot]) {
                writer_->free(slot, segment::monotonic_now());
            } else {
                segment::Allocation a;
                a.kind = static_cast<AllocationKind>(random_() % segment::kKinds);
                a.requested = a.reserved = 1 + random_() % 1000;
                a.flags = random_() % 8 == 0 ? segment::AllocationFlag::planned : segment::AllocationFlags();
                a.ticks = segment::monotonic_now();
                writer_->allocate(slot, a);
            }
            is_live_[slot] = !is_live_[slot];
        }
    }

    std::shared_ptr<const segment::Reader> reader;

private:
    std::shared_ptr<void> memory_;
    std::unique_ptr<segment::SegmentWriter> writer_;
    std::mt19937 random_;
    bool is_live_[kSlots] = {};
};

class Peaks : public testing::Test {
protected:
    Peaks() {
        std::string name = testing::TempDir() + "ttmem-peaks-XXXXXX";
        folder_ = mkdtemp(name.data());
    }
    ~Peaks() override { std::filesystem::remove_all(folder_); }
    Peaks(const Peaks&) = delete;
    Peaks& operator=(const Peaks&) = delete;

    std::string path() const { return folder_ + "/file"; }

    // Processes that begin and end at different times, each with many blocks.
    void record(uint32_t processes, uint32_t rounds) {
        const uint64_t now = segment::monotonic_now();
        auto file = BlockWriter::create(std::move(*FilePair::create({path(), true})), now, now);
        ASSERT_TRUE(file.has_value());
        std::vector<RandomProcess> work;
        for (uint32_t i = 0; i < processes; ++i) {
            work.emplace_back(i + 1);
            work.back().work(50);
        }
        std::vector<std::unique_ptr<ProcessRecorder>> recorders(processes);
        for (uint32_t round = 0; round < rounds; ++round) {
            for (uint32_t i = 0; i < processes; ++i) {
                if (round == i * rounds / 10) {
                    recorders[i] = std::make_unique<ProcessRecorder>(i + 1, work[i].reader,
                                                                     ProcessRecorder::StartState::present);
                    append_process(*file, i + 1);
                    ASSERT_TRUE(recorders[i]->write_ledger(*file));
                }
                work[i].work(40);
                if (recorders[i] == nullptr) {
                    continue;
                }
                ASSERT_TRUE(recorders[i]->follow(*file));
                if ((round + i) % 3 == 0) {
                    ASSERT_TRUE(recorders[i]->flush(*file));
                }
                if (round == rounds - 1 - i * rounds / 10) {
                    ASSERT_TRUE(recorders[i]->flush(*file));
                    ASSERT_TRUE(recorders[i]->write_summaries(*file));
                    append(*file, BlockType::end, i + 1, {});
                    recorders[i].reset();
                }
            }
        }
        append(*file, BlockType::finish, 0, {});
    }

    static void append(BlockWriter& file, BlockType type, uint32_t process, const std::string& payload) {
        const uint64_t now = segment::monotonic_now();
        ASSERT_TRUE(file.append(
            {.type = type, .process = process, .first_ns = now, .last_ns = now, .payload = payload}));
    }

    static void append_process(BlockWriter& file, uint32_t number) {
        ProcessFactsRecord facts;
        facts.identity.pid = number;
        facts.slots = kSlots;
        ByteWriter payload;
        write_facts(facts, payload);
        append(file, BlockType::process, number, payload.bytes());
    }

    std::shared_ptr<const Recording> open() const { return *Recording::open(path()); }

    static RecordedPeaks find(const std::shared_ptr<const Recording>& recording) {
        return *find_peaks(recording, {}, [] { return true; });
    }

    // Changes the file block by block.
    void edit(const std::function<bool(const BlockHeader&, std::string& payload)>& keeps) const {
        std::ifstream from(path(), std::ios::binary);
        const std::string whole{std::istreambuf_iterator<char>(from), {}};
        std::string result = whole.substr(0, sizeof(FileHeader));
        for (size_t at = sizeof(FileHeader); at < whole.size();) {
            BlockHeader header;
            std::memcpy(&header, whole.data() + at, sizeof header);
            std::string payload = whole.substr(at + sizeof header, header.stored_bytes);
            if (keeps(header, payload)) {
                result += whole.substr(at, sizeof header) + payload;
            }
            at += sizeof header + header.stored_bytes;
        }
        std::ofstream(path(), std::ios::binary | std::ios::trunc) << result;
    }

    static uint64_t used(const Replay& replay, Kind kind) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < segment::kKinds; ++i) {
            const auto part = static_cast<AllocationKind>(i);
            sum += census::kind_of(part) == kind ? replay.used(part) : 0;
        }
        return sum;
    }

    // Every peak is what a replay of every event finds.
    static void expect_right(const RecordedPeaks& peaks, const std::shared_ptr<const Recording>& recording) {
        RecordedPeaks right;
        Replay replay(recording, segment::kMinRingRecords);
        while (const auto step = replay.step()) {
            for (size_t k = 0; k < census::kKinds; ++k) {
                const uint64_t now = used(replay, static_cast<Kind>(k));
                if (now > right[k].used) {
                    right[k] = {step->time_ns, now};
                }
            }
        }
        for (size_t k = 0; k < census::kKinds; ++k) {
            EXPECT_EQ(peaks[k], right[k]) << k;
            ASSERT_GT(right[k].used, 0u);
        }
    }

    std::string folder_;
};

TEST_F(Peaks, OfOneProcessAreInTheSummaries) {
    record(1, 60);
    const auto recording = open();
    const RecordedPeaks peaks = find(recording);
    expect_right(peaks, recording);
    // What happened can't be read any more.
    edit([](const BlockHeader& header, std::string& payload) {
        if (header.type == static_cast<uint8_t>(BlockType::events) && !payload.empty()) {
            payload.back() = static_cast<char>(payload.back() + 1);
        }
        return true;
    });
    const auto damaged = open();
    EXPECT_FALSE(damaged->processes().front().blocks.back().read().has_value());
    EXPECT_EQ(find(damaged), peaks);
    EXPECT_TRUE(find_failures(*damaged).empty());
}

TEST_F(Peaks, OfSeveralProcessesAreTheHighestSums) {
    record(4, 60);
    const auto recording = open();
    expect_right(find(recording), recording);
}

TEST_F(Peaks, AStepBackOfSeveralProcessesIsTheStateOfThatMoment) {
    record(3, 30);
    const auto recording = open();
    Replay replay(recording, segment::kMinRingRecords);
    uint64_t at = recording->last_ns();
    for (uint32_t step = 0; step < 300; ++step) {
        at = previous_event_ns(*recording, at).value();
        ASSERT_TRUE(replay.move_to(at));
        if (step % 10 != 0) {
            continue;
        }
        Replay alone(recording, segment::kMinRingRecords);
        ASSERT_TRUE(alone.move_to(at));
        for (size_t k = 0; k < census::kKinds; ++k) {
            ASSERT_EQ(used(replay, static_cast<Kind>(k)), used(alone, static_cast<Kind>(k)))
                << step << " " << k;
        }
    }
}

TEST_F(Peaks, OfARecordingWithoutSummariesAreFound) {
    record(3, 60);
    const RecordedPeaks peaks = find(open());
    edit([](const BlockHeader& header, std::string&) {
        return header.type != static_cast<uint8_t>(BlockType::summaries);
    });
    const auto older = open();
    EXPECT_EQ(older->processes().front().blocks.front().summary, nullptr);
    EXPECT_EQ(find(older), peaks);
    // A recorder that was killed has written some.
    uint32_t seen = 0;
    record(3, 60);
    edit([&](const BlockHeader& header, std::string&) {
        return header.type != static_cast<uint8_t>(BlockType::summaries) || ++seen < 3;
    });
    const auto killed = open();
    expect_right(find(killed), killed);
}

TEST_F(Peaks, AReaderMayStopTheSearch) {
    record(2, 200);
    edit([](const BlockHeader& header, std::string&) {
        return header.type != static_cast<uint8_t>(BlockType::summaries);
    });
    uint32_t calls = 0;
    EXPECT_TRUE(find_peaks(open(), {}, [&] { return ++calls < 2; }).has_value());
    EXPECT_EQ(calls, 2u);
}

}  // namespace

}  // namespace ttmem::recording
