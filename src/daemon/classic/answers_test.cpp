// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic/answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::daemon {
namespace {

using segment::AllocationKind;
using sources::classic_wire::MessageType;
using sources::classic_wire::WireAnswer;
using sources::classic_wire::WireRequest;
using testing::ElementsAre;
using testing::IsEmpty;

// Two processes share device 0; only the second has device 1. Each kind has a distinct size.
struct ClassicAnswersTest : testing::Test {
    ClassicAnswersTest() {
        first.add_device(census::small_chip(0x10, 0));
        const uint8_t set = first.add_set(1);
        first.add(census::allocation(set, AllocationKind::dram, 0x1000, 1, 64));
        first.add(census::allocation(set, AllocationKind::l1, 0x2000, 20, 64));
        first.add(census::allocation(set, AllocationKind::l1_small, 0x3000, 300, 320));
        first.add(census::allocation(set, AllocationKind::trace, 0x4000, 4'000, 4'096));
        first.add(census::allocation(set, AllocationKind::cb, 0x5000, 50'000, 50'000));
        first.add(census::allocation(set, AllocationKind::kernel_application, 0, 600'000, 600'000));

        second.add_device(census::small_chip(0x10, 0));
        second.add_device(census::small_chip(0x20, 1));
        second.add(census::allocation(second.add_set(3), AllocationKind::dram, 0x9000, 7, 64));
        census.processes = {first.process(100), second.process(200)};
    }

    static WireRequest ask(MessageType type, int32_t device) {
        WireRequest request;
        request.type = static_cast<uint8_t>(type);
        request.device = device;
        request.process = 4711;
        request.timestamp = 99;
        return request;
    }
    WireAnswer query(int32_t device) {
        return ClassicAnswers(census).answer(ask(MessageType::query, device));
    }
    WireAnswer device_info(int32_t device) {
        return ClassicAnswers(census).answer(ask(MessageType::device_info_query, device));
    }

