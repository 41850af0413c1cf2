// SPDX-License-Identifier: Apache-2.0
#include "census/allocations.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <deque>

#include "census/page_cursor.hpp"
#include "census/selection.hpp"

namespace ttmem::census {

namespace {

// A match before its name is resolved. Names are expensive to read, and most matches are not shown.
struct Match {
    Place place;
    size_t ledger = 0;
    segment::Allocation allocation;
};

// Keeps the first `limit` matches after the cursor, in a heap with the last of them on top.
class FirstMatches {
public:
    FirstMatches(uint64_t limit, const Place* behind, bool is_reverse)
        : limit_(limit == 0 ? UINT64_MAX : limit), behind_(behind), before_{is_reverse} {}

    void add(const Place& place, size_t ledger, const segment::Allocation& allocation) {
        // Places of lists by name are not comparable with those of other lists.
        assert(behind_ == nullptr || (behind_->text == nullptr) == (place.text == nullptr));
        ++total_;
        if (behind_ != nullptr && !before_(*behind_, place)) {
            return;
        }
        ++behind_cursor_;
        if (kept_.size() == limit_) {
            if (!before_(place, kept_.front().place)) {
                return;
            }
            std::pop_heap(kept_.begin(), kept_.end(), before_);
            kept_.pop_back();
        }
        kept_.push_back({place, ledger, allocation});
        std::push_heap(kept_.begin(), kept_.end(), before_);
        if (kept_.size() == limit_ && place.text == nullptr) {
            last_first_ = kept_.front().place.first;
        }
    }

    // Fast path: counts a match without keeping it if its first number sorts after all kept matches. Most do.
    bool is_beyond(uint64_t first) {
        const bool is_last =
            last_first_ && (before_.is_reverse ? first < *last_first_ : first > *last_first_);
        total_ += is_last ? 1 : 0;
        behind_cursor_ += is_last ? 1 : 0;
        return is_last;
    }

    uint64_t total() const { return total_; }
    uint64_t left_out() const {
        assert(kept_.size() <= behind_cursor_ && behind_cursor_ <= total_);
        return behind_cursor_ - kept_.size();
    }
    const std::vector<Match>& in_order() {
        std::sort_heap(kept_.begin(), kept_.end(), before_);
        assert(kept_.size() <= limit_);
        // No two allocations have one place, else a page could end between them.
        assert(std::adjacent_find(kept_.begin(), kept_.end(), [this](const Match& a, const Match& b) {
                   return !before_(a, b);
               }) == kept_.end());
        return kept_;
    }

private:
    struct Before {
        bool is_reverse;

        bool operator()(const Place& a, const Place& b) const { return is_reverse ? b < a : a < b; }
        bool operator()(const Match& a, const Match& b) const { return (*this)(a.place, b.place); }
    };

    uint64_t limit_;
    const Place* behind_;
    Before before_;
    uint64_t total_ = 0;
    uint64_t behind_cursor_ = 0;
    // `first` of the last kept match, once the heap is full; absent in lists by name.
    std::optional<uint64_t> last_first_;
    std::vector<Match> kept_;
};

// The names of a ledger by number, each read once. Impossible numbers count as no name.
class NameTexts {
public:
    NameTexts(const segment::Reader& reader, std::deque<std::string>& store)
        : reader_(reader), store_(store) {}

    const std::string* of(uint32_t name) {
        name = name < segment::kMaxNames ? name : 0;
        known_.resize(std::max<size_t>(known_.size(), name + 1), nullptr);
        if (known_[name] == nullptr) {
            known_[name] = &store_.emplace_back(cut_key(reader_.name(name)));
        }
        return known_[name];
    }

private:
    const segment::Reader& reader_;
    std::deque<std::string>& store_;
    std::vector<const std::string*> known_;
};

// The two sort numbers of an allocation. Sizes are complemented, so that the largest come first. Ticks are comparable
// across processes, because all processes of a host use the same clock.
std::pair<uint64_t, uint64_t> numbers_of(const segment::Allocation& a, Sort sort) {
    switch (sort) {
        case Sort::used:
            return {~a.used(), ~a.requested};
        case Sort::requested:
            return {~a.requested, ~a.used()};
        case Sort::age:
            return {a.ticks, 0};
        case Sort::address:  // allocations without an address come last
            return segment::is_kernel(a.kind) ? std::pair<uint64_t, uint64_t>(UINT64_MAX, 1)
                                              : std::pair<uint64_t, uint64_t>(a.address, 0);
        case Sort::name:
            return {~a.used(), ~a.requested};
    }
    return {};
}

}  // namespace

LiveAllocation describe(const segment::Allocation& a, const SelectedLedger& ledger,
                        const Selection& selection) {
    const SelectedLedger::SelectedSet& set = ledger.sets[a.set];
    LiveAllocation live;
    live.pid = ledger.pid();
    live.devices = selection.ids(set.positions);
    live.set = set.label;
    live.kind = *kind_of(a.kind);
    if (a.kind == segment::AllocationKind::cb) {
        live.cb_type = a.flags.has(segment::AllocationFlag::dataflow)     ? "dataflow"
                       : a.flags.has(segment::AllocationFlag::scratchpad) ? "scratchpad"
                                                                          : "circular";
    }
    if (segment::is_kernel(a.kind)) {
        live.kernel_type = kKernelTypes[kernel_type_of(a.kind)];
    } else {
        live.address = a.address;
    }
    live.requested = a.requested;
    live.used = a.used();
    live.planned = a.flags.has(segment::AllocationFlag::planned);
    live.view = a.flags.has(segment::AllocationFlag::view);
    live.reserved_known = !a.flags.has(segment::AllocationFlag::reserved_unknown);
    live.name = ledger.reader().name(a.name);
    live.owner = a.owner;
    live.thread = a.thread;
    live.age_ns = ledger.clock.age_ns(a.ticks);
    return live;
}

base::Expected<AllocationPage> list_allocations(const Census& census, const AllocationQuery& query) {
    std::optional<PageCursor> cursor;
    if (query.cursor) {
        cursor = read_cursor(query, *query.cursor);
        if (!cursor) {
            return base::error(base::Error::Code::refused,
                               "the cursor does not belong to this list (use 'next' of the previous page)");
        }
        cursor->place.text = query.sort == Sort::name ? &cursor->text : nullptr;
    }
    const auto selection =
        Selection::of(census, {query.device, query.pid, query.kind, query.name, query.since});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    FirstMatches matches(query.limit, cursor ? &cursor->place : nullptr, query.reverse);
    std::deque<std::string> names;
    for (size_t i = 0; i < selection->ledgers().size(); ++i) {
        const SelectedLedger& ledger = selection->ledgers()[i];
        NameTexts texts(ledger.reader(), names);
        selection->for_each_match(ledger, [&](segment::SlotRef slot, const segment::Allocation& a, Kind) {
            const auto [first, second] = numbers_of(a, query.sort);
            if (matches.is_beyond(first)) {
                return;
            }
            matches.add({query.sort == Sort::name ? texts.of(a.name) : nullptr, first, second, ledger.pid(),
                         ledger.number, slot.slot, slot.generation},
                        i, a);
        });
    }
    AllocationPage page;
    page.total = matches.total();
    page.left_out = matches.left_out();
    const std::vector<Match>& kept = matches.in_order();
    for (const Match& match : kept) {
        page.allocations.push_back(
            describe(match.allocation, selection->ledgers()[match.ledger], *selection));
    }
    if (page.left_out != 0) {
        assert(!kept.empty());
        page.next = write_cursor(query, kept.back().place);
    }
    return page;
}

}  // namespace ttmem::census
