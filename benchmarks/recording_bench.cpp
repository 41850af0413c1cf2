// SPDX-License-Identifier: Apache-2.0

// Recordings: bytes and processor time per event, and the time to find and show moments of 10 million events. Processes allocate and
// free as a transformer does (the same tensors in every step), or at random; the recorder reads their events every few thousand.

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "recording/event_times.hpp"
#include "recording/failures.hpp"
#include "recording/marks.hpp"
#include "recording/moment.hpp"
#include "recording/recording_writer.hpp"
#include "recording/replay.hpp"
#include "segment/segment_writer.hpp"

namespace ttmem::recording {
namespace {

constexpr uint64_t kEventsPerScan = 8'192;  // what a recorder finds after 8 ms at a million events per second
constexpr uint64_t kEventsToSeek = 10'000'000;

enum class Pattern : int64_t { transformer, random };

// A process that writes its segment from this thread.
class RecordedWorkload {
public:
    explicit RecordedWorkload(Pattern pattern) : pattern_(pattern) {
        sizes_.writers = 1;
        sizes_.slots = 1u << 17;
        bytes_ = segment::SegmentWriter::bytes_of(sizes_);
        memory_.reset(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
            [bytes = bytes_](void* start) { munmap(start, bytes); });
        writer_ = std::make_unique<segment::SegmentWriter>(static_cast<unsigned char*>(memory_.get()), sizes_,
                                                           1, 1);
        ttmem_device_info device{};
        device.asic_id = 1;
        writer_->add_device(device);
        for (uint32_t layer = 0; layer < 32; ++layer) {
            const uint32_t scope = writer_->add_name("layer." + std::to_string(layer));
            for (const char* op : {"matmul", "softmax", "add", "layernorm"}) {
                names_.push_back(writer_->add_name(op, scope));
            }
        }
        segment::DeviceSet set;
        set.members = 1;
        set.opened_ticks = base::monotonic_ns();
        writer_->open_set(set);
        writer_->use_slots(sizes_.slots);
        for (uint32_t slot = 0; slot < (pattern == Pattern::random ? 50'000u : 128u); ++slot) {
            allocate(slot);
        }
    }

    // Frees one allocation and makes another, repeatedly.
    void work(uint64_t events) {
        for (uint64_t done = 0; done < events; done += 2) {
            const uint32_t slot =
                pattern_ == Pattern::random ? static_cast<uint32_t>(random_() % 50'000) : next_++ % 128;
            writer_->free(slot, base::monotonic_ns());
            allocate(slot);
        }
    }

    census::Process process() const {
        return {census::Identity{}, census::ProcessState::live,
                *segment::Reader::over(memory_.get(), bytes_)};
    }

private:
    void allocate(uint32_t slot) {
        segment::Allocation a;
        const bool is_random = pattern_ == Pattern::random;
        const size_t op = is_random ? random_() % names_.size() : slot % names_.size();
        a.name = names_[op];
        a.requested = is_random ? 1 + random_() % (1u << 24) : uint64_t{4096} * (1 + op % 7);
        a.reserved = (a.requested + 2047) / 2048 * 2048;
        a.address = is_random ? random_() % (uint64_t{1} << 30) / 32 * 32 : uint64_t{slot} * 65'536;
        a.owner = ++owner_;
        a.thread = 1;
        a.ticks = base::monotonic_ns();
        writer_->allocate(slot, a);
    }

    Pattern pattern_;
    segment::Sizes sizes_;
    uint64_t bytes_ = 0;
    std::shared_ptr<void> memory_;
    std::unique_ptr<segment::SegmentWriter> writer_;
    std::vector<uint32_t> names_;
    std::mt19937_64 random_{1};
    uint32_t next_ = 0;
    uint64_t owner_ = 0;
};

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "ttmem-bench-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }

    std::string file() const { return path_ + "/recording"; }

private:
    std::string path_;
};

// What is not so ends the benchmark.
template <class T>
T require(base::Expected<T> result) {
    if (!result) {
        throw std::runtime_error(result.error().text);
    }
    if constexpr (!std::is_void_v<T>) {
        return std::move(*result);
    }
}

// Items per second are events per second of one core that does nothing but record.
void record_events(benchmark::State& state) {
    RecordedWorkload workload(static_cast<Pattern>(state.range(0)));
    const TemporaryFolder folder;
    RecordingWriter writer = require(RecordingWriter::create({folder.file()}));
    require(writer.add(workload.process(), ProcessRecorder::StartState::present));
    for (auto _ : state) {
        state.PauseTiming();
        workload.work(kEventsPerScan);
        state.ResumeTiming();
        require(writer.follow());
    }
    require(writer.finish());
    const RecorderTotals totals = writer.totals();
    state.SetItemsProcessed(static_cast<int64_t>(totals.events));
    state.counters["bytes_per_event"] =
        static_cast<double>(totals.bytes) / static_cast<double>(totals.events);
    state.counters["lost"] = static_cast<double>(totals.lost);
}
BENCHMARK(record_events)->ArgName("random")->Arg(0)->Arg(1);

// A recording of 10 million events, made once per pattern and number of processes.
std::string large_recording(Pattern pattern, int64_t processes) {
    static std::map<std::pair<Pattern, int64_t>, TemporaryFolder> recordings;
    const auto [found, is_new] = recordings.try_emplace({pattern, processes});
    if (is_new) {
        RecordingWriter writer = require(RecordingWriter::create({found->second.file()}));
        std::vector<RecordedWorkload> workloads;
        for (int64_t i = 0; i < processes; ++i) {
            workloads.emplace_back(pattern);
            require(writer.add(workloads.back().process(), ProcessRecorder::StartState::present));
        }
        for (uint64_t events = 0; events < kEventsToSeek; events += kEventsPerScan) {
            workloads[events / kEventsPerScan % workloads.size()].work(kEventsPerScan);
            require(writer.follow());
        }
        require(writer.finish());
    }
    return found->second.file();
}

std::string large_recording(const benchmark::State& state) {
    return large_recording(static_cast<Pattern>(state.range(0)), state.range(1));
}

void arguments_of_large(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgNames({"random", "processes"})->Unit(benchmark::kMillisecond);
    for (const int64_t processes : {1, 2, 16}) {
        benchmark->Args({0, processes})->Args({1, processes});
    }
}

void show_moment(benchmark::State& state) {
    const std::string path = large_recording(state);
    std::mt19937_64 random(1);
    uint64_t longest_ns = 0;
    for (auto _ : state) {
        const uint64_t began_ns = base::monotonic_ns();
        const auto recording = require(Recording::open(path));
        Replay replay(recording);
        const uint64_t span_ns = recording->last_ns() - recording->first_ns();
        require(replay.move_to(recording->first_ns() + random() % span_ns));
        benchmark::DoNotOptimize(require(replay.census()));
        longest_ns = std::max(longest_ns, base::monotonic_ns() - began_ns);
    }
    state.counters["worst_ms"] = static_cast<double>(longest_ns) / 1e6;
}
BENCHMARK(show_moment)->Apply(arguments_of_large);

// As `--at peak:dram` does.
void show_peak(benchmark::State& state) {
    const std::string path = large_recording(state);
    for (auto _ : state) {
        const auto recording = require(Recording::open(path));
        Replay replay(recording);
        require(replay.move_to(require(find_moment(recording, "peak:dram"))));
        benchmark::DoNotOptimize(require(replay.census()));
    }
}
BENCHMARK(show_peak)->Apply(arguments_of_large);

// All failures and marks, as the timeline has them and `--at failure:1` and `--at mark:NAME` search them.
void find_points(benchmark::State& state) {
    const std::string path = large_recording(state);
    for (auto _ : state) {
        const auto recording = require(Recording::open(path));
        benchmark::DoNotOptimize(find_failures(*recording));
        benchmark::DoNotOptimize(find_marks(*recording));
    }
}
BENCHMARK(find_points)->Apply(arguments_of_large);

// From the end, one event after another.
void step_back(benchmark::State& state) {
    const auto recording = require(Recording::open(large_recording(state)));
    Replay replay(recording);
    require(replay.move_to(recording->last_ns()));
    for (auto _ : state) {
        require(replay.move_to(previous_event_ns(*recording, replay.now_ns()).value()));
        benchmark::DoNotOptimize(require(replay.census()));
    }
}
BENCHMARK(step_back)->Apply(arguments_of_large);

}  // namespace
}  // namespace ttmem::recording
