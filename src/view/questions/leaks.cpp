// SPDX-License-Identifier: Apache-2.0
#include "view/questions/leaks.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <utility>

#include "census/arithmetic.hpp"
#include "census/device_id_set.hpp"
#include "census/selection.hpp"
#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<LeakQuery> auto& query) {
    io("device", query.device, kDevicesMeaning);
    io("pid", query.pid, "only this process");
    io("kind", query.kind, kKindsMeaning);
    io("name", query.name, kNameMeaning);
    io("mark_name", query.mark_name, "only marks with this name");
    io("marks", query.marks, "how many marks in a row a name must have grown at; at least 3");
    io.limit("limit", query.limit, "maximum number of names");
}

void fields(auto& io, Like<NameLeak> auto& leak) {
    io("pid", leak.pid, "the process");
    io.unless_empty("name", leak.name, "the full name");
    io("kind", leak.kind, "the kind of memory");
    io("verdict", leak.verdict,
       "`growing` up to the last mark; `program_cache`: the same, but each new program adds to it; "
       "`plateau`: it grew, then stopped");
    io("marks", leak.marks, "marks from the first to the last of the growth");
    io("first", leak.first, "reserved bytes at the first of them");
    io("last", leak.last, "reserved bytes at the last of them");
    io.derived("grown", leak.grown(), "the difference");
    io.derived("per_mark", leak.per_mark(), "the difference per mark");
    io("since_age_ns", leak.since_age_ns, "how long ago the first of them was");
    io("full_after_marks", leak.full_after_marks,
       "marks until the fullest of its devices is full at this rate; null: it does not grow, or the capacity "
       "is unknown");
    io("full_in_ns", leak.full_in_ns, "the same as time, if marks go on as before");
}

void fields(auto& io, Like<LeakView> auto& view) {
    list_head(io, view);
    io.derived("bytes_are", std::string("per device; a mesh allocation counts once"), "what bytes mean");
    io("marked", view.marked, "processes with enough marks to decide");
    io("unmarked", view.unmarked, "processes with fewer marks; they are left out");
    io("cut_marks", view.cut_marks, "marks that had more names than fit; the others are left out");
    io("total", view.total, "names that grew");
    io.derived("left_out", view.left_out(), "names that are not listed");
    io.rows("leaks", view.leaks, "those that grow come first, and what grew most per mark");
}

template struct UrlForm<LeakQuery>;
template struct JsonForm<LeakView>;

