// SPDX-License-Identifier: Apache-2.0
#include "daemon/chronicle.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <future>

#include "census/arithmetic.hpp"

namespace ttmem::daemon {

using history::What;

namespace {

constexpr size_t kLogRecords = 65'536;
constexpr uint64_t kMostEventsALook = 262'144;  // of one process: the others wait
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kAuditShare = 50;  // an audit that took so long comes again after this many times as long

uint64_t epoch_now() {
    using std::chrono::system_clock;
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(system_clock::now().time_since_epoch()).count());
}

void add_to(FailureTotals& sum, const FailureTotals& part) {
    for (size_t type = 0; type < sum.size(); ++type) {
        sum[type] = census::saturating_add(sum[type], part[type]);
    }
}

std::string_view name_of(What what) {
    switch (what) {
        case What::allocation:
            return "allocation";
        case What::free:
            return "free";
        case What::set_opened:
            return "set_opened";
        case What::set_closed:
            return "set_closed";
        case What::failure:
            return "failure";
        case What::gap:
            return "gap";
        case What::process_started:
            return "process_started";
        case What::process_died:
            return "process_died";
    }
    return "";
}

}  // namespace

Chronicle::Chronicle(boost::asio::any_io_executor thread, const Roster& roster, EventLog& log)
    : thread_(std::move(thread)), roster_(roster), event_log_(log), timer_(thread_), log_(kLogRecords) {}

void Chronicle::start() {
    boost::asio::post(thread_, [this] { tick(); });
}

void Chronicle::stop() {
    std::promise<void> done;
    boost::asio::post(thread_, [&] {
        stopping_ = true;
        timer_.cancel();
        follow_all();
        write_log();
        done.set_value();
    });
    done.get_future().wait();
}

void Chronicle::attached(const Roster::Member& member, history::Follower::From from) {
    boost::asio::post(thread_, [this, member, from] {
        const auto& ledger = member.process.ledger;
        {
            const std::lock_guard lock(mutex_);
            for (auto& [number, other] : processes_) {
                if (other.ledger == nullptr || !other.identity.is_same_process(member.process.identity)) {
                    continue;
                }
                if (other.source < member.process.source) {
                    return;
                }
                if (other.source > member.process.source) {
                    leave(number, other);
                }
            }
            Followed& one =
                processes_
                    .emplace(member.number, Followed{member.process.identity,
                                                     member.process.source,
                                                     ledger,
                                                     ledger,
                                                     history::Follower(*ledger, member.number, from),
                                                     {},
                                                     {},
                                                     {},
                                                     0})
                    .first->second;
            add_record(one, member.number, What::process_started);
        }
        if (!stopping_) {
            timer_.expires_after(std::chrono::milliseconds(0));
            tick();
        }
    });
}

void Chronicle::died(uint32_t number) {
    boost::asio::post(thread_, [this, number] {
        const auto found = processes_.find(number);
        if (found == processes_.end() || found->second.ledger == nullptr) {
            return;
        }
        Followed& one = found->second;
        while (follow(number, one) == kMostEventsALook) {
            // What is left in its rings; nobody adds to them any more.
        }
        {
            const std::lock_guard lock(mutex_);
            add_record(one, number, What::process_died);
            leave(number, one);
        }
        write_log();
        event_log_.start_totals(census::count(roster_.census(), census::Depth::pools));
    });
}

// It is followed no further; its records stay.
void Chronicle::leave(uint32_t number, Followed& one) {
    one.ledger = nullptr;
    const std::lock_guard lock(counts_mutex_);
    const Counts& last = counts_[number];
    of_the_left_.followed += last.followed;
    of_the_left_.lost += last.lost;
    of_the_left_.defects += last.defects;
    add_to(of_the_left_.failures, last.failures);
    counts_.erase(number);
}

void Chronicle::add_record(Followed& one, uint32_t number, What what) {
    history::Record record;
    record.process = number;
    record.what = what;
    record.monotonic_ns = segment::monotonic_now();
    log_.add(record);
    one.last_sequence = log_.newest();
}

void Chronicle::tick() {
    if (stopping_) {
        return;
    }
    const uint64_t before = log_.newest();
    follow_all();
    const uint64_t events = log_.newest() - before;
    write_log();
    look_at_totals();
    audit_one();
    forget_old();
    timer_.expires_after(pace_.after(events));
    timer_.async_wait([this](boost::system::error_code error) {
        if (!error) {
            tick();
        }
    });
}

void Chronicle::follow_all() {
    for (auto& [number, one] : processes_) {
        if (one.ledger != nullptr) {
            follow(number, one);
        }
    }
}

