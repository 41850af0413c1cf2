// SPDX-License-Identifier: Apache-2.0

// What the keys of a recording do.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "tui/key_actions.hpp"
#include "view/text/format.hpp"

namespace ttmem::tui {

namespace {

using access::Timeline;
using access::TimelinePoint;

constexpr uint64_t kSkips = 20;  // in a whole recording

AppRequest jump_to(Ui& ui, uint64_t time_ns) {
    ui.jump = PlaybackJump{PlaybackJump::JumpTarget::moment, time_ns};
    return AppRequest::play;
}

AppRequest rest_at(Ui& ui, uint64_t time_ns) {
    ui.is_playing = false;
    return jump_to(ui, time_ns);
}

AppRequest step(Ui& ui, PlaybackJump::JumpTarget target) {
    ui.is_playing = false;
    ui.jump = PlaybackJump{target, 0};
    return AppRequest::play;
}

AppRequest change_speed(Ui& ui, bool is_faster) {
    ui.speed =
        is_faster ? std::min(ui.speed + 1, kSpeeds.size() - 1) : ui.speed - std::min<size_t>(ui.speed, 1);
    return AppRequest::play;
}

// That peaks and points are not known yet; empty if they are.
std::string unread_text(const Timeline& timeline) {
    return timeline.has_moments ? "" : " yet: the recording is being read.";
}

// The next one for the small letter, the previous one for the capital letter.
AppRequest go_to_point(const KeyPress& press, TimelinePoint::PointType type, bool is_next,
                       const std::string& name) {
    const Timeline& timeline = *press.model.timeline();
    const uint64_t now = press.model.position_ns();
    std::vector<const TimelinePoint*> all;
    for (const TimelinePoint& point : timeline.points) {
        if (point.type == type) {
            all.push_back(&point);
        }
    }
    const TimelinePoint* found = nullptr;
    for (const TimelinePoint* point : all) {
        if (is_next ? found == nullptr && point->time_ns > now : point->time_ns < now) {
            found = point;
        }
    }
    const std::string unread = unread_text(timeline);
    if (all.empty()) {
        press.ui.message = fmt::format("There is no {}{}", name, unread.empty() ? "." : unread);
        return AppRequest::none;
    }
    if (found == nullptr) {
        press.ui.message = fmt::format("There is no {} {} this one{}", name, is_next ? "after" : "before",
                                       unread.empty() ? "." : unread);
        return AppRequest::none;
    }
    const auto number = std::find(all.begin(), all.end(), found) - all.begin() + 1;
    press.ui.message = fmt::format("{} {} of {}: {}, process {}.",
                                   type == TimelinePoint::PointType::mark ? "Mark" : "Failure", number,
                                   all.size(), found->name, found->pid);
    return rest_at(press.ui, found->time_ns);
}

}  // namespace

AppRequest toggle_playing(const KeyPress& press) {
    press.ui.is_playing = !press.ui.is_playing;
    const Timeline& timeline = *press.model.timeline();
    if (press.model.position_ns() >= timeline.last_ns) {  // again
        press.ui.is_playing = true;
        return jump_to(press.ui, timeline.first_ns);
    }
    return AppRequest::play;
}

AppRequest play_slower(const KeyPress& press) { return change_speed(press.ui, false); }
AppRequest play_faster(const KeyPress& press) { return change_speed(press.ui, true); }
AppRequest step_forward(const KeyPress& press) {
    return step(press.ui, PlaybackJump::JumpTarget::event_after);
}
AppRequest step_back(const KeyPress& press) { return step(press.ui, PlaybackJump::JumpTarget::event_before); }

AppRequest skip_forward(const KeyPress& press) {
    const Timeline& timeline = *press.model.timeline();
    const uint64_t skip = std::max<uint64_t>(timeline.length_ns() / kSkips, 1);
    return jump_to(press.ui, press.model.position_ns() + skip);
}

AppRequest skip_back(const KeyPress& press) {
    const Timeline& timeline = *press.model.timeline();
    const uint64_t skip = std::max<uint64_t>(timeline.length_ns() / kSkips, 1);
    return jump_to(press.ui, press.model.position_ns() - std::min(press.model.position_ns(), skip));
}

AppRequest go_to_beginning(const KeyPress& press) {
    return jump_to(press.ui, press.model.timeline()->first_ns);
}

AppRequest go_to_end(const KeyPress& press) { return jump_to(press.ui, press.model.timeline()->last_ns); }

// The peaks in the order of the kinds. Kinds whose peaks are at one moment go together.
AppRequest go_to_peak(const KeyPress& press) {
    const Timeline& timeline = *press.model.timeline();
    struct PeakChoice {
        uint64_t time_ns;
        std::string text;
    };
    std::vector<PeakChoice> peaks;
    for (size_t kind = 0; kind < census::kKinds; ++kind) {
        const recording::RecordedPeak& peak = timeline.peaks[kind];
        const std::string text = fmt::format("{} {}", census::name_of(static_cast<census::Kind>(kind)),
                                             view::format_bytes(peak.used));
        const auto same = std::find_if(peaks.begin(), peaks.end(),
                                       [&](const PeakChoice& one) { return one.time_ns == peak.time_ns; });
        if (peak.used != 0 && same != peaks.end()) {
            same->text += ", " + text;
        } else if (peak.used != 0) {
            peaks.push_back({peak.time_ns, text});
        }
    }
    const std::string unread = unread_text(timeline);
    if (peaks.empty()) {
        press.ui.message = "Nothing is in use" + (unread.empty() ? "." : unread);
        return AppRequest::none;
    }
    const auto here = std::find_if(peaks.begin(), peaks.end(), [&](const PeakChoice& one) {
        return one.time_ns == press.model.position_ns();
    });
    const PeakChoice& next =
        here == peaks.end() || std::next(here) == peaks.end() ? peaks.front() : *std::next(here);
    press.ui.message = fmt::format("Peak of {}{}", next.text, unread.empty() ? "." : unread);
    return rest_at(press.ui, next.time_ns);
}

AppRequest go_to_failure(const KeyPress& press) {
    return go_to_point(press, TimelinePoint::PointType::failure, press.key == key_of(U'f'), "failure");
}

AppRequest go_to_mark(const KeyPress& press) {
    return go_to_point(press, TimelinePoint::PointType::mark, press.key == key_of(U'b'), "mark");
}

AppRequest go_to_share(const KeyPress& press, uint32_t share) {
    const Timeline& timeline = *press.model.timeline();
    const long double part = static_cast<long double>(share) / kWholeRecording;
    return jump_to(press.ui, timeline.first_ns + static_cast<uint64_t>(
                                                     part * static_cast<long double>(timeline.length_ns())));
}

}  // namespace ttmem::tui
