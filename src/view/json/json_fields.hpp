// SPDX-License-Identifier: Apache-2.0
#pragma once

// Field lists of the types that several documents have in common, in the order in which people read them.

#include <array>
#include <string_view>

#include "census/allocations.hpp"
#include "census/failures.hpp"
#include "census/figures.hpp"
#include "census/groups.hpp"
#include "view/json/json_io.hpp"
#include "view/json/ways_fields.hpp"
#include "view/model/hidden.hpp"
#include "view/model/origin.hpp"

namespace ttmem::view {

constexpr std::array<std::string_view, census::kDeviceKinds> kKindNames = {"dram",  "l1", "l1_small",
                                                                           "trace", "cb", "kernel"};

constexpr const char* kMissedMeaning =
    "short-lived processes that ended before the daemon could read them, since it started; null without a "
    "daemon";

void head(auto& io, Like<Origin> auto& origin) {
    io.derived("schema", kSchema, "version of the format: fields are added, never renamed");
    io("host", origin.host, "name of the host");
    io("time_ns", origin.time_ns, "when the figures were read, since the epoch");
    io("source", origin.source, "which program read them");
}

void exactness(auto& io, auto& view) {
    io.derived("exact", view.is_exact(), "nothing is missing and nothing is in doubt");
    io("inexact", view.inexact, "why it is not exact");
}

// What a list misses, and over how many processes it is.
void list_head(auto& io, auto& view) {
    head(io, view.origin);
    exactness(io, view);
    io("tracked_processes", view.processes, "processes that were read, whatever the filters");
    io("hidden", view.hidden, "what is not listed: processes of other users");
}

void fields(auto& io, Like<census::Inexactness> auto& inexact) {
    io.title("Inexactness");
    io("pid", inexact.pid, "the process; 0: the host");
    io("code", inexact.reason, "the reason, for programs");
    std::string sentence = text_of(inexact);
    io("reason", sentence, "the reason, for people");
    io.unless_empty("detail", inexact.detail, "the part of the reason that differs from case to case");
    io("count", inexact.count, "number of occurrences");
    io.derived("skipped", inexact.is_skipped(), "the whole process is in no figure");
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(inexact)>>) {
        if (inexact.reason == census::Reason::other) {
            inexact.detail = std::move(sentence);
        }
    }
}

void fields(auto& io, Like<census::Holding> auto& held) {
    io.unless_unknown("used", held.used, held.is_known, "reserved bytes");
    io.unless_unknown("requested", held.requested, held.is_known, "requested bytes");
    io.unless_unknown("count", held.count, held.is_count_known, "allocations that add bytes");
}

void fields(auto& io, Like<Hidden> auto& hidden) {
    io("process_count", hidden.processes, "tracked processes of other users, on the devices asked for");
    io.keyed("memory", kKindNames, hidden.memory, "what they hold there, over all devices");
}

void fields(auto& io, Like<census::MeshFigures> auto& mesh) {
    io("rows", mesh.rows, "its rows");
    io("columns", mesh.columns, "its columns");
    io("devices", mesh.devices, "device ids, row by row");
}

void fields(auto& io, Like<census::DeviceHoldings> auto& held) {
    io("id", held.id, "the device");
    io("logical_id", held.logical_id, "what the process itself calls the device");
    io.keyed("memory", kKindNames, held.memory, "what the process holds");
}

void fields(auto& io, Like<census::Container> auto& container) {
    io.unless_empty("runtime", container.runtime, "`docker`, `containerd`, `podman`, `cri-o`");
    io("id", container.id, "the container's id");
    io("pod", container.pod, "the pod's uid in Kubernetes");
}

void fields(auto& io, Like<census::ProcessFigures> auto& process) {
    io.title("Process");
    io("pid", process.pid, "process id on this host");
    io("inner_pid", process.inner_pid, "process id in its own pid namespace");
    io("start_time_ns", process.start_time_ns, "when it started, since the epoch");
    io("comm", process.comm, "command name");
    io("uid", process.uid, "user id");
    io("user", process.user, "user name");
    io("container", process.container, "the container it runs in; null: none");
    io("state", process.state, "`untracked`: it has devices open and reports nothing");
    io("source", process.source, "where its figures come from; the first of these that knows it counts");
    io("rss", process.resident_bytes,
       "its resident host memory in bytes; null: not known, or not asked for (`ps` does)");
    io("devices", process.devices, "what it holds, by device");
    io.object(
        "events",
        [&](auto& events) {
            events("followed", process.followed, "events that the daemon has read");
            events("lost", process.lost, "events that were overwritten before the daemon read them");
            events("per_second", process.events_per_second, "rate of both, over the last second");
        },
        "its events; null without a daemon");
}

