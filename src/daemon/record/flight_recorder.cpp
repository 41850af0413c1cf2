// SPDX-License-Identifier: Apache-2.0
#include "daemon/record/flight_recorder.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <utility>

#include "base/time.hpp"
#include "recording/host_recorder.hpp"
#include "view/model/origin.hpp"

namespace ttmem::daemon {

namespace {

constexpr uint64_t kRetryMs = 5'000;  // after a failure, such as a full disk

}  // namespace

void FlightRecorder::start() {
    if (!settings_.folder.empty()) {
        thread_ = std::thread([this] { run(); });
    }
}

void FlightRecorder::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

std::optional<view::FlightRecorderView> FlightRecorder::state() const {
    const std::lock_guard lock(mutex_);
    return settings_.folder.empty() ? std::nullopt : std::optional(state_);
}

bool FlightRecorder::wait_ms(uint64_t time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::milliseconds(time), [this] { return is_stopping_; });
}

void FlightRecorder::set_problem(const std::string& why) {
    bool is_new = false;
    {
        const std::lock_guard lock(mutex_);
        is_new = state_.problem != why;
        past_events_ = state_.events;
        past_lost_ = state_.events_lost;
        state_.is_recording = false;
        state_.problem = why;
        state_.failures += is_new ? 1u : 0u;
    }
    if (is_new) {
        note_("! the flight recorder has stopped, and tries again: " + why);
    }
}

void FlightRecorder::publish(const recording::RecorderTotals& totals, const recording::FlightUse& use) {
    bool is_back = false;
    {
        const std::lock_guard lock(mutex_);
        is_back = !std::exchange(state_.problem, {}).empty();
        state_.is_recording = true;
        state_.files = use.files;
        state_.bytes = use.bytes;
        state_.events = past_events_ + totals.events;
        state_.events_lost = past_lost_ + totals.lost;
    }
    if (is_back) {
        note_("the flight recorder records again into " + settings_.folder);
    }
}

void FlightRecorder::run() {
    pthread_setname_np(pthread_self(), "flight");
    do {
        try {
            if (const auto recorded = record(); !recorded) {
                set_problem(recorded.error().text);
            }
        } catch (const std::exception& problem) {
            set_problem(problem.what());  // because memory ran out
        }
    } while (wait_ms(kRetryMs));
}

base::Expected<void> FlightRecorder::record() {
    auto opened = recording::FlightFolder::open(settings_.folder, settings_.limits);
    if (!opened) {
        return tl::unexpected(std::move(opened.error()));
    }
    const recording::FlightFolder& folder = **opened;
    auto writer = recording::RecordingWriter::create(std::move(*opened));
    if (!writer) {
        return tl::unexpected(std::move(writer.error()));
    }
    recording::HostRecorder host(
        *writer, {},
        {.host = view::read_here().host, .program = "ttmemd", .uid = static_cast<uint32_t>(geteuid())});
    recording::ReadingPace pace;
    uint64_t updated_ns = 0;
    uint64_t wait = 0;
    do {
        if (const uint64_t now_ns = base::monotonic_ns();
            now_ns - updated_ns >= recording::HostRecorder::kUpdateNs) {
            updated_ns = now_ns;
            if (auto updated = host.update(process_table_.census()); !updated) {
                return updated;
            }
            publish(writer->totals(), folder.use());
        }
        const auto events = writer->follow();
        if (!events) {
            return tl::unexpected(events.error());
        }
        wait = pace.next_wait_ms(*events);
    } while (wait_ms(wait));
    return writer->finish();
}

}  // namespace ttmem::daemon
