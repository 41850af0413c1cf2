// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic_answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::daemon {
namespace {

using segment::Kind;
using sources::classic_wire::Answer;
using sources::classic_wire::Request;
using sources::classic_wire::Type;
using testing::ElementsAre;
using testing::IsEmpty;

// Two processes that share device 0; the second alone has device 1. Each kind has a figure of its own.
struct ClassicAnswersTest : testing::Test {
    ClassicAnswersTest() {
        first.add_device(census::small_chip(0x10, 0));
        const uint8_t set = first.add_set(1);
        first.add(census::allocation(set, Kind::dram, 0x1000, 1, 64));
        first.add(census::allocation(set, Kind::l1, 0x2000, 20, 64));
        first.add(census::allocation(set, Kind::l1_small, 0x3000, 300, 320));
        first.add(census::allocation(set, Kind::trace, 0x4000, 4'000, 4'096));
        first.add(census::allocation(set, Kind::cb, 0x5000, 50'000, 50'000));
        first.add(census::allocation(set, Kind::kernel_application, 0, 600'000, 600'000));

        second.add_device(census::small_chip(0x10, 0));
        second.add_device(census::small_chip(0x20, 1));
        second.add(census::allocation(second.add_set(3), Kind::dram, 0x9000, 7, 64));
        census.processes = {first.process(100), second.process(200)};
    }

    static Request ask(Type type, int32_t device) {
        Request request;
        request.type = static_cast<uint8_t>(type);
        request.device = device;
        request.process = 4711;
        request.timestamp = 99;
        return request;
    }
    Answer query(int32_t device) { return ClassicAnswers(census).query(ask(Type::query, device)); }
    Answer device_info(int32_t device) {
        return ClassicAnswers(census).device_info(ask(Type::device_info_query, device));
    }

    census::TestSegment first;
    census::TestSegment second;
    census::Census census;
};

TEST_F(ClassicAnswersTest, AQueryTellsTheRequestedBytesOfTheWholeHost) {
    const Answer answer = query(0);
    EXPECT_EQ(answer.type, Type::response);
    EXPECT_EQ(answer.dram, 1u + 7u);
    EXPECT_EQ(answer.l1, 20u);
    EXPECT_EQ(answer.l1_small, 300u);
    EXPECT_EQ(answer.trace, 4'000u);
    EXPECT_EQ(answer.cb, 50'000u);
    EXPECT_EQ(answer.kernel, 600'000u);
    EXPECT_EQ(answer.device, 0);
    EXPECT_EQ(answer.process, 4711);
    EXPECT_EQ(answer.timestamp, 99u);
}

TEST_F(ClassicAnswersTest, AQueryIsOfOneDeviceOrOfAll) {
    EXPECT_EQ(query(1).dram, 7u);
    EXPECT_EQ(query(1).l1, 0u);
    EXPECT_EQ(query(-1).dram, 1u + 7u + 7u);
    EXPECT_EQ(query(5).dram, 0u);
    EXPECT_EQ(query(-7).dram, 0u) << "no device has that number";
}

TEST_F(ClassicAnswersTest, DeviceInfoTellsWhatTheCensusKnows) {
    const ttmem_device_info chip = census::small_chip(0x20, 1);
    const Answer answer = device_info(1);
    EXPECT_EQ(answer.type, Type::device_info_response);
    EXPECT_EQ(answer.is_available, 1u);
    EXPECT_EQ(answer.devices, 2u);
    EXPECT_EQ(answer.arch, chip.arch);
    EXPECT_EQ(answer.dram_channels, chip.memory[TTMEM_DRAM].banks);
    EXPECT_EQ(answer.dram_per_channel, chip.memory[TTMEM_DRAM].size_per_bank);
    EXPECT_EQ(answer.total_dram,
              uint64_t{chip.memory[TTMEM_DRAM].banks} * chip.memory[TTMEM_DRAM].size_per_bank);
    EXPECT_EQ(answer.l1_per_core, chip.memory[TTMEM_L1].size_per_bank);
    EXPECT_NE(answer.total_l1, 0u);
}

TEST_F(ClassicAnswersTest, DeviceInfoOfAllAndOfNone) {
    EXPECT_EQ(device_info(-1).devices, 2u);
    EXPECT_EQ(device_info(-1).is_available, 0u) << "how many there are, and not what one is";
    const Answer unknown = device_info(9);
    EXPECT_EQ(unknown.is_available, 0u);
    EXPECT_EQ(unknown.devices, 2u);
    EXPECT_EQ(unknown.total_dram, 0u);
}

TEST_F(ClassicAnswersTest, BuffersAreDumpedUnderTheirDevice) {
    EXPECT_THAT(dump_buffers(census), ElementsAre("Device 0: Buffers: 5, DRAM: 8 bytes, L1: 20 bytes",
                                                  "  Buffer 36864: 7 bytes of DRAM (PID 200)",
                                                  "  Buffer 4096: 1 bytes of DRAM (PID 100)",
                                                  "  Buffer 8192: 20 bytes of L1 (PID 100)",
                                                  "  Buffer 12288: 300 bytes of L1_SMALL (PID 100)",
                                                  "  Buffer 16384: 4000 bytes of TRACE (PID 100)",
                                                  "Device 1: Buffers: 1, DRAM: 7 bytes, L1: 0 bytes",
                                                  "  Buffer 36864: 7 bytes of DRAM (PID 200)"));
}

TEST_F(ClassicAnswersTest, KernelsAreDumpedUnderTheirDevice) {
    EXPECT_THAT(dump_kernels(census), ElementsAre("Device 0: Kernels: 1, 600000 bytes",
                                                  "  Kernel 0: 600000 bytes, application (PID 100)",
                                                  "Device 1: Kernels: 0, 0 bytes"));
}

TEST_F(ClassicAnswersTest, AnEmptyHostHasNothingToTell) {
    census.processes.clear();
    EXPECT_EQ(query(-1).dram, 0u);
    EXPECT_EQ(device_info(-1).devices, 0u);
    EXPECT_THAT(dump_buffers(census), IsEmpty());
    EXPECT_THAT(dump_kernels(census), IsEmpty());
}

}  // namespace
}  // namespace ttmem::daemon
