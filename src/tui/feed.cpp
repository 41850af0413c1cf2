// SPDX-License-Identifier: Apache-2.0
#include "tui/feed.hpp"

#include <signal.h>
#include <sys/eventfd.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "access/follow.hpp"
#include "tui/ask.hpp"

namespace ttmem::tui {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

namespace {

constexpr auto kReconnect = 500ms;
constexpr int kShareOfAProcessor = 10;  // a tenth of one at most is spent on looking

void raise_flag(const base::Descriptor& flag) { eventfd_write(flag.get(), 1); }
void lower_flag(const base::Descriptor& flag) {
    eventfd_t count = 0;
    eventfd_read(flag.get(), &count);
}

// Signals are for the thread that owns the terminal.
template <class Run>
void start_thread(Run run) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread(std::move(run)).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

struct Feed::Shared {
    explicit Shared(access::Way how, milliseconds pace)
        : way(how),
          news_flag(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          stop_flag(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          interval(pace) {}

    const access::Way way;
    const base::Descriptor news_flag;
    const base::Descriptor stop_flag;  // ends a stream: because of the end, or for another interval

    std::mutex mutex;
    std::condition_variable changed;
    milliseconds interval;
    bool stopping = false;
    int threads = 0;
    std::vector<News> news;
    Question question;
    uint64_t questions = 0;  // how many were asked
    Link link = Link::none;

    void tell(News one) {
        {
            const std::lock_guard lock(mutex);
            if (const auto* status = std::get_if<StatusNews>(&one)) {
                link = status->link;
                std::erase_if(news, [](const News& old) { return std::holds_alternative<StatusNews>(old); });
            } else if (std::holds_alternative<LostNews>(one)) {
                link = Link::lost;
            }
            news.push_back(std::move(one));
        }
        raise_flag(news_flag);
    }

    milliseconds pace() {
        const std::lock_guard lock(mutex);
        return interval;
    }
    bool is_stopping() {
        const std::lock_guard lock(mutex);
        return stopping;
    }
    void rest(Clock::duration time) {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, time, [&] { return stopping; });
    }
    void end_thread() {
        const std::lock_guard lock(mutex);
        --threads;
        changed.notify_all();
    }

    void look_directly();
    void watch();
    void answer();
};

// Where no daemon runs.
void Feed::Shared::look_directly() {
    const auto start = Clock::now();
    if (auto answer = access::status(access::Way::direct)) {
        tell(StatusNews{std::move(answer->view), std::move(answer->notices), Link::direct});
    } else {
        tell(LostNews{answer.error().text, view::read_here().time_ns});
    }
    rest(std::max<Clock::duration>(pace(), (Clock::now() - start) * kShareOfAProcessor));
}

// A daemon that was there once is waited for; where there was none this program looks by itself until one comes.
void Feed::Shared::watch() {
    bool was_connected = false;
    while (!is_stopping()) {
        if (way == access::Way::direct) {
            look_directly();
            continue;
        }
        const auto take = [&](const view::View& view) {
            was_connected = true;
            tell(StatusNews{view, {}, Link::daemon});
            return true;
        };
        lower_flag(stop_flag);
        if (is_stopping()) {
            break;
        }
        const auto ended = access::follow(pace(), take, stop_flag.get());
        if (ended) {
            continue;  // another interval, or the end
        }
        if (was_connected) {
            tell(LostNews{ended.error().text, view::read_here().time_ns});
            rest(kReconnect);
        } else {
            look_directly();
        }
    }
}

void Feed::Shared::answer() {
    EventReader events;
    uint64_t answered = 0;
    Clock::time_point next{};
    std::unique_lock lock(mutex);
    while (!stopping) {
        const bool is_new = questions != answered;
        const bool is_quiet =
            question.about == Question::About::nothing || link == Link::none || link == Link::lost;
        if (is_quiet || (!is_new && Clock::now() < next)) {
            if (is_quiet) {
                changed.wait_for(lock, 100ms);
            } else {
                changed.wait_until(lock, next);
            }
            continue;
        }
        const Question asked = question;
        const access::Way how = link == Link::direct ? access::Way::direct : access::Way::daemon_if_there;
        answered = questions;
        lock.unlock();
        const auto start = Clock::now();
        tell(tui::ask(asked, how, events));
        const auto cost = Clock::now() - start;
        lock.lock();
        next = start + std::max<Clock::duration>(interval, cost * kShareOfAProcessor);
    }
}

Feed::Feed(access::Way way, milliseconds interval) : shared_(std::make_shared<Shared>(way, interval)) {
    shared_->threads = 2;
    start_thread([shared = shared_] {
        shared->watch();
        shared->end_thread();
    });
    start_thread([shared = shared_] {
        shared->answer();
        shared->end_thread();
    });
}

Feed::~Feed() { stop(0ms); }

int Feed::descriptor() const { return shared_->news_flag.get(); }

std::vector<News> Feed::take() {
    lower_flag(shared_->news_flag);
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->news, {});
}

void Feed::ask(Question question) {
    const std::lock_guard lock(shared_->mutex);
    shared_->question = std::move(question);
    ++shared_->questions;
    shared_->changed.notify_all();
}

void Feed::set_interval(milliseconds interval) {
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->interval = interval;
        shared_->changed.notify_all();
    }
    raise_flag(shared_->stop_flag);
}

bool Feed::stop(milliseconds patience) {
    std::unique_lock lock(shared_->mutex);
    shared_->stopping = true;
    raise_flag(shared_->stop_flag);  // not before: who lowers it looks then whether this is the end
    shared_->changed.notify_all();
    return shared_->changed.wait_for(lock, patience, [&] { return shared_->threads == 0; });
}

}  // namespace ttmem::tui
