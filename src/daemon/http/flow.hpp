// SPDX-License-Identifier: Apache-2.0
#pragma once

// What waits for the reader of a stream: filled by any thread, emptied by the connection on the loop.

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace ttmem::daemon::http {

class Flow {
public:
    enum class Pushed {
        waits,  // and the connection will come for it by itself
        wakes,  // it must be told
        cut,    // too much waited already: the connection must be closed
        gone,
    };

    explicit Flow(size_t most_bytes) : most_bytes_(most_bytes) {}

    Pushed push(const std::string& text) {
        const std::lock_guard lock(mutex_);
        if (gone_) {
            return Pushed::gone;
        }
        // What counts is what waited before: a single long text, as the first view is, must get through.
        if (waiting_.size() + in_flight_ > most_bytes_) {
            end_locked();
            return Pushed::cut;
        }
        waiting_ += text;
        return std::exchange(busy_, true) ? Pushed::waits : Pushed::wakes;
    }

    // All that waits; nothing where nothing does, and then the next push wakes.
    std::optional<std::string> take() {
        const std::lock_guard lock(mutex_);
        in_flight_ = waiting_.size();
        busy_ = !waiting_.empty();
        return busy_ ? std::optional(std::exchange(waiting_, {})) : std::nullopt;
    }

    void end() {
        const std::lock_guard lock(mutex_);
        end_locked();
    }

private:
    void end_locked() {
        gone_ = true;
        waiting_ = {};
    }

    const size_t most_bytes_;
    std::mutex mutex_;
    std::string waiting_;
    size_t in_flight_ = 0;
    bool busy_ = true;  // until the connection has sent its header
    bool gone_ = false;
};

}  // namespace ttmem::daemon::http
