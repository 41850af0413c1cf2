// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records all processes of the host into a bounded folder, on its own thread. A disk that is full or slow stops or delays this
// recorder and nothing else: events that it could not read in time are gaps.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "daemon/record/flight_settings.hpp"
#include "daemon/watch/process_table.hpp"
#include "recording/recording_writer.hpp"
#include "view/questions/self.hpp"

namespace ttmem::daemon {

class FlightRecorder {
public:
    // The table must outlive it. `note` gets a line when the recorder stops, and when it records again.
    FlightRecorder(FlightSettings settings, const ProcessTable& process_table,
                   std::function<void(const std::string&)> note)
        : settings_(std::move(settings)), process_table_(process_table), note_(std::move(note)) {
        state_.folder = settings_.folder;
    }
    ~FlightRecorder() { stop(); }
    FlightRecorder(const FlightRecorder&) = delete;
    FlightRecorder& operator=(const FlightRecorder&) = delete;

    void start();
    // Ends the recording with a last ledger of each process.
    void stop();

    // Any thread. Absent if there is no flight recorder.
    std::optional<view::FlightRecorderView> state() const;

private:
    void run();
    // Until the recorder stops, or something fails.
    base::Expected<void> record();
    void set_problem(const std::string& why);
    void publish(const recording::RecorderTotals& totals, const recording::FlightUse& use);
    bool wait_ms(uint64_t time);

    const FlightSettings settings_;
    const ProcessTable& process_table_;
    const std::function<void(const std::string&)> note_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool is_stopping_ = false;
    view::FlightRecorderView state_;
    uint64_t past_events_ = 0;  // of recordings that have ended
    uint64_t past_lost_ = 0;
    std::thread thread_;
};

}  // namespace ttmem::daemon
