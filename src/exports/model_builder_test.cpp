// SPDX-License-Identifier: Apache-2.0
#include "exports/model_builder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "tests/support/own_segment.hpp"
#include "tests/support/workload.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::exports {

namespace {

// A ledger of this process with one allocation, and a tracker that has read it.
// What two readings of the rate of a clock may differ by.
constexpr uint64_t kClockNs = 1'000;

class EventsAfterALedger : public testing::Test {
protected:
    EventsAfterALedger() {
        setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
        set_ = test::make_set(0);
        handle_ = ttmem_allocate(set_, TTMEM_DRAM, 0x100000, 1024, 1024, 1);
        const segment::Reader ledger = test::own_reader();
        ledger.for_each_live([&](segment::SlotRef slot, const segment::Allocation& allocation) {
            slot_ = slot.slot;
            allocation_ = allocation;
            began_ns_ = ledger.clock().monotonic_ns(allocation.ticks);
            return true;
        });
        census::Identity who;
        tracker_ = &builder_.add({who, census::ProcessState::live, test::own_reader()});
        tracker_->reconcile(ledger, began_ns_ + 100);
    }
    ~EventsAfterALedger() override {
        ttmem_free(handle_);
        ttmem_close_set(set_);
    }
    EventsAfterALedger(const EventsAfterALedger&) = delete;
    EventsAfterALedger& operator=(const EventsAfterALedger&) = delete;

    ttmem_set set_ = 0;
    ttmem_handle handle_ = 0;
    ModelBuilder builder_{std::make_shared<census::DeviceIds>(), nullptr, UINT64_MAX};
    SpanTracker* tracker_ = nullptr;
    uint32_t slot_ = 0;
    segment::Allocation allocation_;
    uint64_t began_ns_ = 0;
};

TEST_F(EventsAfterALedger, DoNotRepeatAnAllocationThatItHas) {
    tracker_->begin(slot_, allocation_, began_ns_);
    const ExportModel model = builder_.finish();
    ASSERT_EQ(model.spans.size(), 1u);
    EXPECT_NEAR(static_cast<double>(model.spans[0].begin_ns), static_cast<double>(began_ns_), kClockNs);
    EXPECT_FALSE(model.spans[0].end_ns.has_value());
}

TEST_F(EventsAfterALedger, DoNotEndAnAllocationThatIsYounger) {
    tracker_->end(slot_, began_ns_ - kClockNs);
    EXPECT_FALSE(builder_.finish().spans.at(0).end_ns.has_value());
}

TEST_F(EventsAfterALedger, EndAnAllocationThatIsFreedLater) {
    tracker_->begin(slot_, allocation_, began_ns_);
    tracker_->end(slot_, began_ns_ + 200);
    tracker_->begin(slot_, allocation_, began_ns_ + 300);
    const ExportModel model = builder_.finish();
    ASSERT_EQ(model.spans.size(), 2u);
    EXPECT_EQ(model.spans[0].end_ns, began_ns_ + 200);
    EXPECT_EQ(model.spans[1].begin_ns, began_ns_ + 300);
}

}  // namespace

}  // namespace ttmem::exports