namespace {

using census::Kind;

struct NameCurve {
    std::vector<uint64_t> used;  // by mark
    uint64_t devices = 0;        // a mask over the device table of the process
};
using NameCurves = std::map<std::pair<uint32_t, Kind>, NameCurve>;

bool is_program_cache(const std::string& name, Kind kind) {
    return kind == Kind::cb || kind == Kind::kernel || name.find("program_cache") != std::string::npos;
}

// The run of marks in which the bytes rose at each, and whether it ends with the last mark.
struct RisingRun {
    size_t begin = 0;
    size_t end = 0;  // the last mark of it
};

RisingRun rising_run(const std::vector<uint64_t>& used) {
    RisingRun run{used.size() - 1, used.size() - 1};
    // What did not change since it last rose.
    while (run.end > 0 && used[run.end - 1] == used[run.end]) {
        --run.end;
    }
    run.begin = run.end;
    while (run.begin > 0 && used[run.begin - 1] < used[run.begin]) {
        --run.begin;
    }
    return run;
}

// What a run of marks says about a name; absent: it did not grow.
struct LeakRun {
    RisingRun run;
    bool is_at_end = false;
};

std::optional<LeakRun> leak_run(const std::vector<uint64_t>& used, uint64_t least_marks) {
    const RisingRun run = rising_run(used);
    const bool is_at_end = run.end + 1 == used.size();
    const uint64_t marks = run.end - run.begin + 1;
    return marks < 2 || (is_at_end && marks < least_marks) ? std::nullopt
                                                           : std::optional(LeakRun{run, is_at_end});
}

NameLeak describe_leak(uint32_t pid, std::string name, Kind kind, const std::vector<uint64_t>& used,
                       const LeakRun& found) {
    NameLeak leak;
    leak.pid = pid;
    leak.name = std::move(name);
    leak.kind = kind;
    leak.marks = found.run.end - found.run.begin + 1;
    leak.first = used[found.run.begin];
    leak.last = used[found.run.end];
    leak.verdict = !found.is_at_end                    ? LeakVerdict::plateau
                   : is_program_cache(leak.name, kind) ? LeakVerdict::program_cache
                                                       : LeakVerdict::growing;
    return leak;
}

// When the fullest of its devices will be full, of which so many bytes are free.
void foresee(NameLeak& leak, std::optional<uint64_t> least_free, uint64_t last_age_ns) {
    if (!least_free || leak.per_mark() == 0) {
        return;
    }
    leak.full_after_marks = *least_free / leak.per_mark();
    const uint64_t step = (leak.since_age_ns - std::min(last_age_ns, leak.since_age_ns)) / (leak.marks - 1);
    __extension__ using Wide = unsigned __int128;
    const Wide time = Wide{*leak.full_after_marks} * step;
    leak.full_in_ns = static_cast<uint64_t>(std::min<Wide>(time, UINT64_MAX));
}

void finish_leaks(LeakView& view, uint64_t limit) {
    std::stable_sort(view.leaks.begin(), view.leaks.end(), [](const NameLeak& a, const NameLeak& b) {
        return a.verdict != b.verdict ? a.verdict < b.verdict : a.per_mark() > b.per_mark();
    });
    view.total = view.leaks.size();
    if (limit != 0 && view.leaks.size() > limit) {
        view.leaks.resize(limit);
    }
}

tl::unexpected<base::Error> too_few_marks() {
    return base::error(base::Error::Code::refused, "marks: must be at least " + std::to_string(kLeastMarks));
}

class ProcessLeaks {
public:
    ProcessLeaks(const census::Selection& selection, const census::SelectedLedger& ledger,
                 const census::Figures& figures, const LeakQuery& query, const base::NamePattern& pattern)
        : selection_(selection), ledger_(ledger), figures_(figures), query_(query), pattern_(pattern) {}

    // False if there are too few marks.
    bool collect(LeakView& view) {
        read_marks();
        if (marks_.size() < query_.marks) {
            return false;
        }
        read_curves(view);
        for (const auto& [key, curve] : curves_) {
            add(view, key.first, key.second, curve);
        }
        return true;
    }

private:
    void read_marks() {
        for (segment::MarkContents& mark : ledger_.reader().marks()) {
            // The first marks, then a gap, then the last: what is before the gap is not next to what is after it.
            if (!marks_.empty() && mark.head.number != marks_.back().head.number + 1) {
                marks_.clear();
            }
            marks_.push_back(std::move(mark));
        }
        std::erase_if(marks_, [&](const segment::MarkContents& mark) {
            return !query_.mark_name.empty() && ledger_.reader().name(mark.head.name) != query_.mark_name;
        });
    }

    void read_curves(LeakView& view) {
        census::NameFilter names(ledger_.reader(), pattern_);
        std::vector<uint64_t> members(256, 0);
        for (const segment::SetTotals& set : ledger_.reader().sets()) {
            members[set.index % members.size()] = set.set.members;
        }
        for (size_t i = 0; i < marks_.size(); ++i) {
            view.cut_marks += marks_[i].head.other_count != 0 ? 1u : 0u;
            for (const segment::MarkTotal& total : marks_[i].totals) {
                const auto kind = census::kind_of(static_cast<segment::AllocationKind>(total.kind));
                if (!kind || !query_.kind.selects(*kind) || !is_asked(members[total.set]) ||
                    !names.matches(total.name)) {
                    continue;
                }
                NameCurve& curve = curves_[{total.name, *kind}];
                curve.used.resize(marks_.size());
                curve.used[i] = census::saturating_add(curve.used[i], total.used);
                curve.devices |= members[total.set];
            }
        }
    }

    bool is_asked(uint64_t members) const {
        if (!query_.device) {
            return true;
        }
        const auto positions = selection_.table().positions(ledger_.report, members);
        return std::any_of(positions.begin(), positions.end(),
                           [&](size_t one) { return selection_.selects(one); });
    }