    census::TestSegment first;
    census::TestSegment second;
    census::Census census;
};

TEST_F(ClassicAnswersTest, AQueryReturnsTheRequestedBytesOfTheWholeHost) {
    const WireAnswer answer = query(0);
    EXPECT_EQ(answer.type, MessageType::response);
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

TEST_F(ClassicAnswersTest, AQueryCoversOneDeviceOrAll) {
    EXPECT_EQ(query(1).dram, 7u);
    EXPECT_EQ(query(1).l1, 0u);
    EXPECT_EQ(query(-1).dram, 1u + 7u + 7u);
    EXPECT_EQ(query(5).dram, 0u);
    EXPECT_EQ(query(-7).dram, 0u) << "no device has that number";
}

TEST_F(ClassicAnswersTest, DeviceInfoReturnsWhatTheCensusKnows) {
    const ttmem_device_info chip = census::small_chip(0x20, 1);
    const WireAnswer answer = device_info(1);
    EXPECT_EQ(answer.type, MessageType::device_info_response);
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

TEST_F(ClassicAnswersTest, DeviceInfoHandlesAllDevicesAndUnknownOnes) {
    EXPECT_EQ(device_info(-1).devices, 2u);
    EXPECT_EQ(device_info(-1).is_available, 0u) << "how many there are, and not what one is";
    const WireAnswer unknown = device_info(9);
    EXPECT_EQ(unknown.is_available, 0u);
    EXPECT_EQ(unknown.devices, 2u);
    EXPECT_EQ(unknown.total_dram, 0u);
}

TEST_F(ClassicAnswersTest, ADeviceIsAvailableOnlyIfItsCapacityIsKnown) {
    census::TestSegment old;
    for (const uint32_t number : {2u, 3u, 70u}) {
        ttmem_device_info info{};
        info.logical_id = number;
        old.add_device(info);
    }
    old.add_set(7);
    census.processes.push_back(old.process(300));
    auto driver = std::make_shared<census::Driver>();
    driver->devices.resize(1);
    driver->devices[0].id = 3;
    driver->devices[0].board = "n300";
    census.driver = driver;
    EXPECT_EQ(device_info(2).is_available, 0u) << "only a number is known";
    EXPECT_EQ(device_info(2).total_dram, 0u);
    EXPECT_EQ(device_info(3).is_available, 1u) << "from the card";
    EXPECT_NE(device_info(3).total_dram, 0u);
    EXPECT_NE(device_info(3).total_l1, 0u);
    EXPECT_EQ(device_info(70).is_available, 0u);
    EXPECT_EQ(device_info(-1).devices, 6u)
        << "0 to 5, where the native devices are after those of the driver";
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

// A segment of 250 allocations on a set with these members, attached as often as a list needs to be longer than a dump.
struct LongDumpTest : testing::Test {
    static constexpr uint32_t kProcesses = 41;
    static constexpr int kPerProcess = 250;
    static_assert(kProcesses * kPerProcess > kMaxDumpLines);

    explicit LongDumpTest(uint32_t devices = 0) {
        for (uint32_t i = 0; i < devices; ++i) {
            segment.add_device(census::small_chip(0x10 + i, i));
        }
        const uint8_t set = segment.add_set((uint64_t{1} << devices) - 1);
        for (int i = 0; i < kPerProcess; ++i) {
            segment.add(
                census::allocation(set, AllocationKind::dram, 64u * static_cast<uint64_t>(i + 1), 64, 64));
        }
        for (uint32_t pid = 1; pid <= kProcesses; ++pid) {
            census.processes.push_back(segment.process(pid));
        }
    }

    census::TestSegment segment;
    census::Census census;
};

TEST_F(LongDumpTest, AllocationsOnNoDeviceAreOnlyCounted) {
    EXPECT_THAT(dump_buffers(census), ElementsAre("  (10250 more of DRAM are not listed)"));
    EXPECT_THAT(dump_kernels(census), IsEmpty());
}

struct LongDumpOnDevicesTest : LongDumpTest {
    LongDumpOnDevicesTest() : LongDumpTest(4) {}
};

TEST_F(LongDumpOnDevicesTest, TheLinesAreLimitedAndNotTheAllocations) {
    const auto lines = dump_buffers(census);
    EXPECT_EQ(lines.size(), 4 + kMaxDumpLines + 1);
    EXPECT_EQ(lines.back(), "  (7750 more of DRAM are not listed)");
}

TEST_F(ClassicAnswersTest, AnAnswerIsPreparedOnceForEachType) {
    ClassicAnswers answers(census);
    EXPECT_FALSE(answers.is_prepared(MessageType::query));
    answers.prepare(MessageType::query);
    EXPECT_TRUE(answers.is_prepared(MessageType::query));
    EXPECT_FALSE(answers.is_prepared(MessageType::device_info_query));
    first.add(census::allocation(0, AllocationKind::dram, 0x8000, 1'000, 1'024));
    EXPECT_EQ(answers.answer(ask(MessageType::query, 0)).dram, 1u + 7u) << "the figures of that moment";
}

TEST_F(ClassicAnswersTest, FewProcessesWithFewCountersAreQuick) {
    EXPECT_TRUE(ClassicAnswers(census).prepare_quickly(MessageType::query));
    for (uint32_t pid = 300; census.processes.size() <= 64; ++pid) {
        census.processes.push_back(first.process(pid));
    }
    EXPECT_FALSE(ClassicAnswers(census).prepare_quickly(MessageType::query));
}

TEST_F(ClassicAnswersTest, ManyCountersAreNotQuick) {
    first.header().sets_used = 128;
    first.header().writers_used = 2;  // the segment has room for no more
    census.processes = {first.process(100)};
    EXPECT_TRUE(ClassicAnswers(census).prepare_quickly(MessageType::query));
    for (uint32_t pid = 101; pid < 108; ++pid) {
        census.processes.push_back(first.process(pid));
    }
    EXPECT_FALSE(ClassicAnswers(census).prepare_quickly(MessageType::query))
        << "8 times 2 x 128 blocks of counters, and a device each";
}

TEST_F(ClassicAnswersTest, WhatTheHeaderDoesNotShowIsReadInPartAndLeftToAWorker) {
    census::TestSegment hostile;
    uint64_t members = 0;
    for (uint32_t i = 0; i < 64; ++i) {
        members |= uint64_t{1} << hostile.add_device(census::small_chip(0x100 + i, i));
    }
    for (uint32_t i = 0; i < 128; ++i) {
        hostile.add_set(members);
    }
    census.processes.push_back(hostile.process(300));
    for (const MessageType question : {MessageType::query, MessageType::device_info_query}) {
        ClassicAnswers answers(census);
        EXPECT_FALSE(answers.prepare_quickly(question));
        EXPECT_FALSE(answers.is_prepared(question));
        answers.prepare(question);
        EXPECT_EQ(answers.answer(ask(MessageType::query, 1)).dram, 7u) << "a worker reads all of it";
        EXPECT_EQ(answers.answer(ask(MessageType::device_info_query, 1)).devices, 64u)
            << "66, of which clients know the first 64";
    }
}

TEST_F(ClassicAnswersTest, ADumpNamesTheProcessesThatHaveTooMuchToList) {
    census.work_budgets.slots = 6;
    census.processes[0].identity.start_time = 1;
    census.processes[1].identity.start_time = 2;
    EXPECT_THAT(dump_buffers(census),
                testing::AllOf(testing::Contains("  Buffer 4096: 1 bytes of DRAM (PID 100)"),
                               testing::Contains("  (the buffers of PID 200 are not listed: too many)"),
                               testing::Not(testing::Contains(testing::HasSubstr("(PID 200)")))));
}

TEST_F(ClassicAnswersTest, AnEmptyHostReturnsZerosAndNoLines) {
    census.processes.clear();
    EXPECT_EQ(query(-1).dram, 0u);
    EXPECT_EQ(device_info(-1).devices, 0u);
    EXPECT_THAT(dump_buffers(census), IsEmpty());
    EXPECT_THAT(dump_kernels(census), IsEmpty());
}

}  // namespace
}  // namespace ttmem::daemon