uint64_t Chronicle::follow(uint32_t number, Followed& one) {
    uint64_t events = 0;
    {
        const std::lock_guard lock(mutex_);
        const uint64_t before = log_.newest();
        events = one.follower.follow(*one.ledger, log_, kMostEventsALook);
        if (log_.newest() != before) {
            one.last_sequence = log_.newest();
            one.device_ids = census::device_ids_of(one.ledger->devices(), *roster_.device_ids());
            if (const history::Record* first = log_.at(std::max(before + 1, log_.oldest()))) {
                const std::lock_guard counts_lock(counts_mutex_);
                lag_ns_ = segment::monotonic_now() - std::min(segment::monotonic_now(), first->monotonic_ns);
            }
        }
    }
    publish_counts(number, one);
    return events;
}

void Chronicle::publish_counts(uint32_t number, const Followed& one) {
    const std::lock_guard lock(counts_mutex_);
    newest_ = log_.newest();
    Counts& counts = counts_[number];
    counts.pid = one.identity.pid;
    counts.followed = one.follower.followed();
    counts.lost = one.follower.lost();
    counts.defects = one.defect ? 1 : 0;
    for (size_t type = 0; type < counts.failures.size(); ++type) {
        // A process may write anything there; a counter that falls would mean a new one.
        const uint64_t ever = one.ledger->failure_count(static_cast<segment::FailureType>(type));
        counts.failures[type] = std::max(counts.failures[type], ever);
    }
}

