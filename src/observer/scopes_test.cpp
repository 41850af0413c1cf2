// SPDX-License-Identifier: Apache-2.0
#include "observer/scopes.hpp"

#include <gtest/gtest.h>

#include <string>

#include "observer/thread_data.hpp"
#include "segment/limits.hpp"

namespace ttmem::observer {
namespace {

TEST(Scopes, NamesOfOpsThatNeverEndAreBounded) {
    const ThreadData& data = thread_data();
    for (int i = 0; i < 1000; ++i) {
        enter_scope("thrown " + std::to_string(i));
        if (i % 7 == 0) {
            report_scopes();
        }
        EXPECT_LT(data.reported_scopes + data.unreported_scopes.size(), 2 * segment::kMaxScopeDepth);
        EXPECT_LT(data.reported_scopes, segment::kMaxScopeDepth);
    }
    enter_scope("the innermost");
    EXPECT_EQ(data.unreported_scopes.back(), "the innermost");
    for (int i = 0; i < 1000; ++i) {
        leave_scope();
    }
    EXPECT_FALSE(has_scope());
}

}  // namespace
}  // namespace ttmem::observer
