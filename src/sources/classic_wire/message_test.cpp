// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/message.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ttmem::sources::classic_wire {
namespace {

template <class T>
T at(const Message& message, size_t offset) {
    T value{};
    std::memcpy(&value, message.data() + offset, sizeof value);
    return value;
}

WireAnswer full_answer() {
    WireAnswer answer;
    answer.type = MessageType::device_info_response;
    answer.device = 7;
    answer.process = 4711;
    answer.timestamp = 9;
    answer.dram = 1;
    answer.l1 = 2;
    answer.l1_small = 3;
    answer.trace = 4;
    answer.cb = 5;
    answer.kernel = 6;
    answer.total_dram = 12'872'318'208;
    answer.total_l1 = 78'034'432;
    answer.arch = 2;
    answer.dram_channels = 12;
    answer.dram_per_channel = 1'072'693'184;
    answer.l1_per_core = 1'393'472;
    answer.is_available = 1;
    answer.devices = 8;
    return answer;
}

TEST(Message, RequestFieldsStandWhereTheWireHasThem) {
    Message message{};
    const auto put = [&](size_t offset, auto value) {
        std::memcpy(message.data() + offset, &value, sizeof value);
    };
    put(0, uint8_t{8});
    put(4, int32_t{-1});
    put(8, uint64_t{1} << 40);
    put(16, uint8_t{3});
    put(20, int32_t{4711});
    put(24, UINT64_MAX);
    put(32, uint64_t{77});
    const WireRequest expected{8, -1, uint64_t{1} << 40, 3, 4711, UINT64_MAX, 77};
    EXPECT_EQ(decode_request(message), expected);
    EXPECT_EQ(encode(expected), message);
}

TEST(Message, AnswerOf144BytesStandsWhereTheWireHasIt) {
    const Message message = encode(full_answer(), Generation::bytes_144);
    EXPECT_EQ(at<uint8_t>(message, 0), 7);
    EXPECT_EQ(at<int32_t>(message, 4), 7);
    EXPECT_EQ(at<uint64_t>(message, 40), 1u);
    EXPECT_EQ(at<uint64_t>(message, 64), 4u);
    EXPECT_EQ(at<uint64_t>(message, 72), 5u);
    EXPECT_EQ(at<uint64_t>(message, 80), 6u);
    EXPECT_EQ(at<uint64_t>(message, 88), 12'872'318'208u);
    EXPECT_EQ(at<uint64_t>(message, 96), 78'034'432u);
    EXPECT_EQ(at<uint32_t>(message, 104), 2u);
    EXPECT_EQ(at<uint32_t>(message, 108), 12u);
    EXPECT_EQ(at<uint32_t>(message, 116), 1'393'472u);
    EXPECT_EQ(at<uint32_t>(message, 120), 1u);
    EXPECT_EQ(at<uint32_t>(message, 124), 8u);
}

TEST(Message, AnswerOf112BytesHasTheDeviceRightAfterTheAmounts) {
    const Message message = encode(full_answer(), Generation::bytes_112);
    EXPECT_EQ(at<uint64_t>(message, 72), 12'872'318'208u);
    EXPECT_EQ(at<uint32_t>(message, 88), 2u);
    EXPECT_EQ(at<uint32_t>(message, 92), 12u);
    EXPECT_EQ(at<uint32_t>(message, 100), 1'393'472u);
    EXPECT_EQ(at<uint32_t>(message, 104), 1u);
    EXPECT_EQ(at<uint32_t>(message, 108), 8u);
    EXPECT_EQ(at<uint64_t>(message, 112), 0u);
}

TEST(Message, WhatAGenerationHasRoomForSurvivesTheWay) {
    for (const Generation generation : kGenerations) {
        WireAnswer expected = full_answer();
        if (generation != Generation::bytes_144) {
            expected.cb = expected.kernel = 0;
        }
        if (generation == Generation::bytes_72) {
            expected.total_dram = expected.total_l1 = 0;
            expected.arch = expected.dram_channels = expected.dram_per_channel = expected.l1_per_core = 0;
            expected.is_available = expected.devices = 0;
        }
        EXPECT_EQ(decode_answer(encode(full_answer(), generation), generation), expected);
    }
}

}  // namespace
}  // namespace ttmem::sources::classic_wire
