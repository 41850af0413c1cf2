// SPDX-License-Identifier: Apache-2.0
#include "daemon/log/log_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "base/descriptor.hpp"

namespace ttmem::daemon {
namespace {

struct Pipe {
    Pipe() {
        std::array<int, 2> ends{};
        EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
        read = base::Descriptor(ends[0]);
        write = base::Descriptor(ends[1]);
    }
    std::string read_all() {
        std::string all;
        std::array<char, 4096> buffer{};
        for (ssize_t got = 0; (got = ::read(read.get(), buffer.data(), buffer.size())) > 0;) {
            all.append(buffer.data(), static_cast<size_t>(got));
        }
        return all;
    }
    base::Descriptor read;
    base::Descriptor write;
};

TEST(LogWriter, WritesLinesInOrder) {
    Pipe pipe;
    {
        LogWriter output(pipe.write.get());
        output.line("one");
        output.line("two");
    }
    pipe.write = {};
    EXPECT_EQ(pipe.read_all(), "one\ntwo\n");
}

TEST(LogWriter, LinesThatAStoppedReaderCostsAreCounted) {
    Pipe pipe;
    uint64_t lost = 0;
    {
        LogWriter output(pipe.write.get(), 1000);
        for (int i = 0; i < 100'000; ++i) {
            output.line("a line that nobody reads");  // would block here
        }
        lost = output.lost();
        EXPECT_GT(lost, 90'000u);
    }
}

TEST(LogWriter, ALineSaysHowManyLinesAreMissingBeforeIt) {
    Pipe pipe;
    const int size = fcntl(pipe.write.get(), F_SETPIPE_SZ, 4096);
    ASSERT_GT(size, 0);
    std::string all;
    {
        LogWriter output(pipe.write.get(), 100);
        while (output.lost() == 0) {
            output.line("filler");
        }
        // Read until the queue has room again: the next accepted line reports the lost ones.
        std::array<char, 8192> buffer{};
        while (all.find(" lost here") == std::string::npos) {
            output.line("after");
            pollfd ready{pipe.read.get(), POLLIN, 0};
            if (poll(&ready, 1, 1) == 1) {
                const ssize_t got = ::read(pipe.read.get(), buffer.data(), buffer.size());
                ASSERT_GT(got, 0);
                all.append(buffer.data(), static_cast<size_t>(got));
            }
        }
    }
    EXPECT_NE(all.find("[log] "), std::string::npos);
}

TEST(LogWriter, ASignalWhileItWaitsForTheReaderDoesNotMakeItBlock) {
    signal(SIGPIPE, SIG_IGN);
    struct sigaction wake {};
    wake.sa_handler = [](int) {};  // without SA_RESTART: poll() ends with EINTR
    struct sigaction before {};
    ASSERT_EQ(sigaction(SIGUSR1, &wake, &before), 0);
    Pipe pipe;
    ASSERT_EQ(fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK), 0);
    const std::string page(4096, 'x');
    while (write(pipe.write.get(), page.data(), page.size()) > 0) {
    }
    ASSERT_EQ(fcntl(pipe.write.get(), F_SETFL, 0), 0);

    auto output = std::make_unique<LogWriter>(pipe.write.get());
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, nullptr);  // here alone: the writer's thread gets the signals
    output->line("a line that nobody reads");
    for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        kill(getpid(), SIGUSR1);
    }
    auto ended = std::async(std::launch::async, [&] { output.reset(); });
    const bool is_prompt = ended.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    EXPECT_TRUE(is_prompt) << "it blocks in write()";
    pipe.read = {};  // ends such a write
    ended.get();
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    sigaction(SIGUSR1, &before, nullptr);
}

TEST(LogWriter, SurvivesAReaderThatHasGone) {
    signal(SIGPIPE, SIG_IGN);
    Pipe pipe;
    pipe.read = {};
    LogWriter output(pipe.write.get());
    output.line("into the void");
}

TEST(LogWriter, LinesLostToAFullDiskAreCounted) {
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    ASSERT_GE(full, 0);
    {
        LogWriter output(full);
        for (uint64_t lines = 1; lines <= 3; ++lines) {
            output.line("a line");
            while (output.lost() < lines) {
                std::this_thread::yield();
            }
            EXPECT_EQ(output.lost(), lines) << "a report of lost lines is not itself a lost line";
        }
    }
    close(full);
}

}  // namespace
}  // namespace ttmem::daemon
