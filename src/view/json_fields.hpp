// SPDX-License-Identifier: Apache-2.0
#pragma once

// The schema, one list of fields a type, in the order in which people read it: what several documents have in common. Each
// must be declared before it is used.

#include <array>
#include <string_view>

#include "view/json_io.hpp"
#include "view/view.hpp"

namespace ttmem::view {

constexpr std::array<std::string_view, census::kDeviceKinds> kKindNames = {"dram",  "l1", "l1_small",
                                                                           "trace", "cb", "kernel"};

void head(auto& io, Like<Origin> auto& origin) {
    io.derived("schema", kSchema);
    io("host", origin.host);
    io("time_ns", origin.time_ns);
    io("source", origin.source);
}

void fields(auto& io, Like<census::Inexactness> auto& inexact) {
    io("pid", inexact.pid);
    io("reason", inexact.reason);
    io("count", inexact.count);
    io("skipped", inexact.skipped);
}

void fields(auto& io, Like<census::Held> auto& held) {
    io.unless_unknown("used", held.used, held.is_known);
    io.unless_unknown("requested", held.requested, held.is_known);
    io.unless_unknown("count", held.count, held.is_count_known);
}

void fields(auto& io, Like<census::HeldOnDevice> auto& held) {
    io("id", held.id);
    io("logical_id", held.logical_id);
    io.keyed("memory", kKindNames, held.memory);
}

void fields(auto& io, Like<census::Container> auto& container) {
    io("runtime", container.runtime);
    io("id", container.id);
    io("pod", container.pod);
}

void fields(auto& io, Like<census::ProcessFigures> auto& process) {
    io("pid", process.pid);
    io("inner_pid", process.inner_pid);
    io("start_time_ns", process.start_time_ns);
    io("comm", process.comm);
    io("uid", process.uid);
    io("user", process.user);
    io("container", process.container);
    io("state", process.state);
    io("source", process.source);
    io("devices", process.devices);
    io.object("events", [&](auto& events) {
        events("followed", process.followed);
        events("lost", process.lost);
        events("per_second", process.events_per_second);
    });
}

void fields(auto& io, Like<census::LiveAllocation> auto& live) {
    io("pid", live.pid);
    io("devices", live.devices);
    io("set", live.set);
    io("kind", live.kind);
    io("kernel_type", live.kernel_type);
    io("address", live.address);
    io("requested", live.requested);
    io("used", live.used);
    io("planned", live.planned);
    io("view", live.view);
    io("reserved_known", live.reserved_known);
    io("name", live.name);
    io("owner", live.owner);
    io("thread", live.thread);
    io("age_ns", live.age_ns);
}

void fields(auto& io, Like<census::Group> auto& group) {
    io("key", group.key);
    io("pid", group.pid);
    io("kind", group.kind);
    io("device", group.device);
    io("used", group.used);
    io("requested", group.requested);
    io("count", group.count);
    io("planned", group.planned);
    io("views", group.views);
    io("largest", group.largest);
    io("oldest_age_ns", group.oldest_age_ns);
}

void fields(auto& io, Like<census::Blocker> auto& blocker) {
    io("kind", blocker.kind);
    io("address", blocker.address);
    io("requested", blocker.requested);
    io("used", blocker.used);
    io("owner", blocker.owner);
    io("name", blocker.name);
}

void fields(auto& io, Like<census::FailureFigures> auto& failure) {
    io("pid", failure.pid);
    io("type", failure.type);
    io("verdict", failure.verdict);
    io("time_ns", failure.time_ns);
    io("age_ns", failure.age_ns);
    io("devices", failure.devices);
    io("set", failure.set);
    io("kind", failure.kind);
    io("name", failure.name);
    io("thread", failure.thread);
    io("requested", failure.requested);
    io("needed", failure.needed);
    io("free", failure.free);
    io("largest_free", failure.largest_free);
    io("missing", failure.missing);
    io("cb_end", failure.cb_end);
    io("lowest_buffer", failure.lowest_buffer);
    io("core", failure.core);
    io("program", failure.program);
    io("blocker", failure.blocker);
    io("address", failure.address);
    io("logical_device", failure.logical_device);
}

void fields(auto& io, Like<census::FailureCounts> auto& counts) {
    io("pid", counts.pid);
    io("out_of_memory", counts.out_of_memory);
    io("cb_clash", counts.cb_clash);
    io("unknown_free", counts.unknown_free);
}

}  // namespace ttmem::view
