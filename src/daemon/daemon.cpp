// SPDX-License-Identifier: Apache-2.0
#include "daemon/daemon.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>

#include "base/environment.hpp"
#include "base/thread_slice.hpp"
#include "base/time.hpp"
#include "census/device_ids.hpp"
#include "census/device_numbers_file.hpp"
#include "daemon/api/api.hpp"
#include "daemon/budgets.hpp"
#include "daemon/classic/wire.hpp"
#include "daemon/database/history_keeper.hpp"
#include "daemon/fair_workers.hpp"
#include "daemon/http/server.hpp"
#include "daemon/notify.hpp"
#include "daemon/record/flight_recorder.hpp"
#include "daemon/record/recording_streams.hpp"
#include "daemon/runtime_directory.hpp"
#include "daemon/watch/attacher.hpp"
#include "daemon/watch/card_keeper.hpp"
#include "daemon/watch/card_store.hpp"
#include "daemon/watch/history_thread.hpp"
#include "daemon/watch/host_poller.hpp"
#include "view/questions/self.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
using base::Error;

namespace {

constexpr size_t kWorkers = 4;  // one user has at most two of them

void report_error(const std::string& text) { std::cerr << "ttmemd: " + text + "\n"; }

// Each tracked process needs two descriptors, each connection one.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

// Resident pages that are not shared. Shared pages are segments of other processes, and files.
uint64_t private_bytes() {
    std::ifstream file("/proc/self/statm");
    uint64_t size = 0;
    uint64_t resident = 0;
    uint64_t shared = 0;
    file >> size >> resident >> shared;
    return (resident - std::min(resident, shared)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Such a daemon may be one of several.
bool is_runtime_chosen(const DaemonOptions& options) {
    return !options.runtime_dir.empty() || base::environment("TTMEM_RUNTIME_DIR") != nullptr;
}

class Daemon {
public:
    Daemon(const DaemonOptions& options, RuntimeDirectory directory, AccessRules rules)
        : options_(options),
          directory_(std::move(directory)),
          log_writer_(STDOUT_FILENO),
          event_log_(log_writer_, options.quiet ? EventLogLevel::off : options.log_events),
          post_mortems_(options.post_mortems),
          cards_(state_directory(directory_.path(), is_runtime_chosen(options)), {},
                 [this](const std::string& note) { event_log_.write_note(note); }),
          kept_({state_directory(directory_.path(), is_runtime_chosen(options)), options.history,
                 TTMEM_VERSION},
                process_table_, post_mortems_,
                [this](const std::string& note) { event_log_.write_note(note); }),
          history_thread_(history_executor_.get_executor(), history_, process_table_, event_log_, kept_),
          attacher_(loop_, scanner_.get_executor(), process_table_, budgets_, callbacks()),
          classic_wire_({loop_, workers_, *budgets_, process_table_, log_writer_, refusals_,
                         [this](sources::segments::AttachedSegment attached) {
                             return attacher_.admit(std::move(attached),
                                                    history::Follower::StartPosition::beginning);
                         },
                         [this](std::vector<census::Omission> skipped) {
                             process_table_.set_classic_omissions(std::move(skipped));
                         },
                         !options.quiet}),
          api_({loop_,
                post_task(),
                {process_table_, history_, post_mortems_, cards_, kept_,
                 [this](view::SelfView& self) { describe(self); }},
                recordings_,
                std::move(rules),
                TTMEM_VERSION,
                started_ns_}),
          server_(
              loop_, post_task(),
              [this](http::Request request, const std::shared_ptr<http::Responder>& answer) {
                  api_.handle(std::move(request), answer);
              },
              limits(options), budgets_),
          signals_(loop_, SIGTERM, SIGINT, SIGHUP) {
        restore_device_numbers();
    }

    int run() {
        if (const auto listening = listen(); !listening) {
            report_error(listening.error().text);
            finish();
            return 1;
        }
        signals_.async_wait([this](boost::system::error_code error, int) {
            if (!error) {
                loop_.stop();
            }
        });
        host_poller_.start();
        card_keeper_.start();
        flight_recorder_.start();
        kept_.start();
        history_thread_.start();
        attacher_.start();
        log_line("ttmemd " TTMEM_VERSION " is ready in " + directory_.path().string() + where_);
        notifier_.ready();
        run_loop();
        finish();
        return 0;
    }

private:
    // An exception, such as because memory ran out, ends the step of the loop in which it happened and nothing else.
    void run_loop() {
        base::use_short_slice();  // a question should not wait until every busy process has had its turn
        while (!loop_.stopped()) {
            try {
                loop_.run();
            } catch (...) {
                const std::lock_guard lock(failed_steps_mutex_);
                ++failed_steps_;
            }
        }
    }

    // Devices keep the numbers that an earlier daemon of this directory gave them.
    void restore_device_numbers() {
        census::DeviceIds& ids = *process_table_.device_ids();
        const auto numbers = census::read_device_numbers(directory_.path());
        if (numbers) {
            ids.restore(*numbers, false);
        } else if (numbers.error().code != Error::Code::gone) {
            report_error("devices get new numbers: " + numbers.error().text);
        }
        ids.set_save([this, is_reported = false](const std::vector<census::DeviceNumber>& now) mutable {
            if (!census::write_device_numbers(directory_.path(), now) && !is_reported) {
                is_reported = true;
                event_log_.write_note("! can't write " +
                                      (directory_.path() / census::kDeviceNumbersFile).string() +
                                      ": the next daemon may number the devices differently");
            }
        });
    }

    PostTask post_task() {
        return [this](User user, FairWorkers::Task task) { workers_.post(user, std::move(task)); };
    }

    static http::ServerLimits limits(const DaemonOptions& options) {
        http::ServerLimits limits;
        limits.check_host = options.listen && options.listen->is_loopback();
        return limits;
    }

    Attacher::Callbacks callbacks() {
        return {
            [this](const AttachedProcess& member, history::Follower::StartPosition from) {
                history_thread_.process_attached(member, from);
            },
            [this](const AttachedProcess& member, census::Ending ending,
                   std::shared_ptr<const base::Descriptor> handle) {
                classic_wire_.ended(member.number);
                census::Process process = member.process;
                process.state = census::ProcessState::dead;
                card_keeper_.process_ended(process);
                post_mortems_.add({std::move(process), view::read_here().time_ns, ending, std::move(handle)});
                kept_.wake();
                history_thread_.process_ended(member.number);
            },
            [this](User user, uint32_t pid, const std::string& why) {
                refusals_.write(user, "! [PID " + std::to_string(pid) + "] " + why);
            },
            [this] { post_mortems_.measure(); }};
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
            set_page_address(base::error(Error::Code::gone, "its option 'listen' is \"none\""));
            return {};
        }
        const auto port = server_.listen_tcp(options_.listen->host, options_.listen->port);
        if (port) {
            const std::string address = ListenAddress{options_.listen->host, *port}.text();
            where_ = " and on http://" + address;
            set_page_address(address);
        } else if (port.error().code == Error::Code::refused && !options_.is_listen_explicit) {
            report_error("not listening on TCP: " + port.error().text);
            set_page_address(tl::unexpected(port.error()));
        } else {
            return tl::unexpected(port.error());
        }
        return {};
    }

    void set_page_address(base::Expected<std::string> tcp) {
        api_.set_page_address({directory_.api_socket().string(), std::move(tcp)});
    }

    // The daemon works without the classic wire if another server has its socket, or if the default path cannot be used.
    base::Expected<void> listen_classic() {
        const std::string path = classic_wire_path(options_);
        auto listening = path.empty() ? base::Expected<void>() : classic_wire_.listen(path);
        if (listening) {
            return {};
        }
        if (listening.error().code != Error::Code::refused && !options_.classic_wire.empty()) {
            return tl::unexpected(std::move(listening.error()));
        }
        report_error("not serving the classic wire: " + listening.error().text);
        return {};
    }

    // Stops the sources of work, then joins the threads. Members are destroyed in reverse order of declaration.
    void finish() {
        notifier_.stopping();
        classic_wire_.stop();
        attacher_.stop();
        card_keeper_.stop();
        recordings_.stop();
        flight_recorder_.stop();
        host_poller_.stop();
        api_.stop();
        server_.stop();
        workers_.stop();
        scanner_.join();
        history_thread_.stop();
        history_executor_.join();
        kept_.stop();
        log_line("ttmemd has ended");
    }

    void log_line(const std::string& text) {
        if (!options_.quiet) {
            log_writer_.line(text);
        }
    }

    // On a worker.
    void describe(view::SelfView& self) const {
        self.version = TTMEM_VERSION;
        self.pid = static_cast<uint32_t>(getpid());
        self.uptime_ns = segment::monotonic_now() - started_ns_;
        self.cpu_ns = base::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        self.memory_bytes = private_bytes();
        for (const AttachedProcess& member : process_table_.members()) {
            self.segment_bytes += member.process.ledger->resident_bytes();
        }
        const http::Server::Statistics served = server_.statistics();
        self.connections = served.connections;
        self.log_lines_lost = event_log_.lost();
        self.failed_tasks = workers_.failed_tasks() + served.failures + failed_steps();
        self.processes_missed = process_table_.missed();
        self.flight_recorder = flight_recorder_.state();
        daemon::describe(*budgets_, self);
    }

    uint64_t failed_steps() const {
        const std::lock_guard lock(failed_steps_mutex_);
        return failed_steps_;
    }

    const DaemonOptions& options_;
    RuntimeDirectory directory_;
    const uint64_t started_ns_ = segment::monotonic_now();
    std::string where_;
    const std::shared_ptr<Budgets> budgets_ = std::make_shared<Budgets>();  // everything gives back to it
    LogWriter log_writer_;
    EventLog event_log_;
    RefusalLog refusals_{*budgets_, [this](const std::string& line) { event_log_.write_note(line); }};
    asio::io_context loop_{1};
    ServiceNotifier notifier_{loop_};
    mutable std::mutex failed_steps_mutex_;
    uint64_t failed_steps_ = 0;  // of the loop
    FairWorkers workers_{kWorkers};
    asio::thread_pool scanner_{1};  // scans of /proc may take long
    asio::thread_pool history_executor_{1};
    ProcessTable process_table_{budgets_};
    HostPoller host_poller_{process_table_};
    PostMortems post_mortems_;
    CardStore cards_;
    CardKeeper card_keeper_{process_table_, cards_};
    FlightRecorder flight_recorder_{options_.flight, process_table_,
                                    [this](const std::string& note) { event_log_.write_note(note); }};
    RecordingStreams recordings_{process_table_, budgets_};
    history::EventHistory history_{process_table_.device_ids()};
    HistoryKeeper kept_;
    HistoryThread history_thread_;
    Attacher attacher_;
    ClassicWire classic_wire_;
    Api api_;
    http::Server server_;
    asio::signal_set signals_;
};

}  // namespace

int run_daemon(const DaemonOptions& options) {
    std::signal(SIGPIPE, SIG_IGN);
    // Each further arena would keep memory of answers that others can't use.
    mallopt(M_ARENA_MAX, 2);
    raise_descriptor_limit();
    AccessRules rules{{}, ttmem_group()};
    if (!options.token_file.empty()) {
        auto token = read_token(options.token_file);
        if (!token) {
            report_error(token.error().text);
            return 1;
        }
        rules.token = std::move(*token);
    }
    const std::filesystem::path wanted = options.runtime_dir;
    auto directory = RuntimeDirectory::acquire(wanted.empty() ? RuntimeDirectory::standard() : wanted);
    if (!directory) {
        report_error(directory.error().text);
        return 1;
    }
    return Daemon(options, std::move(*directory), std::move(rules)).run();
}

}  // namespace ttmem::daemon
