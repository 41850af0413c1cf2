// SPDX-License-Identifier: Apache-2.0

// The classic wire under load, beside a plain server of the same protocol in the same run: one thread per connection, recv() of one
// message at a time, a hash map under a mutex. Then the time from a QUERY to its answer, idle and beside senders that do not
// stop, with and without the log of all events. Prints one JSON document.
//
//     classic_wire_bench <ttmemd> [messages of each run [senders]]

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sources/classic_wire/message.hpp"

namespace {

using namespace ttmem::sources::classic_wire;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kLive = 1000;  // buffers of a sender
constexpr int kRounds = 5;        // odd: the median counts
constexpr int kQueries = 1000;    // of a round
constexpr int kQueriesBeside = 500;

[[noreturn]] void give_up(const char* what) {
    std::perror(what);
    std::exit(1);
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
}

bool receive(int socket, Message& message) {
    return recv(socket, message.data(), message.size(), MSG_WAITALL) == static_cast<ssize_t>(message.size());
}

void send_all(int socket, const Message& message) {
    if (send(socket, message.data(), message.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(message.size())) {
        give_up("send");
    }
}

// ---- the yardstick ---------------------------------------------------------------------------------------------------

class PlainServer {
public:
    void serve(int socket) {
        Message message{};
        while (receive(socket, message)) {
            const WireRequest request = decode_request(message);
            const std::lock_guard lock(mutex_);
            const uint64_t key = request.buffer << 8 | static_cast<uint64_t>(request.device);
            if (request.type == static_cast<uint8_t>(MessageType::allocate)) {
                live_[key] = request.size;
                total_ += request.size;
            } else if (request.type == static_cast<uint8_t>(MessageType::free)) {
                const auto found = live_.find(key);
                if (found != live_.end()) {
                    total_ -= found->second;
                    live_.erase(found);
                }
            } else {
                WireAnswer answer;
                answer.dram = total_;
                send_all(socket, encode(answer, Generation::bytes_144));
            }
        }
        close(socket);
    }

private:
    std::mutex mutex_;
    std::unordered_map<uint64_t, uint64_t> live_;
    uint64_t total_ = 0;
};

[[noreturn]] void run_plain_server(const std::string& path) {
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_of(path);
    if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener, 128) != 0) {
        give_up("listen");
    }
    static PlainServer server;
    while (true) {
        const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        std::thread([connection] { server.serve(connection); }).detach();
    }
}

// ---- the load ---------------------------------------------------------------------------------------------------------

struct Server {
    pid_t pid;
    std::string path;
};

int connect_to(const Server& server) {
    const sockaddr_un address = address_of(server.path);
    for (int tries = 0; tries < 10'000; ++tries) {
        const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
            return connection;
        }
        close(connection);
        usleep(1000);
    }
    give_up("connect");
}

void ask(int connection) {
    send_all(connection,
             encode(WireRequest{static_cast<uint8_t>(MessageType::query), 0, 0, 0, getpid(), 0, 0}));
    Message answer{};
    if (!receive(connection, answer)) {
        give_up("answer");
    }
}

// ALLOC and FREE in turn, with some buffers live. The answer to a final query shows that everything was processed.
void send_messages(const Server& server, uint64_t messages, uint64_t sender) {
    const int connection = connect_to(server);
    ask(connection);
    for (uint64_t i = 0; i < messages; ++i) {
        const uint64_t buffer = (sender << 32) + i / 2 % kLive + 1;
        const bool is_free = i % 2 == 1;
        const auto type = static_cast<uint8_t>(is_free ? MessageType::free : MessageType::allocate);
        send_all(connection, encode(WireRequest{type, 0, 4096, 0, getpid(), buffer, 0}));
    }
    ask(connection);
    close(connection);
}

uint64_t cpu_ns(pid_t pid) {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        give_up("clock of the server");
    }
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

std::vector<pid_t> start_senders(const Server& server, uint64_t senders, uint64_t messages) {
    std::vector<pid_t> result;
    for (uint64_t sender = 0; sender < senders; ++sender) {
        const pid_t pid = fork();
        if (pid == 0) {
            send_messages(server, messages / senders, sender);
            _exit(0);
        }
        result.push_back(pid);
    }
    return result;
}

void wait_for(const std::vector<pid_t>& pids) {
    for (const pid_t pid : pids) {
        waitpid(pid, nullptr, 0);
    }
}

struct Measurement {
    double per_second = 0;
    double cpu_ns = 0;  // of the server, per message
};

Measurement measure(const Server& server, uint64_t senders, uint64_t messages) {
    const uint64_t before = cpu_ns(server.pid);
    const auto start = Clock::now();
    wait_for(start_senders(server, senders, messages));
    const std::chrono::duration<double> took = Clock::now() - start;
    const auto count = static_cast<double>(messages);
    return {count / took.count(), static_cast<double>(cpu_ns(server.pid) - before) / count};
}

struct Comparison {
    Measurement ours;
    Measurement plain;
    double throughput_ratio = 0;
    double cpu_ratio = 0;
};

