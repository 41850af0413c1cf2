// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/card_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "census/segment_test_support.hpp"
#include "daemon/watch/card_keeper.hpp"

namespace ttmem::daemon {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CardStoreTest : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "card_store_XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        state_ = pattern;
    }
    void TearDown() override { fs::remove_all(state_); }

    static view::KeptCard card(uint64_t number, uint32_t uid = 1000, uint64_t time_ns = 0,
                               size_t blocks = 1) {
        view::KeptCard card;
        card.pid = 42;
        card.uid = uid;
        card.user = "u";
        card.comm = "python3";
        card.failure.time_ns = time_ns == 0 ? number : time_ns;
        card.failure.card.emplace();
        card.failure.card->number = number;
        card.failure.card->blocks.resize(blocks);
        return card;
    }

    static std::vector<uint64_t> numbers(const CardStore& store, uint64_t limit = 1000) {
        std::vector<uint64_t> result;
        for (const auto& kept :
             store.read([](uint32_t, const auto&) { return true; }, limit, 1000).newest_first) {
            result.push_back(kept.failure.card->number);
        }
        return result;
    }

    fs::path state_;
};

TEST_F(CardStoreTest, KeepsCardsThroughARestart) {
    {
        CardStore store(state_, {});
        EXPECT_EQ(store.size(), 0u);
        store.add(card(1), 7);
        store.add(card(2), 7);
    }
    const CardStore next(state_, {});
    EXPECT_THAT(numbers(next), ElementsAre(2, 1));
    EXPECT_TRUE(next.has({42, 7, 1}, 1));
    EXPECT_FALSE(next.has({42, 7, 3}, 1));
    EXPECT_FALSE(next.has({42, 8, 1}, 1));
    EXPECT_FALSE(next.has({42, 7, 1}, 3600 * base::kNsPerSecond)) << "of another life of the host";
    EXPECT_THAT(numbers(next, 1), ElementsAre(2));
}

TEST_F(CardStoreTest, KeepsEverythingOfACard) {
    CardStore store(state_, {});
    view::KeptCard one = card(1, 1000, base::realtime_ns());
    one.failure.card->blocks[0].name = "decoder.3";
    one.failure.card->request.requested = 77;
    store.add(one, 7);
    auto page = store.read([](uint32_t, const auto&) { return true; }, 10, 10);
    ASSERT_THAT(page.newest_first, SizeIs(1));
    page.newest_first[0].failure.age_ns = one.failure.age_ns;  // ages as time passes
    EXPECT_EQ(page.newest_first[0], one);
}

