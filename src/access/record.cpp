// SPDX-License-Identifier: Apache-2.0
#include "access/record.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <set>
#include <utility>

#include "access/restore_numbers.hpp"
#include "base/pidfd.hpp"
#include "base/signals.hpp"
#include "base/time.hpp"
#include "census/device_admission.hpp"
#include "sources/host.hpp"
#include "sources/segments/discover.hpp"
#include "view/model/origin.hpp"

namespace ttmem::access {

using recording::ProcessRecorder;
using recording::RecordingWriter;

namespace {

constexpr uint64_t kDiscoveryNs = base::kNsPerSecond;
// A ring has 16,384 records: at a million events per second it is full after 16 ms.
constexpr int kShortestWaitMs = 4;
constexpr int kLongestWaitMs = 16;
constexpr uint64_t kBusyEvents = 2'000;  // per round: more of them shorten the wait

int next_wait_ms(int wait_ms, uint64_t events) {
    return events > kBusyEvents       ? std::max(kShortestWaitMs, wait_ms / 2)
           : events < kBusyEvents / 4 ? std::min(kLongestWaitMs, wait_ms * 2)
                                      : wait_ms;
}

// The devices of this host and of these processes, with the numbers that other views show.
recording::HostFactsRecord describe_host(census::Census& census) {
    recording::HostFactsRecord facts;
    facts.host = view::read_here().host;
    facts.program = "ttmem";
    facts.uid = geteuid();
    if (const auto driver = sources::HostReader().read().driver) {
        facts.has_driver = true;
        facts.devices = driver->devices;
        for (census::DriverDevice& device : facts.devices) {
            device.telemetry = {};
        }
        census.driver = std::make_shared<census::Driver>(census::Driver{driver->devices, {}});
    }
    restore_numbers(census);
    census::number_all_devices(census);
    for (const census::Process& process : census.processes) {
        for (const auto& device : process.ledger->devices()) {
            if (!device) {
                continue;
            }
            const census::DeviceKey key = census::key_of(*device);
            const auto id = census.device_ids->id_of(key);
            const census::DeviceNumber number{key, id.value_or(0), {}};
            if (id && std::find(facts.numbers.begin(), facts.numbers.end(), number) == facts.numbers.end()) {
                facts.numbers.push_back(number);
            }
        }
    }
    return facts;
}

bool uses_device(const census::Census& census, const census::Process& process,
                 const std::vector<uint32_t>& wanted) {
    for (const auto& device : process.ledger->devices()) {
        const auto id = device ? census.device_ids->id_of(census::key_of(*device)) : std::nullopt;
        if (id && std::find(wanted.begin(), wanted.end(), *id) != wanted.end()) {
            return true;
        }
    }
    return wanted.empty();
}

// The processes that are recorded, each until its end.
class HostRecording {
public:
    HostRecording(const RecordSettings& settings, RecordingWriter& recorder)
        : settings_(settings), recorder_(recorder) {}

    base::Expected<void> discover() {
        sources::segments::FoundSegments found = discovery_.scan(known_);
        if (found.attached.empty() && has_described_) {
            return {};
        }
        for (sources::segments::AttachedSegment& attached : found.attached) {
            known_.insert(attached.file.id);
            const uint32_t pid = attached.process.identity.pid;
            if (!settings_.pid || *settings_.pid == pid) {
                census_.processes.push_back(attached.process);
                arrived_.push_back(std::move(attached));
            }
        }
        auto done = recorder_.set_host(describe_host(census_));
        has_described_ = true;
        for (sources::segments::AttachedSegment& attached : std::exchange(arrived_, {})) {
            if (!done || !uses_device(census_, attached.process, settings_.devices)) {
                continue;
            }
            const auto number = recorder_.add(attached.process, ProcessRecorder::StartState::present);
            if (!number) {
                return tl::unexpected(number.error());
            }
            handles_.emplace(*number, RecordedHandle{std::move(attached.handle), attached.process.identity});
        }
        return done;
    }

    base::Expected<void> note_ends() {
        for (auto handle = handles_.begin(); handle != handles_.end();) {
            const base::Descriptor& process = handle->second.process;
            const census::Identity& identity = handle->second.identity;
            if (process && !base::has_ended(process)) {
                ++handle;
                continue;
            }
            std::erase_if(census_.processes, [&](const census::Process& other) {
                return other.identity.is_same_process(identity);
            });
            if (auto ended = recorder_.end(handle->first); !ended) {
                return ended;
            }
            handle = handles_.erase(handle);
        }
        return {};
    }

