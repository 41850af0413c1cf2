// SPDX-License-Identifier: Apache-2.0
#include "tui/app.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/pidfd.hpp"
#include "tui/feed.hpp"
#include "tui/keys.hpp"
#include "tui/screens.hpp"
#include "tui/settings.hpp"
#include "tui/terminal.hpp"

namespace ttmem::tui {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kPatience = milliseconds(300);  // with threads that wait for an answer, at the end
constexpr int kKilled = 128;  // plus the number of the signal: the exit code that shells give it

uint64_t now_ns(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<uint64_t>(time.tv_sec) * kSecondNs + static_cast<uint64_t>(time.tv_nsec);
}

// Signals that end or resize, as something to wait for.
class Signals {
public:
    Signals() {
        sigemptyset(&set_);
        for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH}) {
            sigaddset(&set_, number);
        }
        pthread_sigmask(SIG_BLOCK, &set_, &before_);
        descriptor_ = base::Descriptor(signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    int descriptor() const { return descriptor_.get(); }

    std::optional<int> next() {
        signalfd_siginfo info{};
        return read(descriptor_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)
                   ? std::optional(static_cast<int>(info.ssi_signo))
                   : std::nullopt;
    }

private:
    sigset_t set_{};
    sigset_t before_{};
    base::Descriptor descriptor_;
};

class App {
public:
    App(Terminal& terminal, Feed& feed, Signals& signals, Ui ui)
        : terminal_(terminal), feed_(feed), signals_(signals), ui_(std::move(ui)) {}

    int run() {
        ask_if_new();
        redraw();
        next_tick_ = Clock::now();
        while (!exit_code_) {
            wait();
            take_signals();
            take_keys();
            take_news();
            if (Clock::now() >= next_tick_) {
                next_tick_ = std::max(next_tick_ + milliseconds(ui_.interval_ms), Clock::now());
                model_.tick(now_ns(CLOCK_REALTIME));
                needs_redraw_ = true;
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
            {{STDIN_FILENO, POLLIN, 0}, {feed_.descriptor(), POLLIN, 0}, {signals_.descriptor(), POLLIN, 0}}};
        const auto left = std::chrono::ceil<milliseconds>(next_tick_ - Clock::now());
        poll(ready.data(), ready.size(), static_cast<int>(std::clamp<int64_t>(left.count(), 0, 10'000)));
        if ((ready[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
            exit_code_ = 1;  // the terminal itself is gone
        }
    }

    void take_signals() {
        while (const auto number = signals_.next()) {
            if (*number == SIGWINCH) {
                terminal_.resize();
                needs_redraw_ = true;
            } else {
                exit_code_ = kKilled + *number;
            }
        }
    }

    void take_keys() {
        while (const auto key = terminal_.key()) {
            needs_redraw_ = true;
            fulfil(press(*key, model_, ui_, terminal_.size()));
        }
    }

    void take_news() {
        for (News& news : feed_.take()) {
            if (auto* status = std::get_if<StatusNews>(&news)) {
                const bool is_other = !model_.status() || model_.link() != status->link;
                model_.take_status(std::move(status->view), std::move(status->notices), status->link);
                if (is_other) {
                    next_tick_ = Clock::now();  // what was waited for is shown at once
                }
            } else if (auto* lost = std::get_if<LostNews>(&news)) {
                model_.lose(std::move(lost->why), lost->time_ns);
                needs_redraw_ = true;
            } else if (auto& answer = std::get<Answer>(news); answer.key == asked_) {
                needs_redraw_ = needs_redraw_ || answer.key != model_.answer_key();
                model_.take(std::move(answer));
            }
        }
    }

    void ask_if_new() {
        Question question = question_of(model_, ui_, body_of(terminal_.size()).rows);
        if (std::string key = question.key(); key != asked_) {
            asked_ = std::move(key);
            feed_.ask(std::move(question));
        }
    }

    void redraw() {
        needs_redraw_ = false;
        terminal_.show(draw(model_, ui_, terminal_.size(), terminal_.glyphs()));
    }

    void fulfil(Wish wish) {
        switch (wish) {
            case Wish::none:
                break;
            case Wish::quit:
                exit_code_ = 0;
                break;
            case Wish::save_settings:
                save();
                break;
            case Wish::send_signal:
                send_signal();
                break;
            case Wish::new_interval:
                feed_.set_interval(milliseconds(ui_.interval_ms));
                next_tick_ = Clock::now();
                break;
            case Wish::set_mark:
                ui_.mark_ns = now_ns(CLOCK_MONOTONIC);
                ui_.mark_time_ns = now_ns(CLOCK_REALTIME);
                ui_.scroll = 0;
                ui_.message = "Marked: from now on only what is new. M forgets the mark.";
                break;
        }
    }

    void save() {
        const auto path = settings_path();
        const auto saved =
            path ? save_settings(ui_, *path) : base::Expected<void>(tl::unexpected(path.error()));
        ui_.message = saved ? "Saved in " + *path + "." : saved.error().text;
    }

    // Through a descriptor, and only if the last view still has that process: a number may have gone to another one.
    void send_signal() {
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
    Feed& feed_;
    Signals& signals_;
    Ui ui_;
    Model model_;
    std::string asked_;
    bool needs_redraw_ = false;
    Clock::time_point next_tick_;
    std::optional<int> exit_code_;
};

}  // namespace

base::Expected<int> run(const Options& options) {
    Ui ui;
    if (const auto path = settings_path()) {
        load_settings(ui, *path);
    }
    ui.interval_ms = options.interval_ms.value_or(ui.interval_ms);
    ui.screen = options.screen.value_or(ui.screen);
    ui.device = options.device;
    Signals signals;
    auto terminal = Terminal::open();
    if (!terminal) {
        return tl::unexpected(terminal.error());
    }
    Feed feed(options.way, milliseconds(ui.interval_ms));
    const int code = App(*terminal, feed, signals, std::move(ui)).run();
    terminal->close();
    if (!feed.stop(kPatience)) {
        _exit(code);  // a thread still waits for a daemon that hangs: nobody else should
    }
    return code;
}

}  // namespace ttmem::tui
