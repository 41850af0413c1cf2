// SPDX-License-Identifier: Apache-2.0
#include "daemon/options.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ttmem::daemon {
namespace {

ParsedOptions parse(std::vector<std::string> words) {
    words.insert(words.begin(), "ttmemd");
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(ListenAddress, IsANumericAddressAndAPort) {
    EXPECT_EQ(parse_address("127.0.0.1:9479").value(), (ListenAddress{"127.0.0.1", 9479}));
    EXPECT_EQ(parse_address("localhost:1").value(), (ListenAddress{"127.0.0.1", 1}));
    EXPECT_EQ(parse_address("[::1]:0").value(), (ListenAddress{"::1", 0}));
    EXPECT_EQ((ListenAddress{"::1", 5}.text()), "[::1]:5");
    for (const char* wrong :
         {"", ":", "9479", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x", "host:1"}) {
        EXPECT_FALSE(parse_address(wrong)) << wrong;
    }
    EXPECT_TRUE((ListenAddress{"127.1.2.3", 1}.is_loopback()));
    EXPECT_FALSE((ListenAddress{"0.0.0.0", 1}.is_loopback()));
    EXPECT_FALSE((ListenAddress{"::", 1}.is_loopback()));
}

TEST(Options, HaveDefaultsWithoutArguments) {
    const auto parsed = parse({});
    ASSERT_TRUE(parsed.options);
    EXPECT_EQ(parsed.options->listen, (ListenAddress{"127.0.0.1", 9479}));
    EXPECT_FALSE(parsed.options->is_listen_explicit);
    EXPECT_EQ(parsed.options->log_events, EventLogLevel::summary);
}

TEST(Options, TheClassicSocketIsAtItsOldPathUnlessADirectoryIsNamed) {
    unsetenv("TTMEM_RUNTIME_DIR");
    EXPECT_EQ(classic_wire_path(*parse({}).options), "/tmp/tt_allocation_server.sock");
    EXPECT_EQ(classic_wire_path(*parse({"--runtime-dir", "/x"}).options), "/x/classic.sock");
    EXPECT_EQ(classic_wire_path(*parse({"--runtime-dir", "/x", "--classic-wire", "/y"}).options), "/y");
    EXPECT_EQ(classic_wire_path(*parse({"--classic-wire", "none"}).options), "");
    setenv("TTMEM_RUNTIME_DIR", "/z", 1);
    EXPECT_EQ(classic_wire_path(*parse({}).options), "/z/classic.sock");
    unsetenv("TTMEM_RUNTIME_DIR");
    DaemonOptions options;
    ASSERT_TRUE(read_config("classic_wire = '/c'", "ttmemd.toml", options));
    EXPECT_EQ(classic_wire_path(options), "/c");
}

TEST(Options, TheOldServersNameSelectsItsLog) {
    std::string name = "/usr/bin/allocation_server_poc";
    char* arguments[] = {name.data(), nullptr};
    EXPECT_EQ(parse_options(1, arguments).options->log_events, EventLogLevel::all);
}

TEST(Options, QuietHasAShortName) {
    EXPECT_TRUE(parse({"-q"}).options->quiet);
    EXPECT_FALSE(parse({}).options->quiet);
}

TEST(Options, TheFlightRecorderIsOffUnlessAFolderIsNamed) {
    EXPECT_EQ(parse({}).options->flight.folder, "");
    const auto parsed = parse({"--record", "/r", "--record-hours", "3", "--record-bytes", "64MiB"});
    ASSERT_TRUE(parsed.options);
    EXPECT_EQ(parsed.options->flight.folder, "/r");
    EXPECT_EQ(parsed.options->flight.limits.hours, 3u);
    EXPECT_EQ(parsed.options->flight.limits.bytes, uint64_t{64} << 20);
    EXPECT_FALSE(parse({"--record", "/r", "--record-hours", "0"}).options);
    EXPECT_FALSE(parse({"--record", "/r", "--record-bytes", "1MiB"}).options);
    EXPECT_FALSE(parse({"--record", "/r", "--record-bytes", "-1"}).options);
    DaemonOptions options;
    ASSERT_TRUE(
        read_config("[record]\nfolder = '/f'\nhours = 5\nbytes = 99999999\n", "ttmemd.toml", options));
    EXPECT_EQ(options.flight.folder, "/f");
    EXPECT_EQ(options.flight.limits.hours, 5u);
    EXPECT_EQ(options.flight.limits.bytes, 99'999'999u);
    EXPECT_FALSE(read_config("[record]\nhours = -1\n", "ttmemd.toml", options));
    EXPECT_FALSE(read_config("[record]\nfile = 'x'\n", "ttmemd.toml", options));
}

TEST(Options, ListeningOnTheNetworkNeedsAToken) {
    EXPECT_FALSE(parse({"--listen", "0.0.0.0:9479"}).options);
    EXPECT_FALSE(parse({"--listen", "[::]:9479"}).options);
    EXPECT_TRUE(parse({"--listen", "0.0.0.0:9479", "--token-file", "/x"}).options);
    EXPECT_TRUE(parse({"--listen", "[::1]:9479"}).options);
    EXPECT_FALSE(parse({"--listen", "none"}).options->listen);
}

TEST(Options, InvalidOptionsAreAUsageError) {
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"--log-events", "much"},
                                               {"--listen", "here"},
                                               {"--nonsense"},
                                               {"word"},
                                               {"--config", "/nonexistent"}}) {
        const auto parsed = parse(words);
        EXPECT_FALSE(parsed.options) << words[0];
        EXPECT_EQ(parsed.exit_code, 2) << words[0];
    }
}

TEST(Config, SetsWhatTheCommandLineLeavesOut) {
    char name[] = "/tmp/ttmem-config-XXXXXX";
    close(mkstemp(name));
    std::ofstream(name) << "log_events = \"all\"\nlisten = \"127.0.0.1:1\"\n[post_mortems]\nnumber = 3\n";
    const auto parsed = parse({"--config", name, "--listen", "127.0.0.1:2"});
    std::filesystem::remove(name);
    ASSERT_TRUE(parsed.options);
    EXPECT_EQ(parsed.options->log_events, EventLogLevel::all);
    EXPECT_EQ(parsed.options->listen->port, 2);
    EXPECT_EQ(parsed.options->post_mortems.number, 3u);
}

TEST(Config, AnErrorNamesTheLine) {
    for (const char* text :
         {"\nquiet = 1", "\nlisten = \"here\"", "\nnonsense = 1", "\nlog_events = \"much\"",
          "\n= =", "\n[post_mortems]\nnumber = 0", "\nruntime_dir = 5", "\npost_mortems = 5"}) {
        DaemonOptions options;
        const auto read = read_config(text, "ttmemd.toml", options);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().text.find("ttmemd.toml, line "), 0u) << read.error().text;
        EXPECT_EQ(read.error().text.find("line 1:"), std::string::npos) << read.error().text;
    }
}

}  // namespace
}  // namespace ttmem::daemon