void fields(auto& io, Like<census::LiveAllocation> auto& live) {
    io.title("Allocation");
    io("pid", live.pid, "the process that holds it");
    io("devices", live.devices, "device ids: all members of its set");
    io.unless_empty("set", live.set, "what the process called the device set");
    io("kind", live.kind, "the kind of memory");
    io("kernel_type", live.kernel_type, "`application`, `fabric` or `dispatch`; null: not a kernel");
    io("cb_type", live.cb_type, "`circular`, `dataflow` or `scratchpad`; null: not a circular buffer");
    io("address", live.address, "address in each bank; kernels have none");
    io("requested", live.requested, "requested bytes, per device");
    io("used", live.used, "reserved bytes, per device");
    io("is_planned", live.planned, "hooked by the runtime: adds no bytes");
    io("view", live.view, "a view of memory that another allocation owns: adds no bytes");
    io("reserved_known", live.reserved_known, "false: `used` repeats `requested`");
    io.unless_empty("name", live.name, "its full name, scopes included; null: it has none");
    io("owner", live.owner, "the runtime's id of the buffer or program");
    io("thread", live.thread, "the thread that made it");
    io("age_ns", live.age_ns, "how long it has been live");
}

void fields(auto& io, Like<census::GroupMemory> auto& memory) {
    io("used", memory.used, "reserved bytes");
    io("requested", memory.requested, "requested bytes");
    io("count", memory.count, "allocations that add bytes");
}

void fields(auto& io, Like<census::Group> auto& group) {
    io.title("Group");
    io.unless_empty("key", group.key,
                    "the name, number or word that its members share; null: they have no name");
    io("pid", group.pid, "in groups by process, set, thread and owner: the process");
    io("kind", group.kind, "in groups by kind: the kind");
    io("device", group.device, "in groups by device: the device");
    io.keyed("memory", enum_names(census::Kind{}), group.memory, "sums; kinds are never added up");
    io("count", group.count, "allocations that add bytes, of all kinds");
    io("planned", group.planned, "hooked allocations, which add none");
    io("views", group.views, "views of memory that others own, which add none");
    io("largest", group.largest, "reserved bytes of the largest allocation, on one device");
    io("oldest_age_ns", group.oldest_age_ns, "age of the oldest allocation");
}

void fields(auto& io, Like<census::Blocker> auto& blocker) {
    io("kind", blocker.kind, "the kind of memory");
    io("address", blocker.address, "its address");
    io("requested", blocker.requested, "requested bytes");
    io("used", blocker.used, "reserved bytes");
    io("owner", blocker.owner, "the runtime's id of the buffer");
    io.unless_empty("name", blocker.name, "its full name");
}

void fields(auto& io, Like<census::MapBlock> auto& block) {
    io("address", block.address, "where it begins");
    io("bytes", block.bytes, "its length in one bank");
    io("is_free", block.is_free, "true: a free block, whose further fields are null");
    io("circular_buffers", block.circular_buffers,
       "in a map of L1: number of circular buffers that occupy the block; owner, age and name are those of "
       "the "
       "one that ends highest");
    io("requested", block.requested,
       "requested bytes, in all banks; of a circular buffer: on one core; null: free, or circular buffers");
    io("used", block.used,
       "reserved bytes, in all banks; of a circular buffer: on all its cores; null: free, or circular "
       "buffers");
    io("owner", block.owner, "the runtime's id of the buffer or program; null: free");
    io("age_ns", block.age_ns, "how long it has been live; null: free");
    io("name", block.name, "its full name; null: free, or it has none");
}

void fields(auto& io, Like<census::CardRequest> auto& request) {
    io("requested", request.requested, "requested bytes, on one device; of a clash on one core");
    io("needed", request.needed, "bytes needed per bank");
    io("page", request.page, "bytes of a page; null: not reported");
    io("banks", request.banks, "banks over which the pages were to be spread; null: not reported");
    io("alignment", request.alignment, "alignment of a page in its bank");
    io("direction", request.direction, "where the search began; null: not reported");
}

void fields(auto& io, Like<census::CardBank> auto& bank) {
    io("kind", bank.kind, "the kind of memory; of a clash: l1");
    bool is_known = bank.bank.is_known();
    io.unless_unknown("base", bank.bank.base, is_known, "its first address; null: not reported");
    io.unless_unknown("size", bank.bank.size, is_known, "its bytes");
    io.unless_unknown("banks", bank.bank.banks, is_known, "number of such banks");
    io("used", bank.used, "bytes in one bank that its allocations took, without circular buffers");
    io("free", bank.free, "free bytes in one bank, reported by the allocator");
    io("largest_free", bank.largest_free, "largest free block in one bank");
    io("allocation_count", bank.allocations, "live allocations in it, also those that the card lacks");
}