    // The only process that was asked for has ended.
    bool is_over() const { return settings_.pid && has_described_ && handles_.empty(); }
    bool is_empty() const { return handles_.empty(); }

private:
    struct RecordedHandle {
        base::Descriptor process;  // empty: it had ended before
        census::Identity identity;
    };

    const RecordSettings& settings_;
    RecordingWriter& recorder_;
    sources::Proc proc_;
    sources::segments::Discovery discovery_{proc_};
    std::set<sources::segments::FileId> known_;
    census::Census census_;  // the processes that are recorded
    std::vector<sources::segments::AttachedSegment> arrived_;
    std::map<uint32_t, RecordedHandle> handles_;  // by number in the recording
    bool has_described_ = false;
};

base::Expected<void> follow_until_end(const RecordSettings& settings, RecordingWriter& recorder,
                                      HostRecording& host) {
    const base::SignalDescriptor signals{SIGINT, SIGTERM, SIGHUP};
    const uint64_t start_ns = base::monotonic_ns();
    uint64_t discovered_ns = start_ns;
    int wait_ms = kShortestWaitMs;
    while (!host.is_over()) {
        const uint64_t now_ns = base::monotonic_ns();
        if (settings.time_ns && now_ns - start_ns >= *settings.time_ns) {
            break;
        }
        uint64_t left_ms = static_cast<uint64_t>(wait_ms);
        if (settings.time_ns) {
            left_ms = std::min(left_ms, (*settings.time_ns - (now_ns - start_ns)) / 1'000'000 + 1);
        }
        pollfd polled{signals.get(), POLLIN, 0};
        poll(&polled, 1, static_cast<int>(left_ms));
        const auto events = recorder.follow();
        if (!events) {
            return tl::unexpected(events.error());
        }
        wait_ms = next_wait_ms(wait_ms, *events);
        if (auto noted = host.note_ends(); !noted) {
            return noted;
        }
        if (signals.next()) {
            break;
        }
        if (now_ns - discovered_ns >= kDiscoveryNs) {
            discovered_ns = now_ns;
            if (auto found = host.discover(); !found) {
                return found;
            }
        }
    }
    return recorder.finish();
}

}  // namespace

base::Expected<recording::RecorderTotals> record(const RecordSettings& settings) {
    auto recorder = RecordingWriter::create(settings.file);
    if (!recorder) {
        return tl::unexpected(std::move(recorder.error()));
    }
    HostRecording host(settings, *recorder);
    auto done = host.discover();
    if (done && settings.pid && host.is_empty()) {
        unlink(settings.file.path.c_str());
        return base::error(
            base::Error::Code::gone,
            "process " + std::to_string(*settings.pid) +
                " is not tracked, or may not be read by this user ('ttmem ps' lists processes)");
    }
    if (done) {
        done = follow_until_end(settings, *recorder, host);
    }
    if (!done) {
        return tl::unexpected(std::move(done.error()));
    }
    return recorder->totals();
}

base::Expected<RecordedRun> record_run(const RecordSettings& settings, RunSettings command) {
    auto recorder = RecordingWriter::create(settings.file);
    if (!recorder) {
        return tl::unexpected(std::move(recorder.error()));
    }
    base::Expected<void> done;
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> numbers;  // by pid and start time
    std::set<uint32_t> ended;
    command.watch = [&](const census::Census& census) -> int {
        uint64_t events = 0;
        for (const census::Process& process : census.processes) {
            const std::pair key(process.identity.pid, process.identity.start_time);
            if (!done) {
                return kLongestWaitMs;
            }
            auto known = numbers.find(key);
            if (known == numbers.end()) {
                census::Census copy = census;
                copy.device_ids = std::make_shared<census::DeviceIds>();
                done = recorder->set_host(describe_host(copy));
                const auto number = recorder->add(process, ProcessRecorder::StartState::beginning);
                if (!number) {
                    done = tl::unexpected(number.error());
                    return kLongestWaitMs;
                }
                known = numbers.emplace(key, *number).first;
            }
            if (done && process.state == census::ProcessState::dead && ended.insert(known->second).second) {
                done = recorder->end(known->second);
            }
        }
        if (const auto followed = recorder->follow(); !followed) {
            done = tl::unexpected(followed.error());
        } else {
            events = *followed;
        }
        return next_wait_ms(kShortestWaitMs, events);
    };
    auto end = run(command);
    if (!end) {
        return tl::unexpected(std::move(end.error()));
    }
    if (done) {
        done = recorder->finish();
    }
    if (!done) {
        return tl::unexpected(std::move(done.error()));
    }
    return RecordedRun{std::move(*end), recorder->totals()};
}

}  // namespace ttmem::access
