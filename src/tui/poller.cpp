// SPDX-License-Identifier: Apache-2.0
#include "tui/poller.hpp"

#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "access/follow.hpp"

namespace ttmem::tui {

using access::ReadMode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

constexpr auto kReconnect = 500ms;
// At most a sixtieth of one processor is spent on polling, here and in the daemon.
constexpr int kShareOfProcessor = 60;

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

// Answers a query that is a question as it is.
template <class Query>
ScreenAnswer answer_query(const Query& query, ReadMode mode) {
    auto reply = access::ask<view::Questions::ByQuery<Query>>(query, mode);
    if (!reply) {
        return {query, {}, std::move(reply.error().text)};
    }
    return {query, std::move(reply->view), {}};
}

ScreenAnswer answer_query(const std::monostate& /*query*/, ReadMode /*mode*/) { return {}; }

ScreenAnswer answer_query(const PoolMapQuery& query, ReadMode mode) {
    view::MapQuery wanted = query.map;
    wanted.limit = 1;
    auto pools = access::ask<view::Map>(wanted, mode);
    if (!pools) {
        return {query, {}, std::move(pools.error().text)};
    }
    std::vector<census::AddressMap>& maps = pools->view.maps;
    if (maps.empty()) {
        return {query, std::move(pools->view), {}};
    }
    census::AddressMap& chosen = maps[chosen_pool(maps, query.pool, query.target)];
    wanted.pid = chosen.pid;
    wanted.kind = chosen.kind;
    wanted.limit = query.map.limit;
    auto whole = access::ask<view::Map>(wanted, mode);
    if (!whole) {
        return {query, {}, std::move(whole.error().text)};
    }
    for (census::AddressMap& map : whole->view.maps) {
        if (map.set == chosen.set && map.devices == chosen.devices) {
            chosen = std::move(map);
            break;
        }
    }
    return {query, std::move(pools->view), {}};
}

ScreenAnswer answer_query(const DevicePastQuery& query, ReadMode mode) {
    const uint64_t now = view::read_here().time_ns;
    ScreenAnswer answer{query, {}, {}};
    DevicePastView past;
    if (auto history = access::ask<view::History>(
            {.device = query.device, .kind = census::Kind::dram, .since = now - std::min(now, kHourNs)},
            mode)) {
        past.history = std::move(history->view);
    } else {
        answer.problem = std::move(history.error().text);
    }
    if (auto why = access::ask<view::Failures>({}, mode)) {
        past.why = std::move(why->view);
    }
    if (auto list = access::ask<view::PostMortemList>({}, mode)) {
        past.post_mortems = std::move(list->view);
    }
    answer.view = std::move(past);
    return answer;
}

// Appends events to an answer that nobody has taken yet. False where there is none.
bool append_events(std::vector<PollerUpdate>& updates, ScreenAnswer& answer) {
    auto* events = std::get_if<view::EventsView>(&answer.view);
    auto* last = updates.empty() ? nullptr : std::get_if<ScreenAnswer>(&updates.back());
    auto* waiting = last == nullptr ? nullptr : std::get_if<view::EventsView>(&last->view);
    if (events == nullptr || waiting == nullptr || last->query != answer.query) {
        return false;
    }
    waiting->missed += events->missed;
    waiting->hidden_events += events->hidden_events;
    waiting->events.insert(waiting->events.end(), std::make_move_iterator(events->events.begin()),
                           std::make_move_iterator(events->events.end()));
    return true;
}

}  // namespace

