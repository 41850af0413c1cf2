// SPDX-License-Identifier: Apache-2.0
#include "access/record.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <set>
#include <utility>

#include "access/daemon_client.hpp"
#include "access/restore_numbers.hpp"
#include "base/pidfd.hpp"
#include "base/signals.hpp"
#include "base/time.hpp"
#include "census/device_admission.hpp"
#include "recording/host_recorder.hpp"
#include "recording/recording_receiver.hpp"
#include "sources/host.hpp"
#include "sources/segments/discover.hpp"
#include "view/model/origin.hpp"
#include "view/questions/routes.hpp"

namespace ttmem::access {

using recording::HostFactsRecord;
using recording::HostRecorder;
using recording::ProcessRecorder;
using recording::RecordingWriter;

namespace {

constexpr uint64_t kDiscoveryNs = base::kNsPerSecond;
constexpr int kIdleMs = 100;  // the recording has failed

HostFactsRecord own_facts() { return {.host = view::read_here().host, .program = "ttmem", .uid = geteuid()}; }

void read_driver(census::Census& census) {
    if (const auto driver = sources::HostReader().read().driver) {
        census.driver = std::make_shared<census::Driver>(census::Driver{driver->devices, {}});
    }
}

// The processes of this host that this user may read, each until its end.
class ReadableProcesses {
public:
    // Finds new ones.
    void discover() {
        read_driver(census_);
        if (!std::exchange(has_numbers_, true)) {
            restore_numbers(census_);
        }
        for (sources::segments::AttachedSegment& attached : discovery_.scan(known_).attached) {
            known_.insert(attached.file.id);
            census_.processes.push_back(attached.process);
            handles_.push_back(std::move(attached.handle));
        }
    }

    // Returns whether a process has ended.
    bool note_ends() {
        const size_t before = handles_.size();
        for (size_t i = handles_.size(); i-- > 0;) {
            // An empty handle: it had ended before.
            if (!handles_[i] || base::has_ended(handles_[i])) {
                handles_.erase(handles_.begin() + static_cast<ptrdiff_t>(i));
                census_.processes.erase(census_.processes.begin() + static_cast<ptrdiff_t>(i));
            }
        }
        return handles_.size() != before;
    }

    const census::Census& census() const { return census_; }

private:
    sources::Proc proc_;
    sources::segments::Discovery discovery_{proc_};
    std::set<sources::segments::FileId> known_;
    census::Census census_;
    std::vector<base::Descriptor> handles_;  // of the processes of the census, in the same order
    bool has_numbers_ = false;
};

// The time of a recording, and the signals that end it before. Readable when it is over.
class RecordingEnd {
public:
    explicit RecordingEnd(std::optional<uint64_t> time_ns)
        : timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)), both_(epoll_create1(EPOLL_CLOEXEC)) {
        if (time_ns) {
            itimerspec when{};
            when.it_value.tv_sec = static_cast<time_t>(*time_ns / base::kNsPerSecond);
            when.it_value.tv_nsec = static_cast<long>(std::max<uint64_t>(*time_ns % base::kNsPerSecond, 1));
            timerfd_settime(timer_.get(), 0, &when, nullptr);
        }
        epoll_event ready{};
        ready.events = EPOLLIN;
        epoll_ctl(both_.get(), EPOLL_CTL_ADD, timer_.get(), &ready);
        epoll_ctl(both_.get(), EPOLL_CTL_ADD, signals_.get(), &ready);
    }

    RecordingEnd(const RecordingEnd&) = delete;
    RecordingEnd& operator=(const RecordingEnd&) = delete;
    // A signal that has done its work must not end the program when it is unblocked.
    ~RecordingEnd() {
        while (signals_.next()) {
        }
    }

    int get() const { return both_.get(); }
    // Waits at most this long.
    bool is_there(uint64_t wait_ms) const {
        pollfd polled{both_.get(), POLLIN, 0};
        return poll(&polled, 1, static_cast<int>(wait_ms)) > 0;
    }

private:
    base::SignalDescriptor signals_{SIGINT, SIGTERM, SIGHUP};
    base::Descriptor timer_;
    base::Descriptor both_;
};

base::Expected<void> follow_until_end(ReadableProcesses& processes, const RecordingEnd& end,
                                      RecordingWriter& writer, HostRecorder& recorder) {
    uint64_t discovered_ns = base::monotonic_ns();
    recording::ReadingPace pace;
    uint64_t wait_ms = 0;
    for (bool is_last = false; !is_last && !recorder.is_over();) {
        is_last = end.is_there(wait_ms);
        const auto events = writer.follow();
        if (!events) {
            return tl::unexpected(events.error());
        }
        wait_ms = pace.next_wait_ms(*events);
        bool has_changed = processes.note_ends();
        const uint64_t now_ns = base::monotonic_ns();
        if (now_ns - discovered_ns >= kDiscoveryNs) {
            discovered_ns = now_ns;
            processes.discover();
            has_changed = true;
        }
        if (has_changed) {
            if (auto updated = recorder.update(processes.census()); !updated) {
                return updated;
            }
        }
    }
    return writer.finish();
}

