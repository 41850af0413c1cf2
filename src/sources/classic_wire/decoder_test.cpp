// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/decoder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace ttmem::sources::classic_wire {
namespace {

constexpr int32_t kProcess = 4711;

struct RecordingListener final : Listener {
    std::vector<WireRequest> requests;
    std::vector<Generation> generations;
    std::vector<std::pair<Generation, Generation>> revisions;

    void message(const WireRequest& request, Generation generation) override {
        requests.push_back(request);
        generations.push_back(generation);
    }
    void revised(Generation from, Generation to) override {
        revisions.emplace_back(from, to);
        generations.back() = to;
    }
};

WireRequest request(uint8_t type, uint64_t buffer, int32_t process = kProcess) {
    return {type, 3, 4096 + buffer, 0, process, buffer, 123};
}

std::vector<WireRequest> some_requests(size_t count, uint8_t first_type = 1) {
    std::vector<WireRequest> result;
    for (size_t i = 0; i < count; ++i) {
        result.push_back(request(i == 0 ? first_type : static_cast<uint8_t>(1 + i % 3), i));
    }
    return result;
}

// The bytes that a client of a generation sends. The bytes after byte 72 of a request are 0 or arbitrary.
std::vector<unsigned char> bytes_of(const std::vector<WireRequest>& requests, Generation generation,
                                    std::mt19937* garbage = nullptr) {
    std::vector<unsigned char> result;
    for (const WireRequest& one : requests) {
        Message message = encode(one);
        for (size_t i = kShortest; garbage != nullptr && i < message.size(); ++i) {
            message[i] = static_cast<unsigned char>((*garbage)());
        }
        result.insert(result.end(), message.begin(),
                      message.begin() + static_cast<std::ptrdiff_t>(size_of(generation)));
    }
    return result;
}

void expect_recorded(const RecordingListener& recorded, const std::vector<WireRequest>& requests,
                     Generation generation, const std::string& how) {
    EXPECT_EQ(recorded.requests, requests) << how;
    EXPECT_EQ(recorded.generations, std::vector(requests.size(), generation)) << how;
}

class EachGeneration : public testing::TestWithParam<Generation> {};

TEST_P(EachGeneration, BurstsOfAnyLengthAreCutRight) {
    for (size_t count = 1; count < 12; ++count) {
        for (const bool is_one_drained : {false, true}) {
            const auto requests = some_requests(count);
            Decoder decoder;
            RecordingListener recorded;
            decoder.feed(bytes_of(requests, GetParam()), recorded);
            if (is_one_drained) {
                decoder.drained(recorded);
            }
            decoder.ended(recorded);
            expect_recorded(recorded, requests, GetParam(), std::to_string(count) + " at once");
            EXPECT_TRUE(recorded.revisions.empty());
        }
    }
}

TEST_P(EachGeneration, SingleMessagesWithPausesAreToldAtOnce) {
    const auto requests = some_requests(5);
    Decoder decoder;
    RecordingListener recorded;
    for (size_t i = 0; i < requests.size(); ++i) {
        decoder.feed(bytes_of({requests[i]}, GetParam()), recorded);
        decoder.drained(recorded);
        EXPECT_EQ(recorded.requests.size(), i + 1);
    }
    expect_recorded(recorded, requests, GetParam(), "one at a time");
    EXPECT_TRUE(recorded.revisions.empty());
}

TEST_P(EachGeneration, MessagesCutAtEveryByteAreCutRight) {
    const auto requests = some_requests(4);
    const auto bytes = bytes_of(requests, GetParam());
    for (const bool pauses : {false, true}) {
        for (size_t at = 1; at < bytes.size(); ++at) {
            Decoder decoder;
            RecordingListener recorded;
            decoder.feed(Bytes(bytes).first(at), recorded);
            if (pauses) {
                decoder.drained(recorded);
            }
            decoder.feed(Bytes(bytes).subspan(at), recorded);
            decoder.drained(recorded);
            expect_recorded(recorded, requests, GetParam(), "cut at " + std::to_string(at));
        }
    }
}

TEST_P(EachGeneration, OneMessageCutAtEveryByteIsToldOnce) {
    for (const uint8_t type : {uint8_t{1}, uint8_t{3}}) {
        const auto requests = some_requests(1, type);
        const auto bytes = bytes_of(requests, GetParam());
        for (size_t at = 1; at < bytes.size(); ++at) {
            Decoder decoder;
            RecordingListener recorded;
            decoder.feed(Bytes(bytes).first(at), recorded);
            decoder.drained(recorded);
            decoder.feed(Bytes(bytes).subspan(at), recorded);
            decoder.drained(recorded);
            expect_recorded(recorded, requests, GetParam(), "cut at " + std::to_string(at));
        }
    }
}

TEST_P(EachGeneration, ByteForByteWithAPauseAfterEachIsCutRight) {
    const auto requests = some_requests(4);
    Decoder decoder;
    RecordingListener recorded;
    for (const unsigned char byte : bytes_of(requests, GetParam())) {
        decoder.feed(Bytes(&byte, 1), recorded);
        decoder.drained(recorded);
    }
    expect_recorded(recorded, requests, GetParam(), "byte for byte");
}

TEST_P(EachGeneration, GarbageAfterByte72ChangesNothing) {
    for (uint32_t seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const auto requests = some_requests(1 + random() % 6);
        const auto bytes = bytes_of(requests, GetParam(), &random);
        const size_t at = random() % bytes.size();
        Decoder decoder;
        RecordingListener recorded;
        // A split right after a shorter message, before garbage that resembles a header, can't be decided.
        decoder.feed(Bytes(bytes).first(at), recorded);
        decoder.feed(Bytes(bytes).subspan(at), recorded);
        decoder.drained(recorded);
        expect_recorded(recorded, requests, GetParam(), "seed " + std::to_string(seed));
    }
}

TEST_P(EachGeneration, QueryAsTheFirstAndOnlyMessageIsToldWhenTheQueueIsDrained) {
    Decoder decoder;
    RecordingListener recorded;
    decoder.feed(bytes_of({request(3, 0)}, GetParam()), recorded);
    decoder.drained(recorded);
    expect_recorded(recorded, {request(3, 0)}, GetParam(), "one query");
    EXPECT_FALSE(decoder.wants_drained());
}

TEST_P(EachGeneration, HalfAMessageAtTheEndCountsAsNone) {
    const auto requests = some_requests(3);
    const auto bytes = bytes_of(requests, GetParam());
    const auto first_two = std::vector(requests.begin(), requests.begin() + 2);
    for (size_t missing = 1; missing < size_of(GetParam()); ++missing) {
        Decoder decoder;
        RecordingListener recorded;
        decoder.feed(Bytes(bytes).first(bytes.size() - missing), recorded);
        decoder.drained(recorded);
        decoder.ended(recorded);
        expect_recorded(recorded, first_two, GetParam(), std::to_string(missing) + " bytes are missing");
    }
}

TEST_P(EachGeneration, AnotherProcessNumberInLaterMessagesIsNoReasonToLoseTheThread) {
    std::vector<WireRequest> requests = {request(1, 1), request(1, 2, 99), request(2, 2, 1), request(1, 3)};
    for (const bool pauses : {false, true}) {
        Decoder decoder;
        RecordingListener recorded;
        for (const WireRequest& one : requests) {
            decoder.feed(bytes_of({one}, GetParam()), recorded);
            if (pauses) {
                decoder.drained(recorded);
            }
        }
        decoder.drained(recorded);
        expect_recorded(recorded, requests, GetParam(), pauses ? "with pauses" : "at once");
    }
}

INSTANTIATE_TEST_SUITE_P(Decoder, EachGeneration, testing::ValuesIn(kGenerations),
                         [](const auto& one) { return std::to_string(size_of(one.param)) + "Bytes"; });

TEST(Decoder, ChoiceIsRevisedUpwardWhenTheRestComesLater) {
    const auto bytes = bytes_of({request(3, 0)}, Generation::bytes_144);
    Decoder decoder;
    RecordingListener recorded;
    decoder.feed(Bytes(bytes).first(72), recorded);
    decoder.drained(recorded);
    EXPECT_EQ(recorded.generations, std::vector{Generation::bytes_72});
    decoder.feed(Bytes(bytes).subspan(72, 40), recorded);
    decoder.drained(recorded);
    EXPECT_EQ(recorded.generations, std::vector{Generation::bytes_112});
    decoder.feed(Bytes(bytes).subspan(112), recorded);
    decoder.drained(recorded);
    EXPECT_EQ(recorded.generations, std::vector{Generation::bytes_144});
    const std::vector<std::pair<Generation, Generation>> expected = {
        {Generation::bytes_72, Generation::bytes_112}, {Generation::bytes_112, Generation::bytes_144}};
    EXPECT_EQ(recorded.revisions, expected);
}

TEST(Decoder, TypesThatTheShortestGenerationLacksAreNeverOfIt) {
    const auto bytes = bytes_of({request(8, 1)}, Generation::bytes_144);
    Decoder decoder;
    RecordingListener recorded;
    decoder.feed(Bytes(bytes).first(72), recorded);
    decoder.drained(recorded);
    EXPECT_TRUE(recorded.requests.empty());
    decoder.feed(Bytes(bytes).subspan(72), recorded);
    decoder.drained(recorded);
    expect_recorded(recorded, {request(8, 1)}, Generation::bytes_144, "a circular buffer");
}

TEST(Decoder, WholePrefixOfAnOldTypeCountsAtTheEnd) {
    const auto bytes = bytes_of({request(1, 1)}, Generation::bytes_144);
    for (size_t length = 0; length < bytes.size(); ++length) {
        Decoder decoder;
        RecordingListener recorded;
        decoder.feed(Bytes(bytes).first(length), recorded);
        decoder.ended(recorded);
        EXPECT_EQ(recorded.requests.size(), length >= kShortest ? 1u : 0u) << length;
    }
    const auto newer = bytes_of({request(8, 1)}, Generation::bytes_144);
    Decoder decoder;
    RecordingListener recorded;
    decoder.feed(Bytes(newer).first(100), recorded);
    decoder.ended(recorded);
    EXPECT_TRUE(recorded.requests.empty());
}

TEST(Decoder, AStreamThatStartsWithNoTypeIsBrokenAndTellsNothing) {
    for (const int first : {0, 13, 255}) {
        std::vector<unsigned char> bytes(500, static_cast<unsigned char>(first));
        Decoder decoder;
        RecordingListener recorded;
        decoder.feed(bytes, recorded);
        decoder.ended(recorded);
        EXPECT_TRUE(decoder.is_broken());
        EXPECT_TRUE(recorded.requests.empty());
    }
}

TEST(Decoder, AnUnknownTypeInTheMiddleIsToldAndTheNextMessageIsStillFound) {
    const std::vector<WireRequest> requests = {request(1, 1), request(1, 2), request(77, 3), request(2, 1)};
    Decoder decoder;
    RecordingListener recorded;
    decoder.feed(bytes_of(requests, Generation::bytes_144), recorded);
    expect_recorded(recorded, requests, Generation::bytes_144, "type 77");
}

}  // namespace
}  // namespace ttmem::sources::classic_wire
