// SPDX-License-Identifier: Apache-2.0
#include "daemon/daemon.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>

#include "daemon/api.hpp"
#include "daemon/attacher.hpp"
#include "daemon/chronicle.hpp"
#include "daemon/classic_wire.hpp"
#include "daemon/host_watch.hpp"
#include "daemon/http/server.hpp"
#include "daemon/notify.hpp"
#include "daemon/runtime_directory.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
using base::Error;

namespace {

constexpr size_t kWorkers = 2;  // a long list on one leaves the other for the next asker

void complain(const std::string& text) { std::cerr << "ttmemd: " + text + "\n"; }

// Each process takes two descriptors, each connection one.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

uint64_t cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// Pages of its own: what it shares with others is their segments, and files.
uint64_t private_bytes() {
    std::ifstream file("/proc/self/statm");
    uint64_t size = 0;
    uint64_t resident = 0;
    uint64_t shared = 0;
    file >> size >> resident >> shared;
    return (resident - std::min(resident, shared)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

class Daemon {
public:
    Daemon(const Options& options, RuntimeDirectory directory, AccessRules rules)
        : options_(options),
          directory_(std::move(directory)),
          output_(STDOUT_FILENO),
          event_log_(output_, options.quiet ? LogEvents::off : options.log_events),
          post_mortems_(options.post_mortems),
          chronicle_(history_thread_.get_executor(), roster_, event_log_),
          attacher_(loop_, workers_.get_executor(), roster_, told()),
          classic_wire_({loop_, workers_.get_executor(), roster_, output_, event_log_,
                         [this](sources::segments::Attached attached) {
                             return attacher_.admit(std::move(attached), history::Follower::From::beginning);
                         }}),
          api_({loop_, workers_.get_executor(), roster_, chronicle_, post_mortems_, std::move(rules),
                [this](view::SelfView& self) { describe(self); }}),
          server_(
              loop_, workers_.get_executor(),
              [this](http::Request request, const std::shared_ptr<http::Answer>& answer) {
                  api_.handle(std::move(request), answer);
              },
              limits(options)),
          signals_(loop_, SIGTERM, SIGINT, SIGHUP) {}

    int run() {
        if (const auto listening = listen(); !listening) {
            complain(listening.error().text);
            finish();
            return 1;
        }
        signals_.async_wait([this](boost::system::error_code error, int) {
            if (!error) {
                loop_.stop();
            }
        });
        host_watch_.start();
        chronicle_.start();
        attacher_.start();
        say("ttmemd " TTMEM_VERSION " is ready in " + directory_.path().string() + where_);
        notify_.ready();
        loop_.run();
        finish();
        return 0;
    }

private:
    static http::Limits limits(const Options& options) {
        http::Limits limits;
        limits.check_host = options.listen && options.listen->is_loopback();
        return limits;
    }

    Attacher::Told told() {
        return {[this](const Roster::Member& member, history::Follower::From from) {
                    chronicle_.attached(member, from);
                },
                [this](const Roster::Member& member) {
                    classic_wire_.ended(member.number);
                    census::Process process = member.process;
                    process.state = census::State::dead;
                    post_mortems_.add({std::move(process), view::read_here().time_ns});
                    chronicle_.died(member.number);
                },
                [this](uint32_t pid, const std::string& why) {
                    event_log_.note("! [PID " + std::to_string(pid) + "] " + why);
                }};
    }

    base::Expected<void> listen() {
        if (auto announced = attacher_.listen(directory_.announce_socket()); !announced) {
            return announced;
        }
        if (auto local = server_.listen_unix(directory_.api_socket()); !local) {
            return local;
        }
        if (auto classic = listen_classic(); !classic) {
            return classic;
        }
        if (!options_.listen) {
            return {};
        }
        const auto port = server_.listen_tcp(options_.listen->host, options_.listen->port);
        if (port) {
            where_ = " and on http://" + Address{options_.listen->host, *port}.text();
        } else if (port.error().code == Error::Code::refused && !options_.listen_was_asked_for) {
            complain("nothing is answered over TCP: " + port.error().text);
        } else {
            return tl::unexpected(port.error());
        }
        return {};
    }

    // Where another serves the classic wire, or its standard place can't be had, the rest works as well without it.
    base::Expected<void> listen_classic() {
        const std::string path = classic_wire_path(options_);
        auto listening = path.empty() ? base::Expected<void>() : classic_wire_.listen(path);
        if (listening) {
            return {};
        }
        if (listening.error().code != Error::Code::refused && !options_.classic_wire.empty()) {
            return tl::unexpected(std::move(listening.error()));
        }
        complain("clients of the classic wire are not served: " + listening.error().text);
        return {};
    }

    // Nobody is told any more, then whoever still works is waited for, then all goes in the order of its making.
    void finish() {
        notify_.stopping();
        classic_wire_.stop();
        attacher_.stop();
        host_watch_.stop();
        api_.stop();
        server_.stop();
        workers_.join();
        chronicle_.stop();
        history_thread_.join();
        say("ttmemd has ended");
    }

    void say(const std::string& text) {
        if (!options_.quiet) {
            output_.line(text);
        }
    }

    void describe(view::SelfView& self) const {
        self.version = TTMEM_VERSION;
        self.pid = static_cast<uint32_t>(getpid());
        self.uptime_ns = segment::monotonic_now() - started_ns_;
        self.cpu_ns = cpu_ns();
        self.memory_bytes = private_bytes();
        for (const Roster::Member& member : roster_.members()) {
            self.segment_bytes += member.process.ledger->resident_bytes();
        }
        self.connections = server_.counts().connections;
    }

    const Options& options_;
    RuntimeDirectory directory_;
    const uint64_t started_ns_ = segment::monotonic_now();
    std::string where_;
    Output output_;
    EventLog event_log_;
    asio::io_context loop_{1};
    Notify notify_{loop_};
    asio::thread_pool workers_{kWorkers};
    asio::thread_pool history_thread_{1};
    Roster roster_;
    HostWatch host_watch_{roster_};
    PostMortems post_mortems_;
    Chronicle chronicle_;
    Attacher attacher_;
    ClassicWire classic_wire_;
    Api api_;
    http::Server server_;
    asio::signal_set signals_;
};

}  // namespace

int run_daemon(const Options& options) {
    std::signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    AccessRules rules{{}, ttmem_group()};
    if (!options.token_file.empty()) {
        auto token = read_token(options.token_file);
        if (!token) {
            complain(token.error().text);
            return 1;
        }
        rules.token = std::move(*token);
    }
    const std::filesystem::path wanted = options.runtime_dir;
    auto directory = RuntimeDirectory::take(wanted.empty() ? RuntimeDirectory::standard() : wanted);
    if (!directory) {
        complain(directory.error().text);
        return 1;
    }
    return Daemon(options, std::move(*directory), std::move(rules)).run();
}

}  // namespace ttmem::daemon