    void add(LeakView& view, uint32_t name, Kind kind, const NameCurve& curve) const {
        const auto found = leak_run(curve.used, query_.marks);
        if (!found) {
            return;
        }
        NameLeak leak = describe_leak(ledger_.pid(), ledger_.reader().name(name), kind, curve.used, *found);
        leak.since_age_ns = ledger_.clock.age_ns(marks_[found->run.begin].head.ticks);
        if (found->is_at_end) {
            foresee(leak, least_free(kind, curve), ledger_.clock.age_ns(marks_[found->run.end].head.ticks));
        }
        view.leaks.push_back(std::move(leak));
    }

    // Free bytes of the fullest of its devices.
    std::optional<uint64_t> least_free(Kind kind, const NameCurve& curve) const {
        std::optional<uint64_t> least;
        for (const size_t position : selection_.table().positions(ledger_.report, curve.devices)) {
            if (census::index_of(kind) >= census::kPoolKinds) {
                return std::nullopt;
            }
            const census::MemoryFigures& memory = figures_.devices[position].memory[census::index_of(kind)];
            if (!memory.capacity) {
                return std::nullopt;
            }
            least = std::min(least.value_or(UINT64_MAX),
                             *memory.capacity - std::min(*memory.capacity, memory.used));
        }
        return least;
    }

    const census::Selection& selection_;
    const census::SelectedLedger& ledger_;
    const census::Figures& figures_;
    const LeakQuery& query_;
    const base::NamePattern& pattern_;
    std::vector<segment::MarkContents> marks_;
    NameCurves curves_;
};

// What a process holds under one name at each mark of the host.
struct HostCurve {
    std::vector<uint64_t> used;
    std::set<uint32_t> devices;
};

// Which devices a query asks for; empty: all. Returns an error for one that no mark has.
base::Expected<std::set<uint32_t>> devices_of(const std::optional<std::string>& asked,
                                              const InventoryView& mark) {
    std::set<uint32_t> known;
    for (const HeldSum& sum : mark.sums) {
        known.insert(sum.devices.begin(), sum.devices.end());
    }
    for (const HeldPool& pool : mark.pools) {
        known.insert(pool.device);
    }
    std::set<uint32_t> devices;
    for (const std::string& text : asked ? census::split_device_list(*asked) : std::vector<std::string>()) {
        const auto found =
            std::find_if(known.begin(), known.end(), [&](uint32_t id) { return std::to_string(id) == text; });
        if (found == known.end()) {
            return base::error(base::Error::Code::not_found,
                               "the last mark of the host has no device " + text +
                                   " (marks of the host have the numbers of devices)");
        }
        devices.insert(*found);
    }
    return devices;
}

// From marks of the host: one process at each mark since it started.
class HostMarkLeaks {
public:
    HostMarkLeaks(const std::vector<InventoryView>& marks, const LeakQuery& query,
                  const base::NamePattern& pattern, const std::set<uint32_t>& devices)
        : marks_(marks), query_(query), pattern_(pattern), devices_(devices) {}

    void add_process(LeakView& view, uint32_t pid, uint64_t start_ns) const {
        std::vector<const InventoryView*> own;
        for (const InventoryView& mark : marks_) {
            if (mark.origin.time_ns >= start_ns) {
                own.push_back(&mark);
            }
        }
        if (own.size() < query_.marks) {
            return;
        }
        ++view.marked;
        for (const auto& [key, curve] : curves_of(own, pid)) {
            const auto found = leak_run(curve.used, query_.marks);
            if (!found) {
                continue;
            }
            NameLeak leak = describe_leak(pid, key.first, key.second, curve.used, *found);
            const auto age_of = [&](size_t mark) {
                return view.origin.time_ns - std::min(view.origin.time_ns, own[mark]->origin.time_ns);
            };
            leak.since_age_ns = age_of(found->run.begin);
            if (found->is_at_end) {
                foresee(leak, least_free(key.second, curve), age_of(found->run.end));
            }
            view.leaks.push_back(std::move(leak));
        }
    }

private:
    using Curves = std::map<std::pair<std::string, Kind>, HostCurve>;