double middle(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Alternates the two servers, so that other load on the machine affects both sides of a ratio.
Comparison compare(const Server& ours, const Server& plain, uint64_t senders, uint64_t messages) {
    std::vector<double> figures[6];
    for (int round = 0; round < kRounds; ++round) {
        const Measurement one = measure(ours, senders, messages);
        const Measurement other = measure(plain, senders, messages);
        const double all[] = {one.per_second,
                              one.cpu_ns,
                              other.per_second,
                              other.cpu_ns,
                              one.per_second / other.per_second,
                              one.cpu_ns / other.cpu_ns};
        for (size_t i = 0; i < std::size(all); ++i) {
            figures[i].push_back(all[i]);
        }
    }
    return {{middle(figures[0]), middle(figures[1])},
            {middle(figures[2]), middle(figures[3])},
            middle(figures[4]),
            middle(figures[5])};
}

void print(uint64_t senders, const Comparison& of) {
    std::printf(
        ",\n \"senders_%d\": {\"per_second\": %.0f, \"plain_per_second\": %.0f, \"cpu_ns\": %.0f, "
        "\"plain_cpu_ns\": %.0f, \"throughput_ratio\": %.2f, \"cpu_ratio\": %.2f}",
        static_cast<int>(senders), of.ours.per_second, of.plain.per_second, of.ours.cpu_ns, of.plain.cpu_ns,
        of.throughput_ratio, of.cpu_ratio);
}

// Microseconds from a query to its answer.
struct Latency {
    double median = 0;
    double p99 = 0;
};

Latency query_latency(const Server& server, int queries) {
    const int connection = connect_to(server);
    std::vector<double> times;
    for (int i = 0; i < queries; ++i) {
        const auto start = Clock::now();
        ask(connection);
        times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    close(connection);
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

Latency query_latency_beside(const Server& server, uint64_t senders) {
    const std::vector<pid_t> pids = start_senders(server, senders, UINT64_MAX);
    usleep(500'000);  // until all of them send
    const Latency latency = query_latency(server, kQueriesBeside);
    for (const pid_t pid : pids) {
        kill(pid, SIGKILL);
    }
    wait_for(pids);
    return latency;
}

// Medians of several rounds, in which the servers take turns, so that other load on the machine affects each of them.
void print_queries(const std::vector<std::pair<const char*, Server>>& servers, uint64_t senders) {
    std::vector<std::vector<double>> medians(servers.size());
    std::vector<std::vector<double>> p99s(servers.size());
    for (int round = 0; round < kRounds; ++round) {
        for (size_t i = 0; i < servers.size(); ++i) {
            const Server& server = servers[i].second;
            const Latency latency =
                senders == 0 ? query_latency(server, kQueries) : query_latency_beside(server, senders);
            medians[i].push_back(latency.median);
            p99s[i].push_back(latency.p99);
        }
    }
    std::printf(",\n \"query_us_beside_%d\": {", static_cast<int>(senders));
    for (size_t i = 0; i < servers.size(); ++i) {
        std::printf("%s\"%s_median\": %.1f, \"%s_p99\": %.1f", i == 0 ? "" : ", ", servers[i].first,
                    middle(medians[i]), servers[i].first, middle(p99s[i]));
    }
    std::printf("}");
    std::fflush(stdout);
}

Server start(const std::string& path, const std::function<void()>& run) {
    const pid_t pid = fork();
    if (pid == 0) {
        run();
        _exit(1);
    }
    Server server{pid, path};
    close(connect_to(server));
    return server;
}

void end(const Server& server) {
    kill(server.pid, SIGTERM);
    waitpid(server.pid, nullptr, 0);
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count < 2) {
        std::fprintf(stderr, "usage: classic_wire_bench <ttmemd> [messages [senders]]\n");
        return 2;
    }
    const uint64_t messages = argument_count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1'000'000;
    const uint64_t only = argument_count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 0;
    char folder[] = "/tmp/ttmem-bench-XXXXXX";
    if (mkdtemp(folder) == nullptr) {
        give_up("mkdtemp");
    }
    const std::string plain_path = std::string(folder) + "/plain.sock";
    const Server plain = start(plain_path, [&] { run_plain_server(plain_path); });
    const auto start_daemon = [&](const char* log_events) {
        const std::string runtime = std::string(folder) + "/" + log_events;
        std::filesystem::create_directory(runtime);
        return start(runtime + "/classic.sock", [&] {
            dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
            execl(arguments[1], "ttmemd", "--listen", "none", "--log-events", log_events, "--runtime-dir",
                  runtime.c_str(), nullptr);
        });
    };
    const Server ours = start_daemon("off");
    std::printf("{\"messages\": %llu", static_cast<unsigned long long>(messages));
    for (const uint64_t senders : {1U, 4U, 16U}) {
        if (only == 0 || only == senders) {
            print(senders, compare(ours, plain, senders, messages));
        }
    }
    const Server logging = start_daemon("all");
    for (const uint64_t senders : {0U, 4U, 16U}) {
        print_queries({{"plain", plain}, {"without_log", ours}, {"with_log", logging}}, senders);
    }
    std::printf("}\n");
    for (const Server& server : {ours, logging, plain}) {
        end(server);
    }
    std::filesystem::remove_all(folder);
    return 0;
}