base::Expected<recording::RecorderTotals> record_directly(const RecordSettings& settings) {
    auto target = recording::FilePair::create(settings.file);
    if (!target) {
        return tl::unexpected(std::move(target.error()));
    }
    const RecordingEnd end(settings.time_ns);
    ReadableProcesses processes;
    processes.discover();
    processes.note_ends();
    const auto& found = processes.census().processes;
    if (settings.pid && std::none_of(found.begin(), found.end(), [&](const auto& process) {
            return process.identity.pid == *settings.pid;
        })) {
        return base::error(
            base::Error::Code::gone,
            "process " + std::to_string(*settings.pid) +
                " is not tracked, or may not be read by this user ('ttmem ps' lists processes)");
    }
    auto writer = RecordingWriter::create(std::move(*target));
    if (!writer) {
        return tl::unexpected(std::move(writer.error()));
    }
    HostRecorder recorder(*writer, {settings.pid, settings.devices, {}}, own_facts());
    auto done = recorder.update(processes.census());
    if (done) {
        done = follow_until_end(processes, end, *writer, recorder);
    }
    if (!done) {
        return tl::unexpected(std::move(done.error()));
    }
    return writer->totals();
}

// Error::Code::gone: no daemon runs, and nothing was written.
base::Expected<recording::RecorderTotals> record_by_daemon(const RecordSettings& settings) {
    auto target = recording::FilePair::create(settings.file);
    if (!target) {
        return tl::unexpected(std::move(target.error()));
    }
    view::RecordingQuery query{settings.pid, settings.devices, std::nullopt};
    if (settings.file.max_bytes != 0) {
        query.max_bytes = settings.file.max_bytes;
    }
    const RecordingEnd end(settings.time_ns);
    recording::RecordingReceiver receiver(**target);
    const auto done = download(
        "/v1/recording?" + view::UrlForm<view::RecordingQuery>::write(query),
        [&](std::string_view bytes) { return receiver.take(bytes); }, end.get());
    if (!done) {
        return tl::unexpected(done.error());
    }
    if (!receiver.is_finished()) {
        return base::error(base::Error::Code::failed,
                           "the daemon closed the connection early: " + settings.file.path +
                               " has what it sent until then ('--direct' records without it)");
    }
    return receiver.totals();
}

}  // namespace

base::Expected<recording::RecorderTotals> record(const RecordSettings& settings, ReadMode mode) {
    if (mode == ReadMode::daemon_first) {
        auto recorded = record_by_daemon(settings);
        if (recorded || recorded.error().code != base::Error::Code::gone) {
            return recorded;
        }
    }
    return record_directly(settings);
}

base::Expected<RecordedRun> record_run(const RecordSettings& settings, RunSettings command) {
    auto recorder = RecordingWriter::create(settings.file);
    if (!recorder) {
        return tl::unexpected(std::move(recorder.error()));
    }
    HostFactsRecord facts = own_facts();
    base::Expected<void> done =
        recorder->set_host(facts);  // of a command that is not tracked the recording has nothing else
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> numbers;  // by pid and start time
    std::set<uint32_t> ended;
    recording::ReadingPace pace;
    const auto device_ids = std::make_shared<census::DeviceIds>();
    size_t described_devices = 0;
    // A process reports its devices one after the other, so the recording may have begun before the last one.
    const auto describe_new_devices = [&](const census::Census& census) -> base::Expected<void> {
        size_t devices = 0;
        for (const census::Process& process : census.processes) {
            const auto reported = process.ledger->devices();
            devices += static_cast<size_t>(std::count_if(
                reported.begin(), reported.end(), [](const auto& device) { return device.has_value(); }));
        }
        if (devices == described_devices) {
            return {};
        }
        described_devices = devices;
        census::Census copy = census;
        copy.device_ids = device_ids;
        read_driver(copy);
        restore_numbers(copy);
        census::number_all_devices(copy);
        recording::describe_devices(copy, facts);
        return recorder->set_host(facts);
    };
    const uint64_t began_ns = base::monotonic_ns();
    bool is_over = false;
    command.watch = [&](const census::Census& census) -> int {
        uint64_t events = 0;
        const uint64_t passed_ns = base::monotonic_ns() - began_ns;
        if (is_over) {
            return kIdleMs;  // the command goes on
        }
        if (done) {
            done = describe_new_devices(census);
        }
        for (const census::Process& process : census.processes) {
            const std::pair key(process.identity.pid, process.identity.start_time);
            if (!done) {
                return kIdleMs;
            }
            auto known = numbers.find(key);
            if (known == numbers.end()) {
                const auto number = recorder->add(process, ProcessRecorder::StartState::beginning);
                if (!number) {
                    done = tl::unexpected(number.error());
                    return kIdleMs;
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
        if (!settings.time_ns) {
            return static_cast<int>(pace.next_wait_ms(events));
        }
        if (passed_ns >= *settings.time_ns) {
            is_over = true;
            done = done ? recorder->finish() : done;
            return kIdleMs;
        }
        const uint64_t left_ms = (*settings.time_ns - passed_ns) / 1'000'000 + 1;
        return static_cast<int>(std::min(pace.next_wait_ms(events), left_ms));
    };
    auto end = run(command);
    if (!end) {
        return tl::unexpected(std::move(end.error()));
    }
    if (done && !is_over) {
        done = recorder->finish();
    }
    if (!done) {
        return tl::unexpected(std::move(done.error()));
    }
    return RecordedRun{std::move(*end), recorder->totals()};
}

}  // namespace ttmem::access
