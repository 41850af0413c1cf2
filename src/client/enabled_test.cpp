// SPDX-License-Identifier: Apache-2.0

// Off by default, and off means nothing at all: no descriptor, no map, no thread, every call returns 0.

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/allocation_client.hpp"
#include "ttmem/ttmem.h"

namespace {

using namespace ttmem::test;
using tt::tt_metal::AllocationClient;

// Every function of the API once, as if all were well.
void call_everything() {
    const ttmem_device device = make_device(0);
    EXPECT_EQ(device, 0u);
    EXPECT_EQ(ttmem_open_set(&device, 1, "set"), 0u);
    EXPECT_EQ(ttmem_allocate(1, TTMEM_DRAM, 1, 2, 3, 4), 0u);
    ttmem_free(1);
    ttmem_scope_push("scope");
    ttmem_tag(1, "tag");
    EXPECT_EQ(ttmem_tag_address(0, TTMEM_DRAM, 1, "tag"), 0);
    ttmem_scope_pop();
    const ttmem_cores cores = rectangle(0, 0, 1, 1);
    EXPECT_EQ(ttmem_allocate_cb(1, 2, 3, 4, &cores, 0), 0u);
    EXPECT_EQ(ttmem_load_kernel(1, 2, TTMEM_KERNEL_APPLICATION, 3), 0u);
    ttmem_program_gone(2);
    const ttmem_out_of_memory failure{};
    ttmem_allocation_failed(&failure);
    const ttmem_failed_request request{};
    ttmem_request_failed(&request);
    const ttmem_cb_clash clash{};
    ttmem_cb_clashed(&clash);
    const ttmem_cb_overflow overflow{};
    ttmem_cb_overflowed(&overflow);
    ttmem_describe_mesh(1, 1, 1);
    ttmem_clear_set(1);
    ttmem_close_set(1);
    ttmem_stop_reporting();
    EXPECT_EQ(ttmem_is_reporting(), 0);
    AllocationClient::report_allocation(0, 1, 0, 2);
    AllocationClient::report_deallocation(0, 2);
    AllocationClient::report_deallocation(2);
    AllocationClient::report_cb_allocation(0, 1, 2);
    AllocationClient::report_cb_deallocation(0, 1, 2);
    AllocationClient::report_kernel_load(0, 1, 2);
    AllocationClient::report_kernel_unload(0, 1, 2);
}

void expect_nothing_is_there() {
    EXPECT_EQ(ttmem_enabled(), 0);
    EXPECT_FALSE(AllocationClient::is_enabled());
    call_everything();
    EXPECT_EQ(count_own_descriptors(), 0u);
    EXPECT_FALSE(own_mapping().has_value());
    EXPECT_EQ(ttmem_enabled(), 0);
}

TRACKED_TEST(Enabled, OffWithoutTheVariable) {
    unset_environment("TT_ALLOC_TRACKING_ENABLED");
    expect_nothing_is_there();
}

TRACKED_TEST(Enabled, OffWithEveryValueButOne) {
    for (const char* value : {"0", "", "true", "2", "11", " 1", "1 "}) {
        expect_passes_in_child([&] {
            set_environment("TT_ALLOC_TRACKING_ENABLED", value);
            expect_nothing_is_there();
        });
    }
}

TRACKED_TEST(Enabled, OffIsDecidedOnce) {
    unset_environment("TT_ALLOC_TRACKING_ENABLED");
    EXPECT_EQ(ttmem_enabled(), 0);
    set_environment("TT_ALLOC_TRACKING_ENABLED", "1");
    expect_nothing_is_there();
}

TRACKED_TEST(Enabled, OnWithOneAndTheSegmentComesWithTheFirstCall) {
    EXPECT_NE(ttmem_enabled(), 0);
    EXPECT_TRUE(AllocationClient::is_enabled());
    EXPECT_EQ(ttmem_is_reporting(), 0);
    EXPECT_FALSE(own_mapping().has_value()) << "asking alone must take nothing";
    EXPECT_NE(make_device(0), 0u);
    EXPECT_TRUE(own_mapping().has_value());
    EXPECT_EQ(ttmem_is_reporting(), 1);
    std::thread([] { EXPECT_EQ(ttmem_is_reporting(), 1); }).join();
    EXPECT_EQ(count_own_descriptors(), 1u);
}

TRACKED_TEST(Enabled, OnIsDecidedOnce) {
    EXPECT_NE(ttmem_enabled(), 0);
    unset_environment("TT_ALLOC_TRACKING_ENABLED");
    EXPECT_NE(make_set(), 0u);
    EXPECT_NE(ttmem_enabled(), 0);
}

TRACKED_TEST(Enabled, OffForSeveralThreadsThatAskAtOnce) {
    unset_environment("TT_ALLOC_TRACKING_ENABLED");
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            EXPECT_EQ(ttmem_enabled(), 0);
            call_everything();
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    expect_nothing_is_there();
}

TRACKED_TEST(Enabled, OnMakesNoThreadAndHandlesNoSignal) {
    const auto status = [](const std::string& field) {
        std::ifstream stream("/proc/self/status");
        for (std::string line; std::getline(stream, line);) {
            if (line.starts_with(field)) {
                return line;
            }
        }
        return std::string();
    };
    const std::string threads = status("Threads:");
    const std::string caught = status("SigCgt:");
    const std::string blocked = status("SigBlk:");
    EXPECT_NE(make_set(), 0u);
    EXPECT_EQ(status("Threads:"), threads);
    EXPECT_EQ(status("SigCgt:"), caught);
    EXPECT_EQ(status("SigBlk:"), blocked);
    EXPECT_FALSE(threads.empty() || caught.empty());
}

}  // namespace
