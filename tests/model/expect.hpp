// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "tests/model/explore.hpp"

/// The exploration was complete and no check failed.
#define EXPECT_PROVEN(exploration)                                \
    do {                                                          \
        const ::ttmem::model::Result result_ = (exploration);     \
        EXPECT_TRUE(result_.proven()) << result_.text();          \
        ::testing::Test::RecordProperty("proof", result_.text()); \
    } while (false)

/// The exploration found an execution in which this check fails.
#define EXPECT_CAUGHT(exploration, check_that_fails)              \
    do {                                                          \
        const ::ttmem::model::Result result_ = (exploration);     \
        ASSERT_TRUE(result_.failure) << result_.text();           \
        EXPECT_EQ(result_.failure->what, check_that_fails);       \
        ::testing::Test::RecordProperty("found", result_.text()); \
    } while (false)
