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

struct Told final : Listener {
    std::vector<Request> requests;
    std::vector<Generation> generations;
    std::vector<std::pair<Generation, Generation>> revisions;

    void message(const Request& request, Generation generation) override {
        requests.push_back(request);
        generations.push_back(generation);
    }
    void revised(Generation from, Generation to) override {
        revisions.emplace_back(from, to);
        generations.back() = to;
    }
};

Request request(uint8_t type, uint64_t buffer, int32_t process = kProcess) {
    return {type, 3, 4096 + buffer, 0, process, buffer, 123};
}

std::vector<Request> some_requests(size_t count, uint8_t first_type = 1) {
    std::vector<Request> result;
    for (size_t i = 0; i < count; ++i) {
        result.push_back(request(i == 0 ? first_type : static_cast<uint8_t>(1 + i % 3), i));
    }
    return result;
}

// As a client of a generation sends them; what comes after byte 72 of a request is 0 or whatever was there.
std::vector<unsigned char> bytes_of(const std::vector<Request>& requests, Generation generation,
                                    std::mt19937* garbage = nullptr) {
    std::vector<unsigned char> result;
    for (const Request& one : requests) {
        Message message = encode(one);
        for (size_t i = kShortest; garbage != nullptr && i < message.size(); ++i) {
            message[i] = static_cast<unsigned char>((*garbage)());
        }
        result.insert(result.end(), message.begin(),
                      message.begin() + static_cast<std::ptrdiff_t>(size_of(generation)));
    }
    return result;
}

void expect_told(const Told& told, const std::vector<Request>& requests, Generation generation,
                 const std::string& how) {
    EXPECT_EQ(told.requests, requests) << how;
    EXPECT_EQ(told.generations, std::vector(requests.size(), generation)) << how;
}

class EachGeneration : public testing::TestWithParam<Generation> {};

TEST_P(EachGeneration, BurstsOfAnyLengthAreCutRight) {
    for (size_t count = 1; count < 12; ++count) {
        for (const bool is_one_drained : {false, true}) {
            const auto requests = some_requests(count);
            Decoder decoder;
            Told told;
            decoder.feed(bytes_of(requests, GetParam()), told);
            if (is_one_drained) {
                decoder.drained(told);
            }
            decoder.ended(told);
            expect_told(told, requests, GetParam(), std::to_string(count) + " at once");
            EXPECT_TRUE(told.revisions.empty());
        }
    }
}

TEST_P(EachGeneration, SingleMessagesWithPausesAreToldAtOnce) {
    const auto requests = some_requests(5);
    Decoder decoder;
    Told told;
    for (size_t i = 0; i < requests.size(); ++i) {
        decoder.feed(bytes_of({requests[i]}, GetParam()), told);
        decoder.drained(told);
        EXPECT_EQ(told.requests.size(), i + 1);
    }
    expect_told(told, requests, GetParam(), "one at a time");
    EXPECT_TRUE(told.revisions.empty());
}

TEST_P(EachGeneration, MessagesCutAtEveryByteAreCutRight) {
    const auto requests = some_requests(4);
    const auto bytes = bytes_of(requests, GetParam());
    for (const bool pauses : {false, true}) {
        for (size_t at = 1; at < bytes.size(); ++at) {
            Decoder decoder;
            Told told;
            decoder.feed(Bytes(bytes).first(at), told);
            if (pauses) {
                decoder.drained(told);
            }
            decoder.feed(Bytes(bytes).subspan(at), told);
            decoder.drained(told);
            expect_told(told, requests, GetParam(), "cut at " + std::to_string(at));
        }
    }
}

TEST_P(EachGeneration, OneMessageCutAtEveryByteIsToldOnce) {
    for (const uint8_t type : {uint8_t{1}, uint8_t{3}}) {
        const auto requests = some_requests(1, type);
        const auto bytes = bytes_of(requests, GetParam());
        for (size_t at = 1; at < bytes.size(); ++at) {
            Decoder decoder;
            Told told;
            decoder.feed(Bytes(bytes).first(at), told);
            decoder.drained(told);
            decoder.feed(Bytes(bytes).subspan(at), told);
            decoder.drained(told);
            expect_told(told, requests, GetParam(), "cut at " + std::to_string(at));
        }
    }
}

TEST_P(EachGeneration, ByteForByteWithAPauseAfterEachIsCutRight) {
    const auto requests = some_requests(4);
    Decoder decoder;
    Told told;
    for (const unsigned char byte : bytes_of(requests, GetParam())) {
        decoder.feed(Bytes(&byte, 1), told);
        decoder.drained(told);
    }
    expect_told(told, requests, GetParam(), "byte for byte");
}

TEST_P(EachGeneration, GarbageAfterByte72ChangesNothing) {
    for (uint32_t seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const auto requests = some_requests(1 + random() % 6);
        const auto bytes = bytes_of(requests, GetParam(), &random);
        const size_t at = random() % bytes.size();
        Decoder decoder;
        Told told;
        // A split exactly behind a shorter message and garbage that looks like a header is beyond anybody.
        decoder.feed(Bytes(bytes).first(at), told);
        decoder.feed(Bytes(bytes).subspan(at), told);
        decoder.drained(told);
        expect_told(told, requests, GetParam(), "seed " + std::to_string(seed));
    }
}

