// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gets views in the background, so that no key ever waits: one thread follows the status, another asks what the visible
// screen wants to know. Both poll no more often than the interval, and less often where a poll costs much. Of a recording, one thread
// moves through it and answers, and another reads its timeline.

#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "access/access.hpp"
#include "access/recording_player.hpp"
#include "base/descriptor.hpp"
#include "tui/model.hpp"
#include "tui/screen_query.hpp"

namespace ttmem::tui {

struct StatusUpdate {
    view::View view;
    std::vector<std::string> notices;
    Link link = Link::none;
};
struct LossUpdate {
    std::string why;
    uint64_t time_ns = 0;  // since the epoch
};
struct TimelineUpdate {
    access::Timeline timeline;
};
using PollerUpdate = std::variant<StatusUpdate, LossUpdate, ScreenAnswer, TimelineUpdate>;

class Poller {
public:
    Poller(access::ReadMode mode, std::chrono::milliseconds interval);
    // Plays a recording. It is paused at first.
    Poller(std::unique_ptr<access::RecordingPlayer> player, std::chrono::milliseconds interval);
    Poller(const Poller&) = delete;
    Poller& operator=(const Poller&) = delete;
    ~Poller();

    // Readable when there are updates.
    int descriptor() const;
    std::vector<PollerUpdate> take();

    // Answered at once, and repeatedly until another query comes.
    void ask(ScreenQuery query);
    void set_interval(std::chrono::milliseconds interval);
    // Of a recording: jumps if the playback has a jump, and goes on or rests from there.
    void play(const Playback& playback);

    // Ends both threads. False where one still waits for an answer after `patience`: it is left alone, and the program should
    // exit at once.
    bool stop(std::chrono::milliseconds patience);

private:
    struct Shared;

    std::shared_ptr<Shared> shared_;  // with the threads, which may outlive this
};

}  // namespace ttmem::tui