std::vector<uint32_t> Chronicle::devices_of(const Followed& one, uint32_t set) const {
    std::vector<uint32_t> result;
    const auto version = one.follower.sets().version(set);
    for (size_t entry = 0; version && entry < one.device_ids.size(); ++entry) {
        if ((version->members >> entry & 1) != 0 && one.device_ids[entry]) {
            result.push_back(*one.device_ids[entry]);
        }
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

// The lines of all that is new in the log.
void Chronicle::write_log() {
    const uint64_t newest = log_.newest();  // only this thread adds to it
    if (written_ + 1 < log_.oldest()) {
        event_log_.lost(log_.oldest() - written_ - 1);
        written_ = log_.oldest() - 1;
    }
    for (; written_ < newest; ++written_) {
        const history::Record* record = log_.at(written_ + 1);
        if (!event_log_.wants(record->what)) {
            continue;
        }
        const auto found = processes_.find(record->process);
        if (found == processes_.end()) {
            continue;
        }
        const Followed& one = found->second;
        const bool has_name = record->what == What::set_opened || record->what == What::set_closed ||
                              record->what == What::failure;
        std::string name;
        if (const auto ledger = has_name ? one.late_ledger.lock() : nullptr) {
            const auto version = one.follower.sets().version(record->set);
            name = ledger->name(record->what == What::failure ? record->event.name
                                : version                     ? version->label
                                                              : 0);
        }
        event_log_.write(*record, one.identity, devices_of(one, record->set), name);
        if (record->what == What::gap) {
            event_log_.start_totals(census::count(roster_.census(), census::Depth::pools));
        }
    }
}

void Chronicle::look_at_totals() {
    const uint64_t now = segment::monotonic_now();
    if (now < next_sample_ns_) {
        return;
    }
    const census::Figures figures = census::count(roster_.census(), census::Depth::pools);
    {
        const std::lock_guard lock(mutex_);
        samples_.add(epoch_now(), figures);
    }
    const std::lock_guard lock(counts_mutex_);
    peaks_.see(figures);
    for (auto& [number, counts] : counts_) {
        const uint64_t events = counts.followed + counts.lost;
        const uint64_t elapsed = std::max<uint64_t>(now - sampled_ns_, 1);
        counts.per_second = static_cast<uint64_t>(static_cast<double>(events - counts.at_last_sample) * 1e9 /
                                                  static_cast<double>(elapsed));
        counts.at_last_sample = events;
    }
    sampled_ns_ = now;
    next_sample_ns_ = now + kSecond;
}

// One process a second in turn, and less often where ledgers are large.
void Chronicle::audit_one() {
    const uint64_t now = segment::monotonic_now();
    if (now < next_audit_ns_ || processes_.empty()) {
        return;
    }
    auto next = processes_.upper_bound(last_audited_);
    for (size_t tried = 0; tried < processes_.size(); ++tried, ++next) {
        next = next == processes_.end() ? processes_.begin() : next;
        if (next->second.ledger == nullptr) {
            continue;
        }
        Followed& one = next->second;
        last_audited_ = next->first;
        if (const auto difference = one.audit.look(*one.ledger)) {
            one.defect = difference;
            event_log_.note("! [PID " + std::to_string(one.identity.pid) +
                            "] defect: the counters of a pool differ from its ledger (set " +
                            std::to_string(difference->set) + ", " +
                            std::to_string(difference->counters.used) + " counted, " +
                            std::to_string(difference->ledger.used) + " live); please report it");
        }
        publish_counts(next->first, one);
        break;
    }
    const std::lock_guard lock(counts_mutex_);
    ++audits_;
    next_audit_ns_ =
        std::max(now + kSecond, segment::monotonic_now() + (segment::monotonic_now() - now) * kAuditShare);
}

// A dead process of which no event is left in the log is nobody's any more.
void Chronicle::forget_old() {
    const std::lock_guard lock(mutex_);
    std::erase_if(processes_, [&](const auto& entry) {
        return entry.second.ledger == nullptr && entry.second.last_sequence < log_.oldest();
    });
}

void Chronicle::annotate(census::Figures& figures) {
    const std::lock_guard lock(counts_mutex_);
    for (const auto& entry : counts_) {
        const Counts& counts = entry.second;
        const auto process = std::find_if(figures.processes.begin(), figures.processes.end(),
                                          [&](const auto& one) { return one.pid == counts.pid; });
        if (process == figures.processes.end()) {
            continue;
        }
        process->followed = process->followed.value_or(0) + counts.followed;
        process->lost = process->lost.value_or(0) + counts.lost;
        process->events_per_second = process->events_per_second.value_or(0) + counts.per_second;
        if (counts.defects != 0) {
            figures.inexact.push_back(
                {counts.pid, "defect: counters differ from the ledger", counts.defects, false});
        }
    }
    peaks_.see(figures);
    peaks_.raise(figures);
}

uint64_t Chronicle::newest_event() const {
    const std::lock_guard lock(counts_mutex_);
    return newest_;
}

FailureTotals Chronicle::failures() const {
    const std::lock_guard lock(counts_mutex_);
    FailureTotals sum = of_the_left_.failures;
    for (const auto& entry : counts_) {
        add_to(sum, entry.second.failures);
    }
    return sum;
}

view::EventView Chronicle::describe(const history::Record& record) const {
    view::EventView event;
    event.sequence = record.sequence;
    const uint64_t age = segment::monotonic_now() - std::min(segment::monotonic_now(), record.monotonic_ns);
    event.time_ns = epoch_now() - age;
    event.what = name_of(record.what);
    const Followed& one = processes_.at(record.process);
    event.pid = one.identity.pid;
    if (record.what == What::gap) {
        event.count = record.count;
        return event;
    }
    if (record.what == What::process_started || record.what == What::process_died) {
        return event;
    }
    event.devices = devices_of(one, record.set);
    const auto ledger = one.late_ledger.lock();
    if (record.what == What::set_opened || record.what == What::set_closed) {
        const auto version = one.follower.sets().version(record.set);
        event.name = ledger && version ? std::optional(ledger->name(version->label)) : std::nullopt;
        return event;
    }
    event.kind = census::kind_of(record.event.kind);
    if (segment::is_kernel(record.event.kind)) {
        event.kernel_type = census::kKernelTypes[census::kernel_type_of(record.event.kind)];
    } else if (record.what != What::failure) {
        event.address = record.event.address;
    }
    event.requested = record.event.requested;
    event.adds_bytes = record.event.adds_bytes;
    event.name = ledger ? std::optional(ledger->name(record.event.name)) : std::nullopt;
    return event;
}

view::EventsView Chronicle::events(uint64_t since, uint64_t limit, const MaySee& may_see) const {
    view::EventsView result;
    result.origin = view::read_here();
    result.origin.source = "daemon";
    const std::lock_guard lock(mutex_);
    const uint64_t from = std::max<uint64_t>(since, 1);  // the first there ever was
    // A number that none has yet, such as one of another daemon's: it goes on with the next there will be.
    uint64_t at = std::max(std::min(from, log_.newest() + 1), log_.oldest());
    result.missed = at - std::min(at, from);
    for (; at <= log_.newest() && result.events.size() < limit; ++at) {
        const history::Record* record = log_.at(at);
        const auto process = processes_.find(record->process);
        if (process != processes_.end() && may_see(process->second.identity.uid)) {
            result.events.push_back(describe(*record));
        }
    }
    result.next = at;
    return result;
}

view::HistoryView Chronicle::history(std::optional<uint32_t> device, std::optional<census::Kind> kind,
                                     uint64_t since_ns) const {
    view::HistoryView result;
    result.origin = view::read_here();
    result.origin.source = "daemon";
    const std::lock_guard lock(mutex_);
    for (const history::Samples::Key& key : samples_.keys()) {
        if ((!device || *device == key.first) && (!kind || *kind == key.second)) {
            result.series.push_back({key.first, key.second, samples_.since(key, since_ns)});
        }
    }
    return result;
}

void Chronicle::describe(view::SelfView& self) const {
    const std::lock_guard lock(counts_mutex_);
    self.events_followed = of_the_left_.followed;
    self.events_lost = of_the_left_.lost;
    self.defects = of_the_left_.defects;
    for (const auto& [number, counts] : counts_) {
        self.events_followed += counts.followed;
        self.events_lost += counts.lost;
        self.defects += counts.defects;
        self.events_per_second += counts.per_second;
    }
    self.lag_ns = lag_ns_;
    self.audits = audits_;
    self.log_lines_lost = event_log_.lost();
}

}  // namespace ttmem::daemon