struct Poller::Shared {
    Shared(ReadMode read_mode, milliseconds pace, std::unique_ptr<access::RecordingPlayer> played = nullptr)
        : mode(read_mode),
          player(std::move(played)),
          update_flag(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          status_flag(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          query_flag(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          interval(pace) {}

    const ReadMode mode;
    const std::unique_ptr<access::RecordingPlayer> player;  // null: the living host
    const base::Descriptor update_flag;
    // Each ends a stream: at the end, for another interval, or for another query.
    const base::Descriptor status_flag;
    const base::Descriptor query_flag;

    std::mutex mutex;
    std::condition_variable changed;
    milliseconds interval;
    bool stopping = false;
    int threads = 0;
    std::vector<PollerUpdate> updates;
    ScreenQuery query;
    uint64_t queries = 0;  // how many were asked
    Link link = Link::none;
    Playback playback;
    std::vector<PlaybackJump> jumps;  // that nobody has made yet

    // Of the thread that answers.
    std::optional<uint64_t> next_event;

    void publish(PollerUpdate update) {
        {
            const std::lock_guard lock(mutex);
            if (const auto* status = std::get_if<StatusUpdate>(&update)) {
                link = status->link;
                std::erase_if(updates, [](const PollerUpdate& old) {
                    return std::holds_alternative<StatusUpdate>(old);
                });
            } else if (std::holds_alternative<LossUpdate>(update)) {
                link = Link::lost;
            } else if (std::holds_alternative<TimelineUpdate>(update)) {
                std::erase_if(updates, [](const PollerUpdate& old) {
                    return std::holds_alternative<TimelineUpdate>(old);
                });
            } else if (player == nullptr && append_events(updates, std::get<ScreenAnswer>(update))) {
                return;  // the flag is up
            }
            updates.push_back(std::move(update));
        }
        raise_flag(update_flag);
    }

    milliseconds pace() {
        const std::lock_guard lock(mutex);
        return interval;
    }
    bool is_stopping() {
        const std::lock_guard lock(mutex);
        return stopping;
    }
    void rest(steady_clock::duration time) {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, time, [&] { return stopping; });
    }
    void end_thread() {
        const std::lock_guard lock(mutex);
        assert(threads > 0);
        --threads;
        changed.notify_all();
    }

    void read_directly();
    void follow_status();
    void answer_queries();
    void follow_events(const view::EventQuery& asked);
    uint64_t jump(const PlaybackJump& jump, uint64_t from_ns) const;
    void show_moment(uint64_t time_ns);
    void play();
    void read_timeline();
};

// Where no daemon runs.
void Poller::Shared::read_directly() {
    const auto start = steady_clock::now();
    if (auto reply = access::ask<view::Status>({}, ReadMode::direct)) {
        publish(StatusUpdate{std::move(reply->view), std::move(reply->notices), Link::direct});
    } else {
        publish(LossUpdate{reply.error().text, view::read_here().time_ns});
    }
    rest(std::max<steady_clock::duration>(pace(), (steady_clock::now() - start) * kShareOfProcessor));
}

// Where no daemon runs, this program reads directly until one comes. A daemon that does not answer is asked again after the
// time that it was waited for.
void Poller::Shared::follow_status() {
    bool was_connected = false;
    while (!is_stopping()) {
        if (mode == ReadMode::direct) {
            read_directly();
            continue;
        }
        const auto take = [&](const view::View& view) {
            was_connected = true;
            publish(StatusUpdate{view, {}, Link::daemon});
            return true;
        };
        lower_flag(status_flag);
        if (is_stopping()) {
            break;
        }
        const auto start = steady_clock::now();
        const auto ended = access::follow_view(pace(), take, status_flag.get());
        if (ended) {
            continue;  // another interval, or the end
        }
        auto waited = steady_clock::now() - start;
        if (std::exchange(was_connected, false)) {
            publish(LossUpdate{ended.error().text, view::read_here().time_ns});
            waited = {};  // most of it the daemon was there
        }
        const auto next_try = steady_clock::now() + waited;
        do {
            read_directly();
        } while (!is_stopping() && steady_clock::now() < next_try);
    }
}

// Until another query comes. The daemon sends no more than people can read, and counts the rest.
void Poller::Shared::follow_events(const view::EventQuery& asked) {
    view::EventQuery wanted = asked;
    wanted.since = next_event;
    wanted.interval_ms = static_cast<uint64_t>(pace().count());
    publish(ScreenAnswer{asked, view::EventsView{}, {}});
    const auto take = [&](view::EventsView recent) {
        if (!recent.events.empty()) {
            next_event = recent.events.back().sequence + 1;
        }
        publish(ScreenAnswer{asked, std::move(recent), {}});
        return true;
    };
    const auto ended = access::follow_events(wanted, take, query_flag.get());
    if (!ended) {
        next_event.reset();  // the next daemon counts anew
        const bool is_absent = ended.error().code == base::Error::Code::gone;
        publish(ScreenAnswer{asked, {}, is_absent ? view::needs_daemon().value().text : ended.error().text});
    }
}

void Poller::Shared::answer_queries() {
    uint64_t answered = 0;
    steady_clock::time_point next{};
    std::unique_lock lock(mutex);
    while (!stopping) {
        const bool is_new = queries != answered;
        const bool is_quiet =
            std::holds_alternative<std::monostate>(query) || link == Link::none || link == Link::lost;
        if (is_quiet || (!is_new && steady_clock::now() < next)) {
            if (is_quiet) {
                changed.wait_for(lock, 100ms);
            } else {
                changed.wait_until(lock, next);
            }
            continue;
        }
        const ScreenQuery asked = query;
        const ReadMode how = link == Link::direct ? ReadMode::direct : ReadMode::daemon_first;
        answered = queries;
        lower_flag(query_flag);
        lock.unlock();
        const auto start = steady_clock::now();
        if (const auto* events = std::get_if<view::EventQuery>(&asked)) {
            follow_events(*events);
        } else {
            publish(std::visit([&](const auto& one) { return answer_query(one, how); }, asked));
        }
        const auto end = steady_clock::now();
        lock.lock();
        next = start + std::max<steady_clock::duration>(interval, (end - start) * kShareOfProcessor);
        if (std::holds_alternative<view::EventQuery>(asked)) {
            next = end + kReconnect;
        }
    }
}

uint64_t Poller::Shared::jump(const PlaybackJump& wanted, uint64_t from_ns) const {
    switch (wanted.target) {
        case PlaybackJump::JumpTarget::event_after:
            return player->step_after(from_ns);
        case PlaybackJump::JumpTarget::event_before:
            return player->step_before(from_ns);
        case PlaybackJump::JumpTarget::moment:
            break;
    }
    return std::clamp(wanted.time_ns, player->first_ns(), player->last_ns());
}

void Poller::Shared::show_moment(uint64_t time_ns) {
    auto shown = player->show(time_ns);
    auto reply = shown ? access::ask<view::Status>() : tl::unexpected(std::move(shown.error()));
    if (reply) {
        publish(StatusUpdate{std::move(reply->view), std::move(reply->notices), Link::recording});
    } else {
        publish(LossUpdate{reply.error().text, player->recording()->epoch_ns(time_ns)});
    }
}

// One moment after another, and for each the answer to what the visible screen asks.
void Poller::Shared::play() {
    uint64_t position_ns = player->now_ns();
    show_moment(position_ns);
    auto then = steady_clock::now();
    uint64_t answered = 0;
    std::unique_lock lock(mutex);
    while (!stopping) {
        const auto now = steady_clock::now();
        const Playback how = playback;
        const std::vector<PlaybackJump> wanted = std::exchange(jumps, {});
        const ScreenQuery asked = query;
        const bool is_new = queries != answered;
        answered = queries;
        lock.unlock();
        const uint64_t before_ns = position_ns;
        if (how.is_playing) {
            const double passed_ns = std::chrono::duration<double, std::nano>(now - then).count();
            const double left_ns = static_cast<double>(player->last_ns() - position_ns);
            position_ns += static_cast<uint64_t>(std::min(passed_ns * how.speed, left_ns));
        }
        then = now;
        for (const PlaybackJump& one : wanted) {
            position_ns = jump(one, position_ns);
        }
        if (position_ns != before_ns) {
            show_moment(position_ns);
        }
        if (position_ns != before_ns || is_new) {
            publish(std::visit([&](const auto& one) { return answer_query(one, mode); }, asked));
        }
        const bool goes_on = how.is_playing && position_ns < player->last_ns();
        const auto cost = steady_clock::now() - now;
        lock.lock();
        const auto next = now + std::max<steady_clock::duration>(interval, cost * 2);
        const auto is_woken = [&] {
            return stopping || !jumps.empty() || queries != answered || playback != how;
        };
        if (goes_on) {
            changed.wait_until(lock, next, is_woken);
        } else {
            changed.wait(lock, is_woken);
            then = steady_clock::now();
        }
    }
}

void Poller::Shared::read_timeline() {
    constexpr auto kLeastInterval = 100ms;
    auto next = steady_clock::now() + kLeastInterval;
    auto whole = access::read_timeline(player->recording(), kTimelineParts, [&](const auto& part) {
        if (steady_clock::now() >= next) {
            publish(TimelineUpdate{part});
            next = steady_clock::now() + kLeastInterval;
        }
        return !is_stopping();
    });
    if (whole) {
        publish(TimelineUpdate{std::move(*whole)});
    }
}

Poller::Poller(std::unique_ptr<access::RecordingPlayer> player, milliseconds interval)
    : shared_(std::make_shared<Shared>(ReadMode::direct, interval, std::move(player))) {
    // First of all: it says that the times are those of a recording.
    shared_->publish(TimelineUpdate{access::empty_timeline(*shared_->player->recording(), kTimelineParts)});
    shared_->threads = 2;
    start_thread([shared = shared_] {
        shared->play();
        shared->end_thread();
    });
    start_thread([shared = shared_] {
        shared->read_timeline();
        shared->end_thread();
    });
}

Poller::Poller(ReadMode mode, milliseconds interval) : shared_(std::make_shared<Shared>(mode, interval)) {
    shared_->threads = 2;
    start_thread([shared = shared_] {
        shared->follow_status();
        shared->end_thread();
    });
    start_thread([shared = shared_] {
        shared->answer_queries();
        shared->end_thread();
    });
}

Poller::~Poller() { stop(0ms); }

int Poller::descriptor() const { return shared_->update_flag.get(); }

std::vector<PollerUpdate> Poller::take() {
    lower_flag(shared_->update_flag);
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->updates, {});
}

void Poller::ask(ScreenQuery query) {
    const std::lock_guard lock(shared_->mutex);
    shared_->query = std::move(query);
    ++shared_->queries;
    raise_flag(shared_->query_flag);
    shared_->changed.notify_all();
}

void Poller::set_interval(milliseconds interval) {
    const std::lock_guard lock(shared_->mutex);
    shared_->interval = interval;
    ++shared_->queries;
    raise_flag(shared_->query_flag);
    raise_flag(shared_->status_flag);
    shared_->changed.notify_all();
}

void Poller::play(const Playback& playback) {
    const std::lock_guard lock(shared_->mutex);
    shared_->playback = playback;
    if (playback.jump) {
        shared_->jumps.push_back(*playback.jump);
    }
    shared_->changed.notify_all();
}

bool Poller::stop(milliseconds patience) {
    std::unique_lock lock(shared_->mutex);
    shared_->stopping = true;
    // Not before: a thread that lowers a flag then checks whether this is the end.
    raise_flag(shared_->status_flag);
    raise_flag(shared_->query_flag);
    shared_->changed.notify_all();
    return shared_->changed.wait_for(lock, patience, [&] { return shared_->threads == 0; });
}

}  // namespace ttmem::tui
