// SPDX-License-Identifier: Apache-2.0
#include "view/questions/inventory.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "census/name_totals.hpp"
#include "census/selection.hpp"
#include "view/json/json_document.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<InventoryQuery> auto& query) {
    io("mark", query.mark,
       "at the last mark with this name that each process set (`ttmem_mark`); without it: now");
}

void fields(auto& io, Like<HeldSum> auto& sum) {
    io("pid", sum.pid, "the process");
    io("start_time_ns", sum.start_time_ns, "when it started, since the epoch");
    io.unless_empty("name", sum.name, "the full name; null: it has none");
    io("kind", sum.kind, "the kind of memory");
    io("devices", sum.devices, "the devices");
    io("used", sum.used, "reserved bytes");
}

void fields(auto& io, Like<HeldPool> auto& pool) {
    io("device", pool.device, "the device");
    io("kind", pool.kind, "the kind of memory");
    io("capacity", pool.capacity, "bytes of all banks");
    io("used", pool.used, "reserved bytes of all processes");
}

void fields(auto& io, Like<InventoryView> auto& view) {
    list_head(io, view);
    io.derived("bytes_are", std::string("per device; a mesh allocation counts once"), "what bytes mean");
    io("unread", view.unread, "processes with too many names; they, or some of their names, are left out");
    io.rows("sums", view.sums, "by process, kind and name");
    io.rows("pools", view.pools, "pools of known capacity; none at a mark of the processes");
}

template struct UrlForm<InventoryQuery>;
template struct JsonForm<InventoryView>;

namespace {

constexpr size_t kMostSumsPerProcess = 16'384;

void add_sums(const census::Selection& selection, const census::SelectedLedger& ledger,
              const census::NameTotals& totals, std::vector<HeldSum>& sums) {
    const census::Identity& who = ledger.process->identity;
    for (const census::NameTotal& total : totals.totals) {
        const auto positions = selection.table().positions(ledger.report, totals.members_of(total));
        sums.push_back({.pid = who.pid,
                        .start_time_ns = who.start_time_ns,
                        .name = ledger.reader().name(total.name),
                        .kind = total.kind,
                        .devices = selection.ids(positions),
                        .used = total.used});
    }
}

// The last mark of a process with this name.
std::optional<segment::MarkContents> last_mark(const segment::Reader& ledger, const std::string& name) {
    std::optional<segment::MarkContents> last;
    for (segment::MarkContents& mark : ledger.marks()) {
        if (ledger.name(mark.head.name) == name) {
            last = std::move(mark);
        }
    }
    return last;
}

census::NameTotals totals_of(const segment::MarkContents& mark, const segment::Reader& ledger) {
    census::NameTotals result;
    for (const segment::MarkTotal& total : mark.totals) {
        const auto kind = census::kind_of(static_cast<segment::AllocationKind>(total.kind));
        if (kind && total.used != 0) {
            result.totals.push_back({total.name, *kind, total.set, total.used});
        }
    }
    for (const segment::SetTotals& set : ledger.sets()) {
        result.members.resize(std::max<size_t>(result.members.size(), set.index + 1));
        result.members[set.index] = set.set.members;
    }
    return result;
}

std::vector<HeldPool> pools_of(const census::Census& census) {
    std::vector<HeldPool> pools;
    for (const census::DeviceFigures& device :
         census::compute_figures(census, census::Depth::pools).devices) {
        for (size_t kind = 0; kind < census::kPoolKinds; ++kind) {
            const census::MemoryFigures& memory = device.memory[kind];
            if (memory.capacity && memory.is_known) {
                pools.push_back({device.id, static_cast<census::Kind>(kind), *memory.capacity, memory.used});
            }
        }
    }
    return pools;
}

void add_marked(const census::Selection& selection, const std::string& name, InventoryView& view) {
    const uint64_t now_ns = view.origin.time_ns;
    view.origin.time_ns = 0;
    for (const census::SelectedLedger& ledger : selection.ledgers()) {
        if (const auto mark = last_mark(ledger.reader(), name)) {
            add_sums(selection, ledger, totals_of(*mark, ledger.reader()), view.sums);
            view.unread += mark->head.other_count != 0 ? 1u : 0u;
            const uint64_t age_ns = ledger.clock.age_ns(mark->head.ticks);
            view.origin.time_ns = std::max(view.origin.time_ns, now_ns - std::min(now_ns, age_ns));
        }
    }
}

void add_held_now(const census::Selection& selection, InventoryView& view) {
    for (const census::SelectedLedger& ledger : selection.ledgers()) {
        const census::Process& process = *ledger.process;
        const auto totals =
            process.is_beyond_share
                ? std::nullopt
                : census::totals_by_name(*process.ledger, kMostSumsPerProcess, process.slots_to_scan);
        if (totals) {
            add_sums(selection, ledger, *totals, view.sums);
        } else {
            ++view.unread;
        }
    }
}

}  // namespace

base::Expected<InventoryView> Inventory::answer(const Host& host, const InventoryQuery& query) {
    const auto visible = host.visible({});
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    const auto selection = census::Selection::of(visible->census, {});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    InventoryView view;
    visible->describe(view, host.origin());
    if (query.mark.empty()) {
        add_held_now(*selection, view);
        view.pools = pools_of(visible->census);
        return view;
    }
    add_marked(*selection, query.mark, view);
    return view.origin.time_ns != 0
               ? base::Expected<InventoryView>(std::move(view))
               : base::error(base::Error::Code::not_found, "no process has a mark '" + query.mark + "'");
}

}  // namespace ttmem::view
