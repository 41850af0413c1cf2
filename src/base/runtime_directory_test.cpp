// SPDX-License-Identifier: Apache-2.0
#include "base/runtime_directory.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ttmem::base {
namespace {

struct RuntimeDirectoryTest : testing::Test {
    RuntimeDirectoryTest() {
        unsetenv("TTMEM_RUNTIME_DIR");
        unsetenv("XDG_RUNTIME_DIR");
    }
    ~RuntimeDirectoryTest() override {
        unsetenv("TTMEM_RUNTIME_DIR");
        unsetenv("XDG_RUNTIME_DIR");
    }
    const std::string in_tmp = "/tmp/ttmem-" + std::to_string(geteuid());
};

TEST_F(RuntimeDirectoryTest, WithoutVariablesTheUsersOwnIsBelowTmp) {
    const RuntimeDirectories found = runtime_directories();
    EXPECT_EQ(found.named, nullptr);
    EXPECT_EQ(found.of_user, in_tmp);
    EXPECT_TRUE(found.is_user_in_tmp);
}

TEST_F(RuntimeDirectoryTest, AnEmptyVariableMeansUnset) {
    setenv("TTMEM_RUNTIME_DIR", "", 1);
    setenv("XDG_RUNTIME_DIR", "", 1);
    for (const auto variable : {environment, secure_environment}) {
        const RuntimeDirectories found = runtime_directories(variable);
        EXPECT_EQ(found.named, nullptr);
        EXPECT_EQ(found.of_user, in_tmp);
    }
}

TEST_F(RuntimeDirectoryTest, VariablesNameTheDirectories) {
    setenv("TTMEM_RUNTIME_DIR", "/somewhere", 1);
    setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
    const RuntimeDirectories found = runtime_directories();
    EXPECT_STREQ(found.named, "/somewhere");
    EXPECT_STREQ(found.of_user, "/run/user/7/ttmem");
    EXPECT_FALSE(found.is_user_in_tmp);
}

TEST_F(RuntimeDirectoryTest, APathThatIsTooLongIsEmpty) {
    setenv("XDG_RUNTIME_DIR", std::string(2000, 'x').c_str(), 1);
    EXPECT_STREQ(runtime_directories().of_user, "");
}

}  // namespace
}  // namespace ttmem::base
