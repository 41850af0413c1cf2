// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the dashboard knows: the last status, values over time, and the answer to what the visible screen asked. Screens are
// pure functions of this and of what the user chose (tui/ui.hpp).

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tui/question.hpp"
#include "tui/tracks.hpp"

namespace ttmem::tui {

// Where the figures come from.
enum class Link : uint8_t { none, daemon, direct, lost };

struct DeviceTracks {
    Track dram;     // used bytes
    Track l1_core;  // used bytes of the worst core
    Track temperature_c;
    Track power_w;
    Track aiclk_mhz;
};

// Something that happened, for the charts.
struct Moment {
    enum class What : uint8_t { start, death, failure, gap };

    What what = What::start;
    uint64_t time_ns = 0;  // since the epoch
    uint32_t pid = 0;

    auto operator<=>(const Moment&) const = default;
};

class Model {
public:
    void take_status(view::View view, std::vector<std::string> notices, Link link);
    void lose(std::string why, uint64_t now_ns);
    void take(Answer answer);

    // Time goes on: the values of now join the tracks, unless they are stale.
    void tick(uint64_t now_ns);

    Link link() const { return link_; }
    bool is_stale() const { return link_ == Link::lost; }
    uint64_t lost_since_ns() const { return lost_since_ns_; }
    const std::string& why_lost() const { return why_lost_; }
    uint64_t now_ns() const { return now_ns_; }

    // Nothing was seen yet where this is absent.
    const std::optional<view::View>& status() const { return status_; }
    const std::vector<std::string>& notices() const { return notices_; }

    // Events that were overwritten before anybody could take them up, of all processes that are there.
    uint64_t lost_events() const;

    // The answer to that question, if it is the last one; while a new one is on its way the screen shows what it had.
    template <class View>
    const View* answer() const {
        return std::get_if<View>(&answer_.view);
    }
    const std::string& answer_key() const { return answer_.key; }
    const std::string& problem() const { return answer_.problem; }

    const std::deque<view::EventView>& events() const { return events_; }
    uint64_t events_missed() const { return events_missed_; }

    const std::map<uint32_t, DeviceTracks>& tracks() const { return tracks_; }
    const std::set<Moment>& moments() const { return moments_; }
    bool knows_past_of(uint32_t device) const { return past_of_.contains(device); }

private:
    void compare(const view::View& before, const view::View& now);
    void take_failures(const view::FailureView& view);
    void take_past(const Past& past, const std::string& key);
    void add_moment(Moment::What what, uint64_t time_ns, uint32_t pid);

    Link link_ = Link::none;
    uint64_t lost_since_ns_ = 0;
    std::string why_lost_;
    uint64_t now_ns_ = 0;
    std::optional<view::View> status_;
    std::vector<std::string> notices_;
    Answer answer_;
    std::deque<view::EventView> events_;
    uint64_t events_missed_ = 0;
    std::map<uint32_t, DeviceTracks> tracks_;
    std::set<Moment> moments_;
    std::set<uint32_t> past_of_;
};

}  // namespace ttmem::tui
