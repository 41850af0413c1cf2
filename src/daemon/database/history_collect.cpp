// SPDX-License-Identifier: Apache-2.0

// What a round of the keeper reads of processes: their failures and marks, and those that have died.

#include <algorithm>

#include "base/time.hpp"
#include "census/failures.hpp"
#include "census/post_mortem.hpp"
#include "daemon/database/history_keeper.hpp"
#include "view/questions/post_mortem.hpp"

namespace ttmem::daemon {

namespace {

constexpr size_t kMarks = 3;  // their place in SeenCounts, after the types of failures
static_assert(segment::kFailureTypes == kMarks);

// What a user may have written per round, and at once after a while without: rows, each with a scan of a process.
constexpr double kAllowancePerRound = 8;
constexpr double kLargestAllowance = 512;

constexpr uint64_t kListed = 20;  // rows of each list of a post-mortem
constexpr size_t kMostDocumentBytes = 128 * 1024;

SeenCounts counts_of(const segment::Reader& ledger) {
    SeenCounts counts{};
    for (size_t type = 0; type < segment::kFailureTypes; ++type) {
        counts[type] = ledger.failure_count(static_cast<segment::FailureType>(type));
    }
    counts[kMarks] = ledger.mark_count();
    return counts;
}

view::PastMoment moment_of(const census::Identity& process, view::PastMomentType type, uint64_t time_ns) {
    view::PastMoment moment;
    moment.time_ns = time_ns;
    moment.type = type;
    moment.pid = process.pid;
    return moment;
}

// The post-mortem as an answer has it. Cards are files of their own.
std::string document_of(census::PostMortem& post_mortem) {
    for (census::FailureFigures& failure : post_mortem.failures) {
        failure.card.reset();
    }
    std::string text = view::JsonForm<view::PostMortemView>::write_line({{}, post_mortem});
    if (text.size() > kMostDocumentBytes) {
        post_mortem.by_name.clear();
        post_mortem.largest.clear();
        post_mortem.failures.clear();
        post_mortem.in_flight.clear();
        text = view::JsonForm<view::PostMortemView>::write_line({{}, post_mortem});
    }
    return text;
}

}  // namespace

bool HistoryKeeper::spend(uint32_t uid) {
    double& allowance = allowances_.try_emplace(uid, kLargestAllowance).first->second;
    if (allowance < 1) {
        return false;
    }
    allowance -= 1;
    return true;
}

void HistoryKeeper::collect(HistoryBatch& batch) {
    for (auto allowance = allowances_.begin(); allowance != allowances_.end();) {
        allowance->second += kAllowancePerRound;
        allowance =
            allowance->second >= kLargestAllowance ? allowances_.erase(allowance) : std::next(allowance);
    }
    present_.clear();
    // The dead first: a process that executes another program is dead and alive, and its old segment has the older moments.
    collect_deaths(batch);
    for (const AttachedProcess& member : process_table_.members()) {
        collect_moments(member.process, batch);
    }
    std::erase_if(seen_, [&](const auto& each) { return !present_.contains(each.first); });
}

void HistoryKeeper::collect_moments(const census::Process& process, HistoryBatch& batch) {
    const census::Identity& identity = process.identity;
    const ProcessStart key{identity.pid, identity.start_time};
    present_.insert(key);
    const SeenCounts now = counts_of(*process.ledger);
    auto known = seen_.find(key);
    if (known == seen_.end()) {
        if (now == SeenCounts{}) {
            return;
        }
        known = seen_.emplace(key, database_->seen(identity)).first;
    }
    SeenCounts& seen = known->second;
    if (now == seen || !spend(identity.uid)) {
        return;
    }
    add_failures(process, seen, now, batch);
    if (now[kMarks] != seen[kMarks]) {
        add_marks(process, seen[kMarks], batch);
    }
    seen = now;
    batch.seen.push_back({identity, now});
}

void HistoryKeeper::add_failures(const census::Process& process, const SeenCounts& seen,
                                 const SeenCounts& now, HistoryBatch& batch) {
    if (std::equal(now.begin(), now.begin() + kMarks, seen.begin())) {
        return;
    }
    census::Census census = process_table_.census();
    census.processes = {process};
    census.totals_only.clear();
    const auto page = census::list_failures(census, {.brief = true});
    SeenCounts left{};
    for (size_t type = 0; type < kMarks; ++type) {
        left[type] = now[type] - std::min(now[type], seen[type]);
    }
    for (const census::FailureFigures& failure :
         page ? page->failures : std::vector<census::FailureFigures>()) {  // the newest first
        uint64_t& still_new = left[static_cast<size_t>(failure.type)];
        if (still_new == 0 || !spend(process.identity.uid)) {
            continue;
        }
        --still_new;
        view::PastMoment moment = moment_of(process.identity, view::PastMomentType::failure, failure.time_ns);
        moment.failure = failure.type;
        moment.kind = failure.kind;
        moment.requested = failure.requested;
        moment.name = failure.name;
        if (failure.card) {
            moment.card = failure.card->number;
        }
        batch.moments.push_back({process.identity, std::move(moment)});
    }
}

void HistoryKeeper::add_marks(const census::Process& process, uint64_t seen, HistoryBatch& batch) {
    const segment::Clock clock = process.ledger->clock();
    const uint64_t now_ns = base::realtime_ns();
    for (const segment::MarkContents& mark : process.ledger->marks()) {
        if (mark.head.number <= seen || !spend(process.identity.uid)) {
            continue;
        }
        const uint64_t age_ns = clock.age_ns(mark.head.ticks);
        view::PastMoment moment =
            moment_of(process.identity, view::PastMomentType::mark, now_ns - std::min(now_ns, age_ns));
        moment.name = process.ledger->name(mark.head.name);
        batch.moments.push_back({process.identity, std::move(moment)});
    }
}

void HistoryKeeper::collect_deaths(HistoryBatch& batch) {
    std::map<DeathKey, bool> still_there;
    for (const census::DeadProcess& dead : post_mortems_.newest_first()) {
        const census::Identity& identity = dead.process.identity;
        const DeathKey key{identity.pid, identity.start_time, dead.died_ns};
        const auto known = deaths_.find(key);
        if (known == deaths_.end()) {
            if (spend(identity.uid)) {
                collect_moments(dead.process, batch);
                DeathRow row{identity,
                             census::examine(dead, process_table_.device_ids(), {kListed, kListed, kListed}),
                             {}};
                row.document = document_of(row.post_mortem);
                still_there[key] = row.post_mortem.summary.ending != census::Ending::not_known;
                batch.deaths.push_back(std::move(row));
            }
            continue;
        }
        bool& is_ending_known = still_there[key] = known->second;
        if (is_ending_known || !dead.handle) {
            continue;
        }
        census::PostMortemSummary summary;
        census::set_ending(summary, dead);
        if (summary.ending != census::Ending::not_known) {
            batch.endings.push_back(
                {identity, summary.ending, summary.signal ? summary.signal : summary.exit_code});
            is_ending_known = true;
        }
    }
    pending_deaths_ = std::move(still_there);
}

void HistoryKeeper::written() { deaths_ = std::move(pending_deaths_); }

}  // namespace ttmem::daemon
