// SPDX-License-Identifier: Apache-2.0

// The hash table of integrations/tt-metal holds what was put and not taken, whatever the order.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "integrations/tt-metal/ttmem_records.hpp"

namespace {

using tt::tt_metal::ttmem_reporter::BufferRecord;
using tt::tt_metal::ttmem_reporter::BufferRecords;

const void* buffer_at(uint64_t number) { return reinterpret_cast<const void*>(0x10000 + number * 560); }

BufferRecord record_of(uint64_t number, ttmem_handle handle) {
    BufferRecord record;
    record.buffer = buffer_at(number);
    record.handle = handle;
    record.set = static_cast<ttmem_set>(number % 3);
    return record;
}

TEST(BufferRecords, HoldWhatWasPutAndNotTaken) {
    BufferRecords records;
    std::map<uint64_t, ttmem_handle> expected;
    std::mt19937 random(1);
    for (ttmem_handle handle = 1; handle < 50'000; ++handle) {
        const uint64_t number = random() % 5000;
        const auto known = expected.find(number);
        const ttmem_handle before = known != expected.end() ? known->second : 0;
        if (random() % 2 == 0) {
            ASSERT_EQ(records.put(record_of(number, handle)).handle, before);
            expected[number] = handle;
        } else {
            ASSERT_EQ(records.take(buffer_at(number)).handle, before);
            expected.erase(number);
        }
    }
    size_t erased = 0;
    records.erase_if([&](const BufferRecord& record) {
        erased += record.set == 1 ? 1 : 0;
        return record.set == 1;
    });
    const auto in_set = [](const auto& entry) { return entry.first % 3 == 1; };
    EXPECT_EQ(erased, static_cast<size_t>(std::erase_if(expected, in_set)));
    for (const auto& [number, handle] : expected) {
        EXPECT_EQ(records.take(buffer_at(number)).handle, handle);
    }
    records.erase_if([](const BufferRecord&) {
        ADD_FAILURE() << "something is left";
        return false;
    });
}

}  // namespace
