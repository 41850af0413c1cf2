// SPDX-License-Identifier: Apache-2.0
#include "view/model/run.hpp"

#include "view/json/json_document.hpp"

namespace ttmem::view {

void fields(auto& io, Like<Leftover> auto& left) {
    io("kind", left.kind, "the kind of memory");
    io.unless_empty("name", left.name, "the full name; null: it has none");
    io("used", left.used, "reserved bytes, over all devices");
    io("requested", left.requested, "requested bytes, over all devices");
    io("count", left.count, "allocations");
}

void fields(auto& io, Like<ExceededPeak> auto& exceeded) {
    io("device", exceeded.device, "the device");
    io("kind", exceeded.kind, "the kind of memory");
    io("peak", exceeded.peak, "highest use");
    io("limit", exceeded.limit, "the limit that was given");
}

void fields(auto& io, Like<UndecidedPeak> auto& undecided) {
    io("device", undecided.device, "the device");
    io("kind", undecided.kind, "the kind of memory");
    io("peak", undecided.peak, "lower bound of the highest use");
    io("peak_at_most", undecided.at_most, "upper bound; null: the figures are inexact");
    io("limit", undecided.limit, "the limit that was given");
}

void fields(auto& io, Like<LeastHeadroom> auto& least) {
    io("device", least.device, "the device");
    io("headroom", least.headroom,
       "the lowest value that was seen, below 0 is a clash; null: the size of L1 is not known");
    io("headroom_at_least", least.at_least, "lower bound; null: events were not seen");
    io("missing", least.missing, "events that were not seen");
}

void fields(auto& io, Like<PeakLayer> auto& layer) {
    io("kind", layer.kind, "the kind of memory");
    io.unless_empty("name", layer.name, "the full name; null: it has none");
    io("requested", layer.requested, "requested bytes; a mesh allocation counts once");
}

void fields(auto& io, Like<SmallBanks> auto& one) {
    io("device", one.device, "the device");
    io("banks", one.banks, "its banks of L1_SMALL, one per core");
}

void fields(auto& io, Like<GateResult> auto& gate) {
    io("name", gate.name, "the option that asked for it");
    io("passed", gate.passed, "false: the exit code is 97");
    io("text", gate.text, "what was found");
}

void fields(auto& io, Like<RunView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact(), "nothing is missing and nothing is in doubt");
    io("inexact", view.figures.inexact, "why it is not exact");
    io("missing_facts", view.missing_facts, "facts that its tt-metal does not give, such as `kernels`");
    io("command", view.command, "the command and its arguments");
    io("exit_code", view.exit_code, "its exit code; null: a signal ended it");
    io("signal", view.signal, "the signal that ended it");
    io("lived_ns", view.lived_ns, "how long it ran");
    io.derived("leak", view.has_leak(), "buffers were live when their process ended");
    io("exceeded", view.exceeded, "peaks above the limits that were given");
    io("undecided", view.undecided, "limits between the lower and the upper bound of a peak");
    io("least_headroom", view.least_headroom,
       "with `--report`, `--baseline` or `--min-headroom`: the least room between circular buffers and L1 "
       "buffers on the fullest core");
    io("peak_by_name", view.peak_by_name,
       "what the processes held when each had requested most, by kind and name: the most of any process");
    io("small_banks", view.small_banks, "the banks of L1_SMALL, which `l1_small_size` is the size of");
    io("gates", view.gates, "the checks that were asked for");
    io("left", view.left, "allocations that were live when their process ended, by kind and name");
    io("failure_counts", view.failure_counts, "totals per process");
    io("failures", view.failures, "the last first");
    io("devices", view.figures.devices, "devices that it used, with their peaks");
    io("processes", view.figures.processes, "processes that were tracked");
}

template struct JsonForm<RunView>;

}  // namespace ttmem::view