void fields(auto& io, Like<census::CardHolder> auto& holder) {
    io.unless_empty("name", holder.name, "the full name; null: it has none");
    io("used", holder.used, "reserved bytes, in all banks of a device");
    io("count", holder.count, "allocations");
}

void fields(auto& io, Like<census::CardProgram> auto& program) {
    io.unless_empty("name", program.name, "of its highest circular buffer");
    io("core", program.core, "the core on which they clash");
    io("buffers", program.circular_buffers, "its circular buffers on that core, by address");
    io("cores", program.cores, "all cores where its circular buffers reach into L1 buffers");
    io("blocker", program.blocker, "the buffer in the way; null: not known");
}

void fields(auto& io, Like<census::CardEvent> auto& event) {
    io("what", event.type, "what happened");
    io("age_ns", event.age_ns, "how long before the failure");
    io("kind", event.kind, "the kind of memory");
    io("address", event.address, "address in each bank");
    io("requested", event.requested, "requested bytes, per device");
    io.unless_empty("name", event.name, "the full name");
}

void fields(auto& io, Like<census::FailureCard> auto& card) {
    io.title("Card");
    io("number", card.number, "its number among the cards of the process");
    io("complete", card.is_complete,
       "false: the bank had more than 4,096 allocations, and the card has the blocks around the largest free "
       "ones, the largest and the youngest");
    io("request", card.request, "what was asked for");
    io("bank", card.bank, "the bank of the allocator that refused");
    io("clash", card.program, "of a clash: the program and the buffer in the way");
    io("holders", card.holders, "the five names that held most");
    io("youngest", card.youngest, "the five youngest allocations; ages are relative to the failure");
    io("around", card.around, "the map around the largest free block, or around the buffer in the way");
    io("events", card.events, "the last 100 events of that thread before the failure, the oldest first");
    io("fix", card.fix,
       "what would have made the request fit, each tried with the allocator's rules; rests on part of the "
       "map if "
       "`complete` is false; null: see `no_fix`");
    io.unless_empty("no_fix", card.no_fix, "why nothing can be proposed");
    io("blocks_left_out", card.blocks_left_out, "blocks that are not listed");
    io("blocks", card.blocks, "by address, with the free ones; of circular buffers those on the core");
}

void fields(auto& io, Like<census::FailureFigures> auto& failure) {
    io.title("Failure");
    io("pid", failure.pid, "the process");
    io("type", failure.type, "the type of failure");
    io("verdict", failure.verdict, "the cause");
    io("time_ns", failure.time_ns, "when, since the epoch");
    io("age_ns", failure.age_ns, "how long ago");
    io("devices", failure.devices, "device ids");
    io.unless_empty("set", failure.set, "what the process called the device set");
    io("kind", failure.kind, "the kind of memory");
    io.unless_empty("name", failure.name, "where in the program it happened");
    io("thread", failure.thread, "the thread");
    io("requested", failure.requested, "requested bytes, per device");
    io("needed", failure.needed, "bytes needed per bank, rounded as the allocator does");
    io("free", failure.free, "free bytes per bank");
    io("largest_free", failure.largest_free, "largest free block per bank");
    io("missing", failure.missing,
       "bytes that the largest free block lacks: `needed` less `largest_free`; or the overlap of a clash");
    io("short_by", failure.short_by,
       "missing bytes per bank: of the bank (`too big`), of the free memory (`not enough`) or of the largest "
       "block (`fragmented`); or the overlap of a clash");
    io("cb_end", failure.cb_end, "clash: the address where circular buffers end");
    io("lowest_buffer", failure.lowest_buffer, "clash: the address of the lowest L1 buffer");
    io("l1_end", failure.l1_end, "clash without a buffer: the address where L1 ends");
    io("core", failure.core, "clash: a core on which they clash");
    io("program", failure.program, "clash: the runtime's id of the program");
    io("blocker", failure.blocker, "clash: the allocation in the way, as it was then");
    io("address", failure.address, "unknown free: the address that was freed");
    io("logical_device", failure.logical_device, "unknown free: the device, as the process calls it");
    io("no_card", failure.no_card,
       "why there is no card; null: there is one, it is not kept any more, or this type has none");
    io("card", failure.card, "what the bank held at that moment");
}

void fields(auto& io, Like<census::FailureCounts> auto& counts) {
    io("pid", counts.pid, "the process");
    io.unless_unknown("out_of_memory", counts.out_of_memory, counts.is_known, "allocations that failed");
    io.unless_unknown("cb_clash", counts.cb_clash, counts.is_known,
                      "clashes of circular buffers with L1 buffers");
    io.unless_unknown("unknown_free", counts.unknown_free, counts.is_known, "frees of unknown addresses");
}

