// SPDX-License-Identifier: Apache-2.0
#pragma once

// A recording of this process with a peak, marks and 6 events.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "recording/moment.hpp"
#include "recording/recording_writer.hpp"
#include "segment/clock.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/workload.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::recording {

class Moments : public testing::Test {
protected:
    Moments() {
        setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
        setenv("TZ", "UTC", 1);
        std::string name = testing::TempDir() + "ttmem-moment-XXXXXX";
        folder_ = mkdtemp(name.data());
        record();
    }
    ~Moments() override { std::filesystem::remove_all(folder_); }
    Moments(const Moments&) = delete;
    Moments& operator=(const Moments&) = delete;

    // 3 x 1024 bytes are the peak, between the marks "warm" and "cold".
    void record() {
        const ttmem_set set = test::make_set(0);
        auto recorder = RecordingWriter::create({folder_ + "/file"});
        ASSERT_TRUE(recorder.has_value());
        ASSERT_TRUE(recorder->set_host({.host = "there", .program = "test"}));
        census::Identity who;
        who.pid = static_cast<uint32_t>(getpid());
        ASSERT_TRUE(recorder->add({who, census::ProcessState::live, test::own_reader()},
                                  ProcessRecorder::StartState::present));
        const auto allocate = [&](uint64_t address) {
            return ttmem_allocate(set, TTMEM_DRAM, address, 1024, 1024, 1);
        };
        const ttmem_handle first = allocate(0x100000);
        ASSERT_TRUE(recorder->follow());
        // Without an event after it.
        before_mark_ns_ = segment::monotonic_now();
        ttmem_mark("warm");
        ASSERT_TRUE(recorder->follow());
        after_mark_ns_ = segment::monotonic_now();
        const ttmem_handle second = allocate(0x200000);
        const ttmem_handle third = allocate(0x300000);
        after_peak_ns_ = segment::monotonic_now();
        ASSERT_TRUE(recorder->follow());
        ttmem_free(second);
        ttmem_mark("cold");
        ttmem_mark("warm");
        ttmem_free(third);
        ttmem_free(first);
        ASSERT_TRUE(recorder->finish());
        ttmem_close_set(set);
        auto opened = Recording::open(folder_ + "/file");
        ASSERT_TRUE(opened.has_value());
        recording_ = *opened;
    }

    uint64_t at(const std::string& text) const {
        const auto moment = find_moment(recording_, text);
        EXPECT_TRUE(moment.has_value()) << moment.error().text;
        return moment.value_or(0);
    }

    std::string refusal(const std::string& text) const {
        const auto moment = find_moment(recording_, text);
        EXPECT_FALSE(moment.has_value());
        return moment ? "" : moment.error().text;
    }

    std::string folder_;
    std::shared_ptr<const Recording> recording_;
    uint64_t before_mark_ns_ = 0;
    uint64_t after_mark_ns_ = 0;
    uint64_t after_peak_ns_ = 0;
};

}  // namespace ttmem::recording
