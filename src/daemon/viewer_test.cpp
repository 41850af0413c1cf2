// SPDX-License-Identifier: Apache-2.0
#include "daemon/viewer.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "census/segment_test_support.hpp"

namespace ttmem::daemon {
namespace {

http::Caller local(uint32_t uid, std::vector<uint32_t> groups = {}) {
    return {true, uid, std::move(groups), ""};
}

TEST(Viewer, AUserSeesHisOwnAlone) {
    const auto viewer = Viewer::of(local(1000), {"", 77});
    ASSERT_TRUE(viewer);
    EXPECT_TRUE(viewer->sees(1000));
    EXPECT_FALSE(viewer->sees(1001));
    EXPECT_FALSE(viewer->sees(0));
    EXPECT_TRUE(viewer->sees_anybody());
}

TEST(Viewer, RootAndTheGroupSeeAll) {
    EXPECT_TRUE(Viewer::of(local(0), {})->sees(1001));
    EXPECT_TRUE(Viewer::of(local(1000, {5, 77}), {"", 77})->sees(1001));
    EXPECT_FALSE(Viewer::of(local(1000, {5, 77}), {})->sees(1001)) << "where there is no such group";
}

TEST(Viewer, OverTcpNobodyIsSeenWithoutTheToken) {
    const AccessRules rules{"0123456789abcdef", {}};
    EXPECT_FALSE(Viewer::of({}, rules)->sees_anybody());
    EXPECT_FALSE(Viewer::of({}, rules)->sees(0));
    EXPECT_TRUE(Viewer::of({false, 0, {}, "0123456789abcdef"}, rules)->sees_all());
    for (const char* wrong : {"0123456789abcdee", "0123456789abcde", "0123456789abcdef0", "x"}) {
        EXPECT_FALSE(Viewer::of({false, 0, {}, wrong}, rules)) << wrong;
    }
    EXPECT_FALSE(Viewer::of({false, 0, {}, "x"}, {})) << "there is no token that could be right";
}

TEST(Viewer, ACensusForHimHasOnlyWhatHeSees) {
    census::TestSegment segment;
    census::Census census;
    for (const uint32_t uid : {1000u, 1001u}) {
        census.processes.push_back(segment.process(uid));
        census.processes.back().identity.uid = uid;
    }
    const census::Census visible = Viewer::of(local(1001), {})->visible(census);
    ASSERT_EQ(visible.processes.size(), 1u);
    EXPECT_EQ(visible.processes[0].identity.uid, 1001u);
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
