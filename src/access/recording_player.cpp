// SPDX-License-Identifier: Apache-2.0
#include "access/recording_player.hpp"

#include <utility>

#include "access/answer_source.hpp"
#include "access/recorded_host.hpp"
#include "recording/event_times.hpp"
#include "recording/moment.hpp"

namespace ttmem::access {

RecordingPlayer::RecordingPlayer(const std::shared_ptr<const recording::Recording>& recording)
    : recording_(recording), replay_(recording), past_(std::make_shared<PastCursor>(recording)) {}

base::Expected<std::unique_ptr<RecordingPlayer>> RecordingPlayer::open(const std::string& path,
                                                                       const std::optional<std::string>& at) {
    auto opened = recording::open_moment(path, at);
    if (!opened) {
        return tl::unexpected(std::move(opened.error()));
    }
    std::unique_ptr<RecordingPlayer> player(new RecordingPlayer(opened->recording));
    if (auto shown = player->show(opened->time_ns.value_or(opened->recording->first_ns())); !shown) {
        return tl::unexpected(std::move(shown.error()));
    }
    return player;
}

base::Expected<void> RecordingPlayer::show(uint64_t time_ns) {
    auto host = RecordedHost::show(recording_, replay_, past_, time_ns);
    if (!host) {
        return tl::unexpected(std::move(host.error()));
    }
    answer_from(std::move(*host));
    now_ns_ = time_ns;
    return {};
}

uint64_t RecordingPlayer::step_after(uint64_t time_ns) const {
    return recording::next_event_ns(*recording_, time_ns).value_or(last_ns());
}

uint64_t RecordingPlayer::step_before(uint64_t time_ns) const {
    return recording::previous_event_ns(*recording_, time_ns).value_or(first_ns());
}

}  // namespace ttmem::access