TEST_F(CardStoreTest, FilesAreForTheDaemonAlone) {
    CardStore store(state_, {});
    store.add(card(1), 7);
    struct stat info {};
    ASSERT_EQ(stat((state_ / "cards").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    for (const auto& file : fs::directory_iterator(state_ / "cards")) {
        ASSERT_EQ(stat(file.path().c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0777, 0600u);
    }
}

TEST_F(CardStoreTest, BeyondTheNumberTheUserWithMostLosesTheOldest) {
    CardStore store(state_, {.number = 4});
    store.add(card(1, 1000), 7);
    for (uint64_t number = 2; number <= 10; ++number) {
        store.add(card(number, 1001), 7);
    }
    EXPECT_THAT(numbers(store), ElementsAre(10, 9, 8, 1));
    EXPECT_EQ(std::distance(fs::directory_iterator(state_ / "cards"), fs::directory_iterator()), 4);
}

TEST_F(CardStoreTest, BeyondTheBytesTheUserWithMostLosesTheOldest) {
    CardStore store(state_, {.number = 100, .bytes = 20'000});
    store.add(card(1, 1000), 7);
    for (uint64_t number = 2; number <= 10; ++number) {
        store.add(card(number, 1001, 0, 30), 7);
    }
    EXPECT_LE(store.bytes(), 20'000u);
    EXPECT_EQ(numbers(store).back(), 1u);
    EXPECT_EQ(numbers(store).front(), 10u);
}

TEST_F(CardStoreTest, KeepsTheLast256CardsIn64MiBUnlessToldOtherwise) {
    const CardCapacity capacity;
    EXPECT_EQ(capacity.number, 256u);
    EXPECT_EQ(capacity.bytes, 64u << 20);
    EXPECT_EQ(capacity.bytes_per_card, 1u << 20);
}

TEST_F(CardStoreTest, ALargeCardLosesItsLastBlocks) {
    constexpr uint64_t kBytes = 100'000;
    CardStore store(state_, {.bytes_per_card = kBytes});
    store.add(card(1, 1000, 0, 4000), 7);
    const auto page = store.read([](uint32_t, const auto&) { return true; }, 10, 10'000);
    ASSERT_THAT(page.newest_first, SizeIs(1));
    const census::FailureCard& kept = *page.newest_first[0].failure.card;
    EXPECT_EQ(kept.blocks.size() + kept.blocks_left_out, 4000u);
    EXPECT_LE(store.bytes(), kBytes);
    EXPECT_GE(store.bytes(), kBytes * 3 / 4) << "as many as fit";
    EXPECT_EQ(store.lost(), 0u);
}

TEST_F(CardStoreTest, AnAnswerHasSoManyBlocksAndNoMore) {
    CardStore store(state_, {});
    store.add(card(1, 1000, 0, 10), 7);
    store.add(card(2, 1000, 0, 10), 7);
    const auto page = store.read([](uint32_t, const auto&) { return true; }, 10, 15);
    ASSERT_THAT(page.newest_first, SizeIs(2));
    EXPECT_THAT(page.newest_first[0].failure.card->blocks, SizeIs(10));
    EXPECT_THAT(page.newest_first[1].failure.card->blocks, SizeIs(5));
    EXPECT_EQ(page.newest_first[1].failure.card->blocks_left_out, 5u);
}

TEST_F(CardStoreTest, OnlyThoseOfTheUsersThatAreWantedAreRead) {
    CardStore store(state_, {});
    store.add(card(1, 1000), 7);
    store.add(card(2, 1001), 7);
    const auto page = store.read([](uint32_t uid, const auto&) { return uid == 1000; }, 10, 10);
    ASSERT_THAT(page.newest_first, SizeIs(1));
    EXPECT_EQ(page.newest_first[0].failure.card->number, 1u);
    EXPECT_EQ(page.total, 1u);
}

TEST_F(CardStoreTest, WhatIsDamagedOrNotACardIsSkipped) {
    CardStore(state_, {}).add(card(1), 7);
    const std::string name = fs::directory_iterator(state_ / "cards")->path().string();
    std::ofstream(name) << "{ \"pid\": ";
    std::ofstream(state_ / "cards" / "notes.txt") << "hello";
    std::ofstream(name + ".new") << "half";
    const CardStore next(state_, {});
    EXPECT_EQ(next.size(), 1u);
    EXPECT_THAT(numbers(next), IsEmpty());
    EXPECT_FALSE(fs::exists(name + ".new")) << "what a killed daemon left";
}

TEST_F(CardStoreTest, ACardThatCanNotBeWrittenIsLostCountedAndNotedOnce) {
    std::vector<std::string> notes;
    std::ofstream(state_ / "cards") << "a file in the place of the folder";
    CardStore store(state_, {}, [&](const std::string& line) { notes.push_back(line); });
    store.add(card(1), 7);
    store.add(card(2), 7);
    EXPECT_EQ(store.lost(), 2u);
    EXPECT_THAT(store.problem(), HasSubstr("Not a directory"));
    ASSERT_THAT(notes, SizeIs(1));
    EXPECT_THAT(notes[0], HasSubstr((state_ / "cards").string()));
    CardStore without({}, {});
    without.add(card(1), 7);
    EXPECT_THAT(without.problem(), HasSubstr("TTMEM_STATE_DIR"));
}

TEST_F(CardStoreTest, AFullDiskLosesTheCardAndKeepsTheOthers) {
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("none", state_.c_str(), "tmpfs", 0, "size=64k") != 0) {
            _exit(77);
        }
        CardStore store(state_, {});
        store.add(card(1), 7);
        store.add(card(2, 1000, 0, 2000), 7);  // about 400 KiB
        const bool is_lost = store.lost() == 1 && store.problem().find("No space left") != std::string::npos;
        store.add(card(3), 7);
        _exit(is_lost && numbers(store) == std::vector<uint64_t>{3, 1} ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77) {
        GTEST_SKIP() << "no mount namespaces";
    }
    EXPECT_EQ(status, 0);
}

TEST_F(CardStoreTest, TheStateFolderIsTheNamedOneElseThatOfTheService) {
    const auto with = [](const char* named, const char* given, bool is_chosen) {
        named != nullptr ? setenv("TTMEM_STATE_DIR", named, 1) : unsetenv("TTMEM_STATE_DIR");
        given != nullptr ? setenv("STATE_DIRECTORY", given, 1) : unsetenv("STATE_DIRECTORY");
        const fs::path result = state_directory("/run/x", is_chosen);
        unsetenv("TTMEM_STATE_DIR");
        unsetenv("STATE_DIRECTORY");
        return result;
    };
    EXPECT_EQ(with("/a/b", "/var/lib/ttmem", true), "/a/b");
    EXPECT_EQ(with(nullptr, "/var/lib/ttmem", true), "/run/x/state") << "one of several daemons";
    EXPECT_EQ(with(nullptr, "/var/lib/ttmem", false), "/var/lib/ttmem");
    EXPECT_NE(with(nullptr, "/var/lib/other", false), "/var/lib/other") << "that of another service";
    if (geteuid() == 0) {
        EXPECT_EQ(with(nullptr, nullptr, false), "/var/lib/ttmem");
    }
}

TEST_F(CardStoreTest, TheStateFolderOfAnOrdinaryUserIsThatOfTheSession) {
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setresuid(1000, 1000, 1000) != 0) {
            _exit(77);
        }
        const auto is_at = [](const fs::path& expected) {
            return state_directory("/run/x", false) == expected;
        };
        unsetenv("STATE_DIRECTORY");
        unsetenv("TTMEM_STATE_DIR");
        setenv("HOME", "/u", 1);
        setenv("XDG_STATE_HOME", "/u/state", 1);
        const bool is_of_session = is_at("/u/state/ttmem");
        setenv("TTMEM_STATE_DIR", "/a/b", 1);
        const bool is_named = is_at("/a/b");
        unsetenv("TTMEM_STATE_DIR");
        unsetenv("XDG_STATE_HOME");
        const bool is_in_home = is_at("/u/.local/state/ttmem");
        unsetenv("HOME");
        const bool is_absent = is_at({});
        _exit((is_of_session ? 0 : 1) + (is_named ? 0 : 2) + (is_in_home ? 0 : 4) + (is_absent ? 0 : 8));
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77) {
        GTEST_SKIP() << "no other users";
    }
    EXPECT_EQ(status, 0) << "1: XDG_STATE_HOME, 2: TTMEM_STATE_DIR, 4: HOME, 8: none";
}

// A segment with one card.
void add_card(census::TestSegment& segment) {
    segment.add_device(census::small_chip(0x10, 0));
    segment.add_set(1);
    segment::CardHead head;
    head.number = 1;
    head.failure.card = 1;
    head.failure.members = 1;
    uint64_t words[segment::kCardHeadWords];
    std::memcpy(words, &head, sizeof head);
    auto* card = &segment.entry<segment::Word>(segment::RegionId::cards, 0);
    for (size_t i = 0; i < segment::kCardHeadWords; ++i) {
        card[1 + i].store(words[i]);
    }
    card[0].store(1);
    segment.header().cards.store(1);
}

TEST_F(CardStoreTest, TheKeeperKeepsEachCardOnceAlsoThatOfAProcessThatHasEnded) {
    census::TestSegment living;
    census::TestSegment ended;
    add_card(living);
    add_card(ended);
    ProcessTable table;
    table.add(living.process(5), {});
    CardStore store(state_, {});
    CardKeeper keeper(table, store);
    keeper.keep_new_cards();
    EXPECT_EQ(store.size(), 1u);
    keeper.keep_new_cards();
    EXPECT_EQ(store.size(), 1u);
    keeper.process_ended(ended.process(6, 100, census::ProcessState::dead));
    keeper.keep_new_cards();
    EXPECT_EQ(store.size(), 2u);
    CardStore next(state_, {});
    CardKeeper again(table, next);
    again.keep_new_cards();
    EXPECT_EQ(next.size(), 2u) << "a daemon that starts again has them already";
}

TEST_F(CardStoreTest, OfManyProcessesThatEndAtOnceTheCardsOfTheLastComeWithTheNextRoundOrAreCountedAsLost) {
    ProcessTable table;
    CardStore store(state_, {});
    CardKeeper keeper(table, store);
    std::vector<std::unique_ptr<census::TestSegment>> ended;
    for (uint32_t pid = 1; pid <= 66; ++pid) {
        add_card(*ended.emplace_back(std::make_unique<census::TestSegment>()));
        keeper.process_ended(ended.back()->process(pid, 100, census::ProcessState::dead));
    }
    EXPECT_EQ(store.lost(), 2u) << "64 wait at most";
    keeper.keep_new_cards();
    EXPECT_EQ(store.size(), 32u) << "of one user, in one round";
    keeper.keep_new_cards();
    EXPECT_EQ(store.size(), 64u);
}

}  // namespace
}  // namespace ttmem::daemon