TEST_P(EachGeneration, QueryAsTheFirstAndOnlyMessageIsToldWhenTheQueueIsDrained) {
    Decoder decoder;
    Told told;
    decoder.feed(bytes_of({request(3, 0)}, GetParam()), told);
    decoder.drained(told);
    expect_told(told, {request(3, 0)}, GetParam(), "one query");
    EXPECT_FALSE(decoder.wants_drained());
}

TEST_P(EachGeneration, HalfAMessageAtTheEndCountsAsNone) {
    const auto requests = some_requests(3);
    const auto bytes = bytes_of(requests, GetParam());
    const auto first_two = std::vector(requests.begin(), requests.begin() + 2);
    for (size_t missing = 1; missing < size_of(GetParam()); ++missing) {
        Decoder decoder;
        Told told;
        decoder.feed(Bytes(bytes).first(bytes.size() - missing), told);
        decoder.drained(told);
        decoder.ended(told);
        expect_told(told, first_two, GetParam(), std::to_string(missing) + " bytes are missing");
    }
}

TEST_P(EachGeneration, AnotherProcessNumberInLaterMessagesIsNoReasonToLoseTheThread) {
    std::vector<Request> requests = {request(1, 1), request(1, 2, 99), request(2, 2, 1), request(1, 3)};
    for (const bool pauses : {false, true}) {
        Decoder decoder;
        Told told;
        for (const Request& one : requests) {
            decoder.feed(bytes_of({one}, GetParam()), told);
            if (pauses) {
                decoder.drained(told);
            }
        }
        decoder.drained(told);
        expect_told(told, requests, GetParam(), pauses ? "with pauses" : "at once");
    }
}

INSTANTIATE_TEST_SUITE_P(Decoder, EachGeneration, testing::ValuesIn(kGenerations),
                         [](const auto& one) { return std::to_string(size_of(one.param)) + "Bytes"; });

TEST(Decoder, ChoiceIsRevisedUpwardWhenTheRestComesLater) {
    const auto bytes = bytes_of({request(3, 0)}, Generation::bytes_144);
    Decoder decoder;
    Told told;
    decoder.feed(Bytes(bytes).first(72), told);
    decoder.drained(told);
    EXPECT_EQ(told.generations, std::vector{Generation::bytes_72});
    decoder.feed(Bytes(bytes).subspan(72, 40), told);
    decoder.drained(told);
    EXPECT_EQ(told.generations, std::vector{Generation::bytes_112});
    decoder.feed(Bytes(bytes).subspan(112), told);
    decoder.drained(told);
    EXPECT_EQ(told.generations, std::vector{Generation::bytes_144});
    const std::vector<std::pair<Generation, Generation>> expected = {
        {Generation::bytes_72, Generation::bytes_112}, {Generation::bytes_112, Generation::bytes_144}};
    EXPECT_EQ(told.revisions, expected);
}

TEST(Decoder, TypesThatTheShortestGenerationLacksAreNeverOfIt) {
    const auto bytes = bytes_of({request(8, 1)}, Generation::bytes_144);
    Decoder decoder;
    Told told;
    decoder.feed(Bytes(bytes).first(72), told);
    decoder.drained(told);
    EXPECT_TRUE(told.requests.empty());
    decoder.feed(Bytes(bytes).subspan(72), told);
    decoder.drained(told);
    expect_told(told, {request(8, 1)}, Generation::bytes_144, "a circular buffer");
}

TEST(Decoder, WholePrefixOfAnOldTypeCountsAtTheEnd) {
    const auto bytes = bytes_of({request(1, 1)}, Generation::bytes_144);
    for (size_t length = 0; length < bytes.size(); ++length) {
        Decoder decoder;
        Told told;
        decoder.feed(Bytes(bytes).first(length), told);
        decoder.ended(told);
        EXPECT_EQ(told.requests.size(), length >= kShortest ? 1u : 0u) << length;
    }
    const auto newer = bytes_of({request(8, 1)}, Generation::bytes_144);
    Decoder decoder;
    Told told;
    decoder.feed(Bytes(newer).first(100), told);
    decoder.ended(told);
    EXPECT_TRUE(told.requests.empty());
}

TEST(Decoder, AStreamThatStartsWithNoTypeIsBrokenAndTellsNothing) {
    for (const int first : {0, 13, 255}) {
        std::vector<unsigned char> bytes(500, static_cast<unsigned char>(first));
        Decoder decoder;
        Told told;
        decoder.feed(bytes, told);
        decoder.ended(told);
        EXPECT_TRUE(decoder.is_broken());
        EXPECT_TRUE(told.requests.empty());
    }
}

TEST(Decoder, AnUnknownTypeInTheMiddleIsToldAndTheNextMessageIsStillFound) {
    const std::vector<Request> requests = {request(1, 1), request(1, 2), request(77, 3), request(2, 1)};
    Decoder decoder;
    Told told;
    decoder.feed(bytes_of(requests, Generation::bytes_144), told);
    expect_told(told, requests, Generation::bytes_144, "type 77");
}

}  // namespace
}  // namespace ttmem::sources::classic_wire
