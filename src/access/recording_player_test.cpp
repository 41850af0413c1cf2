// SPDX-License-Identifier: Apache-2.0
#include "access/recording_player.hpp"

#include <gmock/gmock.h>

#include "access/access.hpp"
#include "recording/moments_test_support.hpp"

namespace ttmem::access {
namespace {

struct Player : recording::Moments {
    ~Player() override { answer_from(nullptr); }

    std::unique_ptr<RecordingPlayer> open(const std::optional<std::string>& moment = {}) const {
        auto player = RecordingPlayer::open(folder_ + "/file", moment);
        EXPECT_TRUE(player.has_value());
        return player ? std::move(*player) : nullptr;
    }

    static uint64_t used() {
        const auto status = ask<view::Status>();
        EXPECT_EQ(status->view.origin.source, view::OriginSource::recording);
        const auto& devices = status->view.figures.devices;
        return devices.empty() ? 0 : devices.front().memory[index_of(census::Kind::dram)].used;
    }
    static size_t count_events() { return ask<view::Events>()->view.events.size(); }
};

TEST_F(Player, BeginsAtTheBeginningOrAtAMoment) {
    EXPECT_EQ(open()->now_ns(), recording_->first_ns());
    EXPECT_EQ(open("peak:dram")->now_ns(), at("peak:dram"));
    EXPECT_EQ(used(), 3 * 1024u);
}

TEST_F(Player, StepsForwardAndBackAreUndoneByEachOther) {
    const auto player = open();
    std::vector<std::pair<uint64_t, size_t>> forward;
    while (player->now_ns() < player->last_ns()) {
        forward.emplace_back(used(), count_events());
        ASSERT_TRUE(player->show(player->step_after(player->now_ns())));
    }
    std::vector<std::pair<uint64_t, size_t>> back;
    while (player->now_ns() > player->first_ns()) {
        ASSERT_TRUE(player->show(player->step_before(player->now_ns())));
        back.emplace(back.begin(), used(), count_events());
    }
    EXPECT_EQ(back, forward);
    EXPECT_THAT(forward, testing::Contains(testing::Pair(3 * 1024u, testing::_)));
    EXPECT_GE(forward.size(), 3u);
}

TEST_F(Player, AnUnknownMomentIsAnErrorThatSaysWhatThereIs) {
    const auto player = RecordingPlayer::open(folder_ + "/file", "mark:hot");
    ASSERT_FALSE(player.has_value());
    EXPECT_THAT(player.error().text, testing::HasSubstr("it has warm, cold"));
}

}  // namespace
}  // namespace ttmem::access
