// SPDX-License-Identifier: Apache-2.0
#include "daemon/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
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

TEST(Output, WritesLinesInOrder) {
    Pipe pipe;
    {
        Output output(pipe.write.get());
        output.line("one");
        output.line("two");
    }
    pipe.write = {};
    EXPECT_EQ(pipe.read_all(), "one\ntwo\n");
}

TEST(Output, AReaderThatStopsReadingCostsLinesThatAreCounted) {
    Pipe pipe;
    uint64_t lost = 0;
    {
        Output output(pipe.write.get(), 1000);
        for (int i = 0; i < 100'000; ++i) {
            output.line("a line that nobody reads");  // would hang here
        }
        lost = output.lost();
        EXPECT_GT(lost, 90'000u);
        EXPECT_FALSE(output.has_room() && output.lost() == 0);
    }
}

TEST(Output, SaysHowManyLinesAreMissingWhereTheyAre) {
    Pipe pipe;
    const int size = fcntl(pipe.write.get(), F_SETPIPE_SZ, 4096);
    ASSERT_GT(size, 0);
    std::string all;
    {
        Output output(pipe.write.get(), 100);
        while (output.lost() == 0) {
            output.line("filler");
        }
        // Read until the queue has room again: the next line that is taken tells of the lost ones.
        std::array<char, 8192> buffer{};
        while (all.find("lines lost here") == std::string::npos) {
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

TEST(Output, AReaderThatIsGoneIsNoReasonToDie) {
    signal(SIGPIPE, SIG_IGN);
    Pipe pipe;
    pipe.read = {};
    Output output(pipe.write.get());
    output.line("into the void");
}

TEST(Output, LinesThatAFullDiskDoesNotTakeAreCounted) {
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    ASSERT_GE(full, 0);
    {
        Output output(full);
        for (uint64_t lines = 1; lines <= 3; ++lines) {
            output.line("a line");
            while (output.lost() < lines) {
                std::this_thread::yield();
            }
            EXPECT_EQ(output.lost(), lines) << "a line that tells of lost ones is none of them";
        }
    }
    close(full);
}

}  // namespace
}  // namespace ttmem::daemon
