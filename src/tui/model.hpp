// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the dashboard knows: the last status, values over time, and the answer to what the visible screen asked. Screens are
// pure functions of this and of what the user selected (tui/ui.hpp).

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "access/timeline.hpp"
#include "tui/screen_query.hpp"
#include "tui/tracks.hpp"

namespace ttmem::tui {

// Where the figures come from.
enum class Link : uint8_t { none, daemon, direct, lost, recording };

// Into how many parts the time of a recording is divided, for the timeline and the charts.
constexpr size_t kTimelineParts = 512;

struct DeviceTracks {
    Track dram;     // used bytes
    Track l1_core;  // used bytes of the worst core
    Track temperature_c;
    Track power_w;
    Track aiclk_mhz;
};

// Something that happened, for the charts.
struct ChartMark {
    enum class Cause : uint8_t { start, death, failure, gap };

    Cause cause = Cause::start;
    uint64_t time_ns = 0;  // since the epoch
    uint32_t pid = 0;

    auto operator<=>(const ChartMark&) const = default;
};

class Model {
public:
    void take_status(view::View view, std::vector<std::string> notices, Link link);
    void set_disconnected(std::string why, uint64_t now_ns);
    void take(ScreenAnswer answer);
    void take(access::Timeline timeline);

    // Adds the current values to the tracks, unless they are stale.
    void tick(uint64_t now_ns);

    Link link() const { return link_; }
    // The figures are not those of now: nobody could be asked.
    bool is_stale() const;
    uint64_t lost_since_ns() const;
    std::string why_lost() const;
    // A daemon ran, and has ended.
    bool has_lost_daemon() const { return has_lost_daemon_; }
    uint64_t now_ns() const { return now_ns_; }

    // Absent: nothing was read yet.
    const std::optional<view::View>& status() const { return status_; }
    const std::vector<std::string>& notices() const { return notices_; }

    // Of a recording that is shown instead of the host; absent: the host is shown. As much of it as has been read.
    const std::optional<access::Timeline>& timeline() const { return timeline_; }
    bool is_recording() const { return timeline_.has_value(); }
    // The moment that is shown, on the monotonic clock of the recorded host.
    uint64_t position_ns() const {
        return status_ ? now_ns_ - timeline_->epoch_offset_ns : timeline_->first_ns;
    }
    // Used bytes of a device until this moment, as Track::columns().
    enum class RecordedValue : uint8_t { dram, l1_core };
    std::vector<std::optional<double>> recorded(RecordedValue value, uint32_t device, uint64_t from_ns,
                                                uint64_t to_ns, size_t count) const;

    // Events that were overwritten before the daemon read them, of all processes of the status.
    uint64_t lost_events() const;

    // The last answer, if it is such a view. While the next one is on its way the screen shows this one.
    template <class View>
    const View* answer() const {
        return std::get_if<View>(&answer_.view);
    }
    const ScreenQuery& answered_query() const { return answer_.query; }
    const std::string& problem() const { return answer_.problem; }

    const std::deque<view::EventView>& events() const { return events_; }
    uint64_t events_missed() const { return events_missed_; }
    uint64_t events_hidden() const { return events_hidden_; }  // of other users

    const std::map<uint32_t, DeviceTracks>& tracks() const { return tracks_; }
    const std::set<ChartMark>& marks() const { return marks_; }
    // False again after a while: the daemon may have stopped keeping its history.
    bool knows_past_of(uint32_t device) const;
    // Why the history is not on the disk; absent if it is.
    const std::optional<census::Inexactness>& unkept_history() const { return unkept_history_; }

private:
    void take_moment(view::View view, std::vector<std::string> notices);
    void compare(const view::View& before, const view::View& now);
    void take_failures(const view::FailureView& view);
    void take_past(const DevicePastView& past, uint32_t device);
    void note_history(const std::vector<census::Inexactness>& reasons);
    void take_events(view::EventsView& events);
    void add_mark(ChartMark::Cause cause, uint64_t time_ns, uint32_t pid);

    Link link_ = Link::none;
    bool has_lost_daemon_ = false;
    uint64_t lost_since_ns_ = 0;
    std::string why_lost_;
    uint64_t now_ns_ = 0;
    std::optional<view::View> status_;
    std::vector<std::string> notices_;
    ScreenAnswer answer_;
    std::deque<view::EventView> events_;
    uint64_t events_missed_ = 0;
    uint64_t events_hidden_ = 0;
    std::map<uint32_t, DeviceTracks> tracks_;
    std::set<ChartMark> marks_;
    std::map<uint32_t, uint64_t> past_of_;  // by device, when it was asked for
    std::optional<census::Inexactness> unkept_history_;
    std::optional<access::Timeline> timeline_;
};

}  // namespace ttmem::tui
