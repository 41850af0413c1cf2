// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic/wire.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <filesystem>
#include <future>
#include <thread>

#include "base/unix_socket.hpp"
#include "census/segment_test_support.hpp"
#include "sources/classic_wire/message.hpp"

namespace ttmem::daemon {
namespace {

namespace asio = boost::asio;
using sources::classic_wire::Generation;
using sources::classic_wire::Message;
using sources::classic_wire::MessageType;
using sources::classic_wire::WireAnswer;
using sources::classic_wire::WireRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int32_t kDevice = 40;

void wait_until(const std::function<bool()>& is_true) {
    for (int i = 0; i < 20'000 && !is_true(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(is_true());
}

// A client in this process.
class TestWire {
public:
    explicit TestWire(const std::string& path) : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        EXPECT_TRUE(base::UnixAddress(path.c_str()).connect(socket_.get()));
        limit_wait(20'000);
    }

    void limit_wait(int milliseconds) {
        const timeval time{milliseconds / 1000, milliseconds % 1000 * 1000};
        setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    }

    // All in one call, so that the daemon reads them together.
    void send(const std::vector<WireRequest>& requests) {
        std::string bytes;
        for (WireRequest request : requests) {
            request.process = 99;
            const Message message = encode(request);
            bytes.append(message.begin(), message.end());
        }
        EXPECT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }

    std::optional<WireAnswer> receive() {
        Message message{};
        const ssize_t got = recv(socket_.get(), message.data(), message.size(), MSG_WAITALL);
        return got == static_cast<ssize_t>(message.size())
                   ? std::optional(decode_answer(message, Generation::bytes_144))
                   : std::nullopt;
    }
    std::optional<WireAnswer> ask(const WireRequest& question) {
        send({question});
        return receive();
    }
    bool is_closed() {
        char byte = 0;
        return recv(socket_.get(), &byte, 1, 0) == 0;
    }

private:
    base::Descriptor socket_;
};

WireRequest request(MessageType type, uint64_t size = 0, uint64_t buffer = 0, int32_t device = kDevice) {
    WireRequest result;
    result.type = static_cast<uint8_t>(type);
    result.device = device;
    result.size = size;
    result.buffer = buffer;
    return result;
}
const WireRequest kQuery = request(MessageType::query);
WireRequest allocate(uint64_t size, uint64_t buffer) { return request(MessageType::allocate, size, buffer); }

class ClassicWireTest : public testing::Test {
protected:
    explicit ClassicWireTest(BudgetLimits limits = kBudgetLimits) : budgets(limits) {
        char pattern[] = "/tmp/ttmem-classic-XXXXXX";
        folder = mkdtemp(pattern);
        path = folder + "/classic.sock";
        const auto listening = wire.listen(path);
        EXPECT_TRUE(listening) << listening.error().text;
        thread = std::thread([this] { loop.run(); });
    }
    ~ClassicWireTest() override {
        asio::post(loop, [this] {
            wire.stop();
            loop.stop();
        });
        thread.join();
        workers.stop();
        std::filesystem::remove_all(folder);
    }

    static BudgetLimits limits_with(Budget budget, BudgetLimit limit) {
        BudgetLimits limits = kBudgetLimits;
        limits[static_cast<size_t>(budget)] = limit;
        return limits;
    }

    // More processes than the loop computes answers for.
    void add_processes() {
        segment.add_device(census::small_chip(0x10, 0));
        segment.add_set(1);
        for (uint32_t i = 0; i < 70; ++i) {
            ASSERT_TRUE(process_table.add(segment.process(1'000'000 + i), {1, 1'000 + i}));
        }
    }

    // The workers do nothing for this user until the result has its value.
    std::shared_ptr<std::promise<void>> block_workers() {
        auto blocked = std::make_shared<std::promise<void>>();
        std::promise<void> begun;
        workers.post(user, [&begun, until = blocked->get_future().share()] {
            begun.set_value();
            until.wait();
        });
        begun.get_future().wait();
        return blocked;
    }

    uint64_t requested() const {
        for (const census::Process& process : process_table.census().processes) {
            if (process.source == census::ProcessSource::classic) {
                const segment::Totals totals = process.ledger->totals();
                return totals.sets.empty() ? 0 : totals.sets[0].pools[0].requested;
            }
        }
        return 0;
    }

    void run_on_loop(const std::function<void()>& function) {
        std::promise<void> done;
        asio::post(loop, [&] {
            function();
            done.set_value();
        });
        done.get_future().wait();
    }

    const User user = geteuid();
    std::string folder;
    std::string path;
    Budgets budgets;
    base::Descriptor nowhere{open("/dev/null", O_WRONLY | O_CLOEXEC)};
    LogWriter log_writer{nowhere.get()};
    std::mutex mutex;
    std::vector<std::string> lines;
    RefusalLog refusals{budgets, [this](const std::string& line) {
                            const std::lock_guard lock(mutex);
                            lines.push_back(line);
                        }};
    std::vector<census::Omission> skipped;
    census::TestSegment segment;
    asio::io_context loop{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard{loop.get_executor()};
    FairWorkers workers{2};
    ProcessTable process_table;
    std::optional<uint32_t> number;  // of the last process
    ClassicWire wire{{loop, workers, budgets, process_table, log_writer, refusals,
                      [this](const sources::segments::AttachedSegment& attached) {
                          number = process_table.add(attached.process, attached.file);
                          return number;
                      },
                      [this](std::vector<census::Omission> omissions) {
                          const std::lock_guard lock(mutex);
                          skipped = std::move(omissions);
                      }}};
    std::thread thread;
};

TEST_F(ClassicWireTest, OnAQuietHostTheLoopAnswersItself) {
    const auto blocked = block_workers();
    TestWire client(path);
    client.send({kQuery, allocate(10, 1), kQuery, allocate(5, 2), kQuery});
    EXPECT_EQ(client.receive()->dram, 0u);
    EXPECT_EQ(client.receive()->dram, 10u);
    EXPECT_EQ(client.receive()->dram, 15u);
    blocked->set_value();
}

TEST_F(ClassicWireTest, WithManyProcessesAWorkerAnswersAndTheOrderStays) {
    add_processes();
    TestWire client(path);
    client.send({kQuery, allocate(10, 1), kQuery, kQuery, allocate(5, 2),
                 request(MessageType::device_info_query, 0, 0, -1), allocate(1, 3), kQuery});
    EXPECT_EQ(client.receive()->dram, 0u);
    EXPECT_EQ(client.receive()->dram, 10u);
    EXPECT_EQ(client.receive()->dram, 10u);
    EXPECT_EQ(client.receive()->devices, kDevice + 1u);
    EXPECT_EQ(client.receive()->dram, 16u);
    client.send({allocate(100, 4), kQuery});
    EXPECT_EQ(client.receive()->dram, 116u) << "the connection is read again";
}

TEST_F(ClassicWireTest, AWaitingQuestionHoldsUpItsConnectionAndNotTheLoop) {
    add_processes();
    const auto blocked = block_workers();
    TestWire asking(path);
    asking.send({allocate(10, 1), kQuery, allocate(20, 2)});
    TestWire other(path);
    other.send({allocate(3, 3)});
    wait_until([this] { return requested() == 13; });
    asking.limit_wait(50);
    EXPECT_FALSE(asking.receive());
    EXPECT_EQ(requested(), 13u) << "what comes after a question counts after it";
    asking.limit_wait(20'000);
    blocked->set_value();
    EXPECT_EQ(asking.receive()->dram, 13u);
    wait_until([this] { return requested() == 33; });
}

TEST_F(ClassicWireTest, ALoneQuestionOfEachSizeIsAnsweredByAWorkerOnce) {
    add_processes();
    for (const Generation generation : sources::classic_wire::kGenerations) {
        const base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        ASSERT_TRUE(base::UnixAddress(path.c_str()).connect(socket.get()));
        for (int i = 0; i < 2; ++i) {
            const Message question = encode(kQuery);
            ASSERT_EQ(send(socket.get(), question.data(), size_of(generation), 0),
                      static_cast<ssize_t>(size_of(generation)));
            Message answer{};
            ASSERT_EQ(recv(socket.get(), answer.data(), size_of(generation), MSG_WAITALL),
                      static_cast<ssize_t>(size_of(generation)));
            EXPECT_EQ(decode_answer(answer, generation).device, kDevice);
        }
    }
}

TEST_F(ClassicWireTest, WhatWaitsBehindAQuestionCountsWhenItsProcessEnds) {
    add_processes();
    const auto blocked = block_workers();
    TestWire client(path);
    client.send({allocate(10, 1), kQuery, allocate(20, 2), kQuery});
    wait_until([this] { return requested() == 10; });
    run_on_loop([this] { wire.ended(*number); });
    EXPECT_EQ(requested(), 30u);
    EXPECT_EQ(budgets.used_by(Budget::classic_bytes, user), 0u);
    blocked->set_value();
    EXPECT_EQ(client.receive()->dram, 30u) << "of the process table, which still has it here";
    EXPECT_EQ(client.receive()->dram, 30u);
}

TEST_F(ClassicWireTest, TheEndOfAConnectionGivesItsShareBack) {
    {
        TestWire client(path);
        EXPECT_TRUE(client.ask(kQuery));
        EXPECT_EQ(budgets.used_by(Budget::classic_connections, user), 1u);
    }
    wait_until([this] { return budgets.used_by(Budget::classic_connections, user) == 0; });
}

class TwoConnectionsTest : public ClassicWireTest {
protected:
    TwoConnectionsTest() : ClassicWireTest(limits_with(Budget::classic_connections, {2, 4})) {}
};

TEST_F(TwoConnectionsTest, ConnectionsBeyondTheShareAreClosedAtOnceAndLoggedOnce) {
    auto first = std::make_unique<TestWire>(path);
    EXPECT_TRUE(first->ask(kQuery));
    TestWire second(path);
    EXPECT_TRUE(second.ask(kQuery));
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(TestWire(path).is_closed());
    }
    EXPECT_TRUE(second.ask(kQuery)) << "the others are served";
    EXPECT_EQ(budgets.uses()[static_cast<size_t>(Budget::classic_connections)].refused, 10u);
    first.reset();
    wait_until([this] { return budgets.used_by(Budget::classic_connections, user) == 1; });
    EXPECT_TRUE(TestWire(path).ask(kQuery));
    const std::lock_guard lock(mutex);
    EXPECT_THAT(lines,
                ElementsAre(HasSubstr("to the classic wire are closed: at most 2 per user, 4 in all")));
}

class SmallLedgersTest : public ClassicWireTest {
protected:
    SmallLedgersTest() : ClassicWireTest(limits_with(Budget::classic_bytes, {160 << 10, 160 << 10})) {}
};

TEST_F(SmallLedgersTest, AllocationsBeyondTheBudgetMakeTheClientInexact) {
    TestWire client(path);
    std::vector<WireRequest> requests;
    for (uint64_t i = 1; i <= 3'000; ++i) {
        requests.push_back(allocate(1, i));
    }
    for (size_t i = 0; i < requests.size(); i += 100) {
        client.send({requests.begin() + static_cast<std::ptrdiff_t>(i),
                     requests.begin() + static_cast<std::ptrdiff_t>(i + 100)});
    }
    const uint64_t counted = client.ask(kQuery)->dram;
    EXPECT_GT(counted, 100u);
    EXPECT_LE(budgets.used_by(Budget::classic_bytes, user), uint64_t{160} << 10);
    const census::Census census = process_table.census();
    ASSERT_EQ(census.processes.size(), 1u);
    EXPECT_EQ(census.processes[0].ledger->inexact(segment::Inexact::ledger_full), 3'000 - counted);
}

class NoLedgersTest : public ClassicWireTest {
protected:
    NoLedgersTest() : ClassicWireTest(limits_with(Budget::classic_bytes, {4096, 4096})) {}
};

TEST_F(NoLedgersTest, AClientWithoutALedgerIsListedAsSkippedAsLongAsItIsConnected) {
    {
        TestWire client(path);
        client.send({allocate(1, 1)});
        EXPECT_EQ(client.ask(kQuery)->dram, 0u);
        const std::lock_guard lock(mutex);
        ASSERT_EQ(skipped.size(), 1u);
        EXPECT_EQ(skipped[0].pid, static_cast<uint32_t>(getpid()));
        EXPECT_THAT(skipped[0].detail, HasSubstr("its user's memory for classic clients is used up"));
        EXPECT_THAT(lines, ElementsAre(HasSubstr("its reports on the classic wire are not counted")));
    }
    wait_until([this] {
        const std::lock_guard lock(mutex);
        return skipped.empty();
    });
}

}  // namespace
}  // namespace ttmem::daemon