    Curves curves_of(const std::vector<const InventoryView*>& own, uint32_t pid) const {
        Curves curves;
        for (size_t i = 0; i < own.size(); ++i) {
            for (const HeldSum& sum : own[i]->sums) {
                if (sum.pid != pid || !query_.kind.selects(sum.kind) || !is_asked(sum.devices) ||
                    !pattern_.matches(sum.name)) {
                    continue;
                }
                HostCurve& curve = curves[{sum.name, sum.kind}];
                curve.used.resize(own.size());
                curve.used[i] = census::saturating_add(curve.used[i], sum.used);
                curve.devices.insert(sum.devices.begin(), sum.devices.end());
            }
        }
        return curves;
    }

    bool is_asked(const std::vector<uint32_t>& devices) const {
        return devices_.empty() || std::any_of(devices.begin(), devices.end(),
                                               [&](uint32_t one) { return devices_.contains(one); });
    }

    // Free bytes of the fullest of its devices at the last mark.
    std::optional<uint64_t> least_free(Kind kind, const HostCurve& curve) const {
        std::optional<uint64_t> least;
        for (const uint32_t device : curve.devices) {
            const std::vector<HeldPool>& pools = marks_.back().pools;
            const auto pool = std::find_if(pools.begin(), pools.end(), [&](const HeldPool& one) {
                return one.device == device && one.kind == kind;
            });
            if (pool == pools.end()) {
                return std::nullopt;
            }
            least =
                std::min(least.value_or(UINT64_MAX), pool->capacity - std::min(pool->capacity, pool->used));
        }
        return least;
    }

    const std::vector<InventoryView>& marks_;
    const LeakQuery& query_;
    const base::NamePattern& pattern_;
    const std::set<uint32_t>& devices_;
};

}  // namespace

base::Expected<LeakView> Leaks::answer(const Host& host, const LeakQuery& query) {
    if (query.marks < kLeastMarks) {
        return too_few_marks();
    }
    const auto visible = host.visible(query.pid, query.device);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    const auto selection = census::Selection::of(
        visible->census, {.device = query.device, .pid = query.pid, .name = query.name});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    const auto pattern = base::NamePattern::parse(query.name);
    assert(pattern);  // the selection has it too
    const census::Figures figures = census::compute_figures(visible->census, census::Depth::pools);
    LeakView view;
    visible->describe(view, host.origin());
    for (const census::SelectedLedger& ledger : selection->ledgers()) {
        const bool is_marked = !ledger.process->is_beyond_share &&
                               ProcessLeaks(*selection, ledger, figures, query, *pattern).collect(view);
        ++(is_marked ? view.marked : view.unmarked);
    }
    finish_leaks(view, query.limit);
    return view;
}

base::Expected<LeakView> leaks_between(const std::vector<InventoryView>& marks, const LeakQuery& query,
                                       const Origin& now) {
    if (query.marks < kLeastMarks) {
        return too_few_marks();
    }
    const auto pattern = base::NamePattern::parse(query.name);
    if (!pattern) {
        return tl::unexpected(pattern.error());
    }
    LeakView view;
    view.origin = now;
    if (marks.empty()) {
        return view;
    }
    const auto devices = devices_of(query.device, marks.back());
    if (!devices) {
        return tl::unexpected(devices.error());
    }
    view.inexact = marks.back().inexact;
    view.hidden = marks.back().hidden;
    view.processes = marks.back().processes;
    std::set<std::pair<uint32_t, uint64_t>> processes;
    for (const HeldSum& sum : marks.back().sums) {
        processes.emplace(sum.pid, sum.start_time_ns);
    }
    const HostMarkLeaks leaks(marks, query, *pattern, *devices);
    for (const auto& [pid, start_ns] : processes) {
        if (!query.pid || *query.pid == pid) {
            leaks.add_process(view, pid, start_ns);
        }
    }
    view.unmarked = view.processes - std::min(view.processes, view.marked);
    finish_leaks(view, query.limit);
    return view;
}

}  // namespace ttmem::view
