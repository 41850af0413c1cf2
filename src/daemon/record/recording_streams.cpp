// SPDX-License-Identifier: Apache-2.0
#include "daemon/record/recording_streams.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/time.hpp"
#include "daemon/record/stream_target.hpp"
#include "recording/host_recorder.hpp"
#include "view/model/origin.hpp"

namespace ttmem::daemon {

using http::Response;
using http::StreamWriter;

void RecordingStreams::begin(std::shared_ptr<http::Responder> responder, User user,
                             const Permissions& permissions, const view::RecordingQuery& query) {
    join_ended();
    if (!budgets_->take(Budget::recordings, user)) {
        return responder->send(Response::error(
            view::ApiError::busy, "this user records too much at once: at most " +
                                      std::to_string(budgets_->limit(Budget::recordings).per_user) +
                                      " recordings through the daemon ('--direct' bypasses it)"));
    }
    tasks_.push_back({std::move(responder), user, permissions, query, false, {}});
    RecordingTask& task = tasks_.back();
    try {
        task.thread = std::thread([this, &task] { run(task); });
    } catch (...) {
        budgets_->give_back(Budget::recordings, user);
        tasks_.pop_back();  // its responder sends an error
        throw;
    }
}

void RecordingStreams::join_ended() {
    for (auto task = tasks_.begin(); task != tasks_.end();) {
        bool is_done = false;
        {
            const std::lock_guard lock(mutex_);
            is_done = task->is_done;
        }
        if (is_done) {
            task->thread.join();
        }
        task = is_done ? tasks_.erase(task) : std::next(task);
    }
}

void RecordingStreams::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    changed_.notify_all();
    for (RecordingTask& task : tasks_) {
        task.thread.join();
    }
    tasks_.clear();
}

bool RecordingStreams::wait_ms(uint64_t time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::milliseconds(time), [this] { return is_stopping_; });
}

void RecordingStreams::run(RecordingTask& task) {
    pthread_setname_np(pthread_self(), "record");
    try {
        // An error ends the stream without its finish block, which the client notices.
        [[maybe_unused]] const auto recorded = record(task);
    } catch (...) {
        // Out of memory: the same.
    }
    task.responder = nullptr;
    budgets_->give_back(Budget::recordings, task.user);
    const std::lock_guard lock(mutex_);
    task.is_done = true;
}

base::Expected<void> RecordingStreams::record(RecordingTask& task) {
    census::Census now = process_table_.census();
    const auto& pid = task.query.pid;
    if (pid && std::none_of(now.processes.begin(), now.processes.end(),
                            [&](const auto& process) { return process.identity.pid == *pid; })) {
        task.responder->send(Response::error(
            view::ApiError::not_found,
            "process " + std::to_string(*pid) + " is not tracked ('ttmem ps' lists processes)"));
        return {};
    }
    auto target = std::make_unique<StreamTarget>(task.query.max_bytes);
    StreamTarget& written = *target;
    auto writer = recording::RecordingWriter::create(std::move(target));
    if (!writer) {
        return tl::unexpected(std::move(writer.error()));
    }
    recording::RecordingScope scope{pid, task.query.device,
                                    [&task](uint32_t uid) { return task.permissions.may_see(uid); }};
    recording::HostRecorder host(
        *writer, std::move(scope),
        {.host = view::read_here().host, .program = "ttmemd", .uid = static_cast<uint32_t>(geteuid())});
    const auto stream = std::exchange(task.responder, nullptr)->begin_stream(http::StreamKind::download);
    recording::ReadingPace pace;
    uint64_t updated_ns = 0;
    uint64_t wait = 0;
    do {
        const StreamWriter::Readiness readiness = stream->readiness();
        const bool is_last = stream->is_end_wanted() || host.is_over();
        if (readiness == StreamWriter::Readiness::gone) {
            return {};
        }
        uint64_t events = 0;
        if (is_last || readiness == StreamWriter::Readiness::ready) {
            if (const uint64_t now_ns = base::monotonic_ns();
                is_last || now_ns - updated_ns >= recording::HostRecorder::kUpdateNs) {
                updated_ns = now_ns;
                if (auto updated = host.update(process_table_.census()); !updated) {
                    return updated;
                }
            }
            const auto followed = writer->follow();
            if (!followed) {
                return tl::unexpected(followed.error());
            }
            events = *followed;
            if (is_last) {
                if (auto finished = writer->finish(); !finished) {
                    return finished;
                }
            }
            if (!stream->push(std::make_shared<const std::string>(written.take())) || is_last) {
                return {};
            }
        }
        wait = pace.next_wait_ms(events);
    } while (wait_ms(wait));
    return {};
}

}  // namespace ttmem::daemon
