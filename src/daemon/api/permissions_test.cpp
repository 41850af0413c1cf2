// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/permissions.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ttmem::daemon {
namespace {

http::Caller local(uint32_t uid, std::vector<uint32_t> groups = {}) {
    return {true, uid, std::move(groups), ""};
}

TEST(Permissions, AUserSeesOnlyTheirOwnProcesses) {
    const auto permissions = Permissions::of(local(1000), {"", 77});
    ASSERT_TRUE(permissions);
    EXPECT_TRUE(permissions->may_see(1000));
    EXPECT_FALSE(permissions->may_see(1001));
    EXPECT_FALSE(permissions->may_see(0));
    EXPECT_TRUE(permissions->may_see_details());
}

TEST(Permissions, RootAndGroupMembersSeeAllProcesses) {
    EXPECT_TRUE(Permissions::of(local(0), {})->may_see(1001));
    EXPECT_TRUE(Permissions::of(local(1000, {5, 77}), {"", 77})->may_see(1001));
    EXPECT_FALSE(Permissions::of(local(1000, {5, 77}), {})->may_see(1001)) << "where there is no such group";
}

TEST(Permissions, TcpWithoutTheTokenSeesNoProcess) {
    const AccessRules rules{"0123456789abcdef", {}};
    EXPECT_FALSE(Permissions::of({}, rules)->may_see_details());
    EXPECT_FALSE(Permissions::of({}, rules)->may_see(0));
    EXPECT_TRUE(Permissions::of({false, 0, {}, "0123456789abcdef"}, rules)->may_see_all());
    for (const char* wrong : {"0123456789abcdee", "0123456789abcde", "0123456789abcdef0", "x"}) {
        EXPECT_FALSE(Permissions::of({false, 0, {}, wrong}, rules)) << wrong;
    }
    EXPECT_FALSE(Permissions::of({false, 0, {}, "x"}, {})) << "there is no token that could be right";
}

class TokenFile {
public:
    explicit TokenFile(const std::string& text, mode_t mode = 0600) {
        char name[] = "/tmp/ttmem-token-XXXXXX";
        close(mkstemp(name));
        path_ = name;
        std::ofstream(path_) << text;
        chmod(path_.c_str(), mode);
    }
    ~TokenFile() { std::filesystem::remove(path_); }
    TokenFile(const TokenFile&) = delete;
    TokenFile& operator=(const TokenFile&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

TEST(Token, IsTheFirstLineOfItsFile) {
    const TokenFile file("0123456789abcdef\nnot this\n");
    EXPECT_EQ(read_token(file.path()).value(), "0123456789abcdef");
}

TEST(Token, ThatOthersMayReadOrThatIsShortIsRefused) {
    EXPECT_FALSE(read_token(TokenFile("0123456789abcdef", 0644).path()));
    EXPECT_FALSE(read_token(TokenFile("short").path()));
    EXPECT_FALSE(read_token(TokenFile("two words of some length").path()));
    EXPECT_FALSE(read_token("/nonexistent"));
    EXPECT_FALSE(read_token("/tmp"));
}

}  // namespace
}  // namespace ttmem::daemon
