// SPDX-License-Identifier: Apache-2.0
#include "view/model/diff.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "base/time.hpp"
#include "view/json/json_document.hpp"
#include "view/text/format.hpp"

namespace ttmem::view {

void fields(auto& io, Like<DiffSide> auto& side) {
    io("what", side.what, "as given on the command line");
    io("host", side.host, "the host");
    io("time_ns", side.time_ns, "when, since the epoch");
    io("used", side.used, "the sum of its names");
}

void fields(auto& io, Like<NameDifference> auto& one) {
    io("pid", one.pid,
       "the process; null: the two have none in common, and names are compared over all processes");
    io.unless_empty("name", one.name, "the full name; null: it has none");
    io("kind", one.kind, "the kind of memory");
    io("devices", one.devices, "the devices; empty: of a report, over all devices");
    io("before", one.before, "bytes in `a`");
    io("after", one.after, "bytes in `b`");
    io.derived("change", one.change(), "the difference");
    io.derived("verdict", std::string(name_of(one.verdict())),
               "`came`: only in `b`; `gone`: only in `a`; `grew` or `shrank`");
}

void fields(auto& io, Like<DiffView> auto& view) {
    head(io, view.origin);
    io("a", view.a, "the earlier one");
    io("b", view.b, "the later one");
    io("of_peaks", view.is_of_peaks,
       "true: requested bytes at the peaks of two runs; false: reserved bytes on each device, a mesh "
       "allocation counts once");
    io.derived("growing", view.is_growing(), "something came or grew");
    io("notes", view.inexact, "why something may be missing");
    io("total", view.total, "names that changed");
    io.derived("left_out", view.left_out(), "names that are not listed");
    io.rows("changes", view.changes, "the largest growth first");
}

template struct JsonForm<DiffView>;

namespace {

// The start of a process is computed from two clocks, which are adjusted.
constexpr uint64_t kSameStartNs = 2 * base::kNsPerSecond;

bool is_same_process(const HeldSum& a, const HeldSum& b) {
    const auto [least, most] = std::minmax(a.start_time_ns, b.start_time_ns);
    return a.pid == b.pid && most - least <= kSameStartNs;
}

// Rows are by process where A and B have one in common, and where one of the two holds nothing.
bool has_common_process(const std::vector<HeldSum>& before, const std::vector<HeldSum>& after) {
    if (before.empty() || after.empty()) {
        const std::vector<HeldSum>& held = before.empty() ? after : before;
        return std::all_of(held.begin(), held.end(), [](const HeldSum& sum) { return sum.pid != 0; });
    }
    std::map<uint32_t, const HeldSum*> known;
    for (const HeldSum& sum : before) {
        known[sum.pid] = &sum;
    }
    return std::any_of(after.begin(), after.end(), [&](const HeldSum& sum) {
        const auto found = known.find(sum.pid);
        return sum.pid != 0 && found != known.end() && is_same_process(*found->second, sum);
    });
}

std::string sign_of(int64_t change) { return change > 0 ? "+" : ""; }

}  // namespace

std::vector<NameDifference> compare_sums(const std::vector<HeldSum>& before,
                                         const std::vector<HeldSum>& after) {
    const bool by_process = has_common_process(before, after);
    std::map<uint32_t, std::vector<HeldSum>> starts;  // one of each process, by pid
    const auto number_of = [&](const HeldSum& sum) -> uint64_t {
        auto& known = starts[sum.pid];
        const auto found = std::find_if(known.begin(), known.end(),
                                        [&](const HeldSum& other) { return is_same_process(other, sum); });
        const auto number = static_cast<uint64_t>(found - known.begin());
        if (found == known.end()) {
            known.push_back(sum);
        }
        return number;
    };
    std::map<std::tuple<uint32_t, uint64_t, std::string, census::Kind, std::vector<uint32_t>>, NameDifference>
        rows;
    const auto add = [&](const HeldSum& sum, uint64_t NameDifference::*side) {
        NameDifference& row = rows[{by_process ? sum.pid : 0, by_process ? number_of(sum) : 0, sum.name,
                                    sum.kind, sum.devices}];
        row.pid = by_process ? std::optional(sum.pid) : std::nullopt;
        row.name = sum.name;
        row.kind = sum.kind;
        row.devices = sum.devices;
        row.*side += sum.used;
    };
    for (const HeldSum& sum : before) {
        add(sum, &NameDifference::before);
    }
    for (const HeldSum& sum : after) {
        add(sum, &NameDifference::after);
    }
    std::vector<NameDifference> result;
    for (auto& [key, row] : rows) {
        if (row.change() != 0) {
            result.push_back(std::move(row));
        }
    }
    std::stable_sort(result.begin(), result.end(), [](const NameDifference& a, const NameDifference& b) {
        return a.change() > b.change();
    });
    return result;
}

bool DiffView::is_growing() const {
    return std::any_of(changes.begin(), changes.end(),
                       [](const NameDifference& one) { return one.change() > 0; });
}

std::string diff_markdown(const DiffView& view) {
    std::string text =
        fmt::format("### Device memory: {} to {}\n\n", escape_cell(view.a.what), escape_cell(view.b.what));
    if (view.changes.empty()) {
        return text + "Nothing changed.\n";
    }
    text +=
        "| change | before | after | kind | devices | process | name |\n|---:|---:|---:|---|---|---|---|\n";
    for (const NameDifference& one : view.changes) {
        text += fmt::format("| {}{} | {} | {} | {} | {} | {} | {} |\n", sign_of(one.change()),
                            prose_signed_bytes(one.change(), false), prose_bytes(one.before, false),
                            prose_bytes(one.after, false), name_of(one.kind),
                            one.devices.empty() ? "-" : format_ids(one.devices),
                            one.pid ? std::to_string(*one.pid) : "-",
                            one.name.empty() ? "(no name)" : escape_cell(one.name));
    }
    if (view.left_out() != 0) {
        text += fmt::format("\n... and {}\n", format_count(view.left_out(), "more name", "more names"));
    }
    text += view.inexact.empty() ? "" : "\n";
    for (const std::string& note : view.inexact) {
        text += fmt::format("Inexact: {}\n", escape_cell(note));
    }
    return text;
}

}  // namespace ttmem::view