void fields(auto& io, Like<census::MemoryFigures> auto& memory) {
    io.unless_unknown("used", memory.used, memory.is_known, "reserved bytes; null where no process reports");
    io.unless_unknown("requested", memory.requested, memory.is_known, "requested bytes");
    io("capacity", memory.capacity, "what processes report, else what the card type has");
    io.unless_unknown("peak", memory.peak, memory.is_known, "highest use");
    io("peak_exact", memory.peak_exact, "false: `peak` is a lower bound");
    io.unless_unknown("count", memory.count, memory.is_count_known, "allocations that add bytes");
    io.unless_unknown("planned", memory.planned, memory.is_count_known, "hooked allocations, which add none");
    io.unless_unknown("views", memory.views, memory.is_count_known,
                      "views of memory that others own, which add none");
    io("largest_free", memory.largest_free, "largest free block per bank; null without a scan");
}

void fields(auto& io, Like<census::WorstCore> auto& worst) {
    io("core", worst.core, "the core");
    io("cb_top", worst.cb_top, "address where its circular buffers end");
    io("lowest_buffer", worst.lowest_buffer, "address of the lowest L1 buffer");
    io("headroom", worst.headroom, "bytes between the two; below 0 is a clash");
    io("used", worst.used, "bytes of circular buffers and L1 buffers on this core");
    io("capacity", worst.capacity, "allocatable L1 of one core");
}

void fields(auto& io, Like<census::Telemetry> auto& telemetry) {
    io("temperature_c", telemetry.temperature_c, "temperature");
    io("temperature_max_c", telemetry.temperature_max_c, "its limit");
    io("power_w", telemetry.power_w, "power");
    io("power_max_w", telemetry.power_max_w, "its limit");
    io("current_a", telemetry.current_a, "current");
    io("current_max_a", telemetry.current_max_a, "its limit");
    io("voltage_v", telemetry.voltage_v, "voltage");
    io("voltage_max_v", telemetry.voltage_max_v, "its limit");
    io("aiclk_mhz", telemetry.aiclk_mhz, "clock of the cores");
    io("axiclk_mhz", telemetry.axiclk_mhz, "clock of the network on chip");
    io("arcclk_mhz", telemetry.arcclk_mhz, "clock of the management core");
    io("fan_rpm", telemetry.fan_rpm, "fan speed");
    io("thermal_trips", telemetry.thermal_trips, "emergency stops because of heat");
    io("alive", telemetry.is_alive, "the firmware's heartbeat advances; null without the daemon");
}

void fields(auto& io, Like<census::PcieLink> auto& link) {
    io("speed", link.speed, "current speed");
    io("max_speed", link.max_speed, "maximum speed");
    io("width", link.width, "current lanes");
    io("max_width", link.max_width, "maximum lanes");
}

void fields(auto& io, Like<census::DriverFacts> auto& driver) {
    io("bdf", driver.bdf, "address on the PCI bus");
    io("numa_node", driver.numa_node, "NUMA node");
    io("serial", driver.serial, "serial number of the board");
    io("firmware", driver.firmware, "version of the firmware bundle");
    io("pcie", driver.link, "the PCIe link");
}

void fields(auto& io, Like<census::DeviceFigures> auto& device) {
    io.title("Device");
    io("id", device.id,
       "N of `/dev/tenstorrent/N`; else the number that its first process uses, if it is free. The daemon "
       "keeps it, also "
       "over restarts. Scripts use `asic_id`");
    io("arch", device.arch, "architecture, `wormhole_b0`");
    io("board", device.board, "card type, `n300`");
    io.hex("asic_id", device.asic_id, "ASIC id, `0x...`");
    io.derived("bdf", device.driver && device.driver->bdf ? Json(*device.driver->bdf) : Json(nullptr),
               "address on the PCI bus, as in `driver`");
    io("remote", device.is_remote, "true: behind another chip, not on the bus; null without a driver");
    io("driver", device.driver, "what the driver reports; null: it does not know the device");
    io.keyed("memory", kKindNames, device.memory, "memory in use");
    io.keyed_unless_unknown("kernel_by_type", census::kKernelTypes, device.kernel_by_type,
                            device.memory[index_of(census::Kind::kernel)].is_known,
                            "reserved bytes of kernels");
    io.unless_default("l1_worst_core", device.l1_worst_core,
                      "the core whose circular buffers come nearest to the L1 buffers; null without a scan");
    io("telemetry", device.telemetry, "sensors");
}

}  // namespace ttmem::view
