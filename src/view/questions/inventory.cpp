// SPDX-License-Identifier: Apache-2.0
#include "view/questions/inventory.hpp"

#include "census/name_totals.hpp"
#include "census/selection.hpp"
#include "view/json/json_document.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& /*io*/, Like<InventoryQuery> auto& /*query*/) {}

void fields(auto& io, Like<HeldSum> auto& sum) {
    io("pid", sum.pid, "the process");
    io("start_time_ns", sum.start_time_ns, "when it started, since the epoch");
    io.unless_empty("name", sum.name, "the full name; null: it has none");
    io("kind", sum.kind, "the kind of memory");
    io("devices", sum.devices, "the devices");
    io("used", sum.used, "reserved bytes");
}

void fields(auto& io, Like<InventoryView> auto& view) {
    list_head(io, view);
    io.derived("bytes_are", std::string("per device; a mesh allocation counts once"), "what bytes mean");
    io("unread", view.unread, "processes with too many names; they are left out");
    io.rows("sums", view.sums, "by process, kind and name");
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

}  // namespace

base::Expected<InventoryView> Inventory::answer(const Host& host, const InventoryQuery& /*query*/) {
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
    for (const census::SelectedLedger& ledger : selection->ledgers()) {
        const census::Process& process = *ledger.process;
        const auto totals =
            process.is_beyond_share
                ? std::nullopt
                : census::totals_by_name(*process.ledger, kMostSumsPerProcess, process.slots_to_scan);
        if (totals) {
            add_sums(*selection, ledger, *totals, view.sums);
        } else {
            ++view.unread;
        }
    }
    return view;
}

}  // namespace ttmem::view
