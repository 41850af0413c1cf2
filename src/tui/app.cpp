// SPDX-License-Identifier: Apache-2.0
#include "tui/app.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/pidfd.hpp"
#include "base/signals.hpp"
#include "base/time.hpp"
#include "tui/keys.hpp"
#include "tui/poller.hpp"
#include "tui/screens.hpp"
#include "tui/settings.hpp"
#include "tui/terminal.hpp"

namespace ttmem::tui {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// How long to wait at the end for threads that wait for an answer.
constexpr auto kStopTimeout = milliseconds(300);
// Plus the number of the signal: the exit code as shells report it.
constexpr int kSignalExitCode = 128;

class App {
public:
    App(Terminal& terminal, Poller& poller, base::SignalDescriptor& signals, Ui ui)
        : terminal_(terminal), poller_(poller), signals_(signals), ui_(std::move(ui)) {}

    int run() {
        ask_if_new();
        redraw();
        next_tick_ = steady_clock::now();
        while (!exit_code_) {
            wait();
            handle_signals();
            handle_keys();
            take_updates();
            if (steady_clock::now() >= next_tick_) {
                next_tick_ = std::max(next_tick_ + milliseconds(ui_.interval_ms), steady_clock::now());
                if (!model_.is_recording()) {
                    model_.tick(base::realtime_ns());
                    needs_redraw_ = true;
                }
            }
            ask_if_new();
            if (needs_redraw_ && !exit_code_) {
                redraw();
            }
        }
        return *exit_code_;
    }

private:
    void wait() {
        std::array<pollfd, 3> ready = {
            {{STDIN_FILENO, POLLIN, 0}, {poller_.descriptor(), POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
        const auto left = std::chrono::ceil<milliseconds>(next_tick_ - steady_clock::now());
        poll(ready.data(), ready.size(), static_cast<int>(std::clamp<int64_t>(left.count(), 0, 10'000)));
        if ((ready[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
            exit_code_ = 1;  // the terminal is gone
        }
    }

    void handle_signals() {
        while (const auto info = signals_.next()) {
            if (info->ssi_signo == SIGWINCH) {
                terminal_.resize();
                needs_redraw_ = true;
            } else {
                exit_code_ = kSignalExitCode + static_cast<int>(info->ssi_signo);
            }
        }
    }

    void handle_keys() {
        while (const auto key = terminal_.key()) {
            needs_redraw_ = true;
            perform(press(*key, model_, ui_, terminal_.size()));
        }
    }

    void take_updates() {
        for (PollerUpdate& update : poller_.take()) {
            if (auto* status = std::get_if<StatusUpdate>(&update)) {
                const bool is_other = !model_.status() || model_.link() != status->link;
                needs_redraw_ = needs_redraw_ || status->link == Link::recording;
                model_.take_status(std::move(status->view), std::move(status->notices), status->link);
                if (is_other) {
                    next_tick_ = steady_clock::now();  // show the first figures at once
                }
            } else if (auto* lost = std::get_if<LossUpdate>(&update)) {
                model_.set_disconnected(std::move(lost->why), lost->time_ns);
                needs_redraw_ = true;
            } else if (auto* part = std::get_if<TimelineUpdate>(&update)) {
                model_.take(std::move(part->timeline));
                needs_redraw_ = true;
            } else if (auto& answer = std::get<ScreenAnswer>(update); answer.query == asked_) {
                needs_redraw_ =
                    needs_redraw_ || model_.is_recording() || answer.query != model_.answered_query();
                model_.take(std::move(answer));
            }
        }
    }

    void ask_if_new() {
        ScreenQuery query = query_of(model_, ui_, body_of(terminal_.size(), model_).rows);
        if (query != asked_) {
            asked_ = query;
            poller_.ask(std::move(query));
        }
    }

    void redraw() {
        needs_redraw_ = false;
        terminal_.show(draw(model_, ui_, terminal_.size(), terminal_.glyphs()));
    }

    void perform(AppRequest request) {
        switch (request) {
            case AppRequest::none:
                break;
            case AppRequest::quit:
                exit_code_ = 0;
                break;
            case AppRequest::save_settings:
                save();
                break;
            case AppRequest::send_signal:
                send_signal();
                break;
            case AppRequest::change_interval:
                poller_.set_interval(milliseconds(ui_.interval_ms));
                next_tick_ = steady_clock::now();
                break;
            case AppRequest::play:
                poller_.play({ui_.is_playing, kSpeeds[ui_.speed].factor, std::exchange(ui_.jump, {})});
                break;
            case AppRequest::set_mark:
                ui_.mark_ns = model_.is_recording() ? model_.position_ns() : base::monotonic_ns();
                ui_.mark_time_ns = model_.is_recording() ? model_.now_ns() : base::realtime_ns();
                ui_.cursor = {};
                ui_.message = "Mark set: only newer allocations are shown. M clears the mark.";
                break;
        }
    }

    void save() {
        const auto path = settings_path();
        const auto saved =
            path ? save_settings(ui_, *path) : base::Expected<void>(tl::unexpected(path.error()));
        ui_.message = saved ? "Saved in " + *path + "." : saved.error().text;
    }

    // The signal goes through a pidfd, and only if the last view still has the process: the pid may have been reused.
    void send_signal() {
        assert(ui_.signal && model_.status());
        const SignalChoice choice = *ui_.signal;
        ui_.signal.reset();
        const base::Descriptor process = base::open_process(static_cast<pid_t>(choice.pid));
        const auto& all = model_.status()->figures.processes;
        const bool is_there = std::any_of(all.begin(), all.end(), [&](const census::ProcessFigures& one) {
            return one.pid == choice.pid && one.start_time_ns == choice.start_time_ns;
        });
        if (!process || !is_there) {
            ui_.message = fmt::format("Process {} is gone.", choice.pid);
            return;
        }
        const NamedSignal& chosen = kSignals[choice.signal];
        const bool is_sent = syscall(SYS_pidfd_send_signal, process.get(), chosen.number, nullptr, 0) == 0;
        ui_.message = is_sent ? fmt::format("Sent {} to process {}.", chosen.name, choice.pid)
                              : fmt::format("Can't signal process {}: {}.", choice.pid, strerror(errno));
    }

    Terminal& terminal_;
    Poller& poller_;
    base::SignalDescriptor& signals_;
    Ui ui_;
    Model model_;
    ScreenQuery asked_;
    bool needs_redraw_ = false;
    steady_clock::time_point next_tick_;
    std::optional<int> exit_code_;
};

}  // namespace

base::Expected<int> run(const DashboardOptions& options, std::unique_ptr<access::RecordingPlayer> player) {
    Ui ui;
    if (const auto path = settings_path()) {
        load_settings(ui, *path);
    }
    ui.interval_ms = options.interval_ms.value_or(ui.interval_ms);
    ui.screen = options.screen.value_or(ui.screen);
    ui.device = options.device;
    ui.page = options.page;
    ui.message = options.page.empty() ? "" : "page: " + options.page;
    base::SignalDescriptor signals{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH};
    auto terminal = Terminal::open();
    if (!terminal) {
        return tl::unexpected(terminal.error());
    }
    const milliseconds interval(ui.interval_ms);
    ui.is_playing = player != nullptr && options.plays;
    const auto poller = player != nullptr ? std::make_unique<Poller>(std::move(player), interval)
                                          : std::make_unique<Poller>(options.mode, interval);
    poller->play({ui.is_playing, kSpeeds[ui.speed].factor});
    const int code = App(*terminal, *poller, signals, std::move(ui)).run();
    terminal->close();
    if (!poller->stop(kStopTimeout)) {
        _exit(code);  // a thread still waits for a daemon that hangs
    }
    return code;
}

}  // namespace ttmem::tui
