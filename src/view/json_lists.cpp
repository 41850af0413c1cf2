// SPDX-License-Identifier: Apache-2.0
#include "view/json.hpp"
#include "view/json_document.hpp"

namespace ttmem::view {

namespace {

constexpr size_t kPieceBytes = 64 * 1024;

// What the sums of a group mean.
std::string_view meaning_of_bytes(census::GroupBy group) {
    return group == census::GroupBy::device ? "on the device of the group"
                                            : "on each device of an allocation, counted once";
}

}  // namespace

void head_of_list(auto& io, Like<AllocationView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact());
    io("inexact", view.inexact);
    io("tracked_processes", view.processes);
    io("sort", view.sort);
    io("total", view.total);
    io("left_out", view.left_out);
    io("next", view.next);
}

void fields(auto& io, Like<AllocationView> auto& view) {
    head_of_list(io, view);
    io("allocations", view.allocations);
}

void fields(auto& io, Like<GroupView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact());
    io("inexact", view.inexact);
    io("tracked_processes", view.processes);
    io("group", view.group);
    io.derived("bytes_are", meaning_of_bytes(view.group));
    io("total", view.total);
    io.derived("left_out", view.left_out());
    io("allocations", view.allocations);
    io("ungrouped", view.ungrouped);
    io("groups", view.groups);
}

void fields(auto& io, Like<census::ProgramFigures> auto& program) {
    io("pid", program.pid);
    io("program", program.program);
    io("name", program.name);
    io("devices", program.devices);
    io("set", program.set);
    io.object("cb", [&](auto& cb) {
        cb("requested", program.cb_requested);
        cb("used", program.cb_used);
        cb("count", program.cb_count);
        cb("views", program.cb_views);
        cb("top", program.cb_top);
        cb("top_core", program.cb_top_core);
    });
    io.keyed("kernel_by_type", census::kKernelTypes, program.kernel_by_type);
    io("kernel_count", program.kernel_count);
    io("age_ns", program.age_ns);
}

void fields(auto& io, Like<ProgramView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact());
    io("inexact", view.inexact);
    io("tracked_processes", view.processes);
    io.derived("bytes_are", "on each device of a program");
    io("total", view.total);
    io.derived("left_out", view.left_out());
    io("left_aside", view.left_aside);
    io("programs", view.programs);
}

void fields(auto& io, Like<census::MapBlock> auto& block) {
    io("address", block.address);
    io("bytes", block.bytes);
    io("free", block.is_free);
    io("requested", block.requested);
    io("used", block.used);
    io("owner", block.owner);
    io("age_ns", block.age_ns);
    io("name", block.name);
}

void fields(auto& io, Like<census::AddressMap> auto& map) {
    io("pid", map.pid);
    io("set", map.set);
    io("devices", map.devices);
    io("kind", map.kind);
    io.object("bank", [&](auto& bank) {
        bank("base", map.bank.base);
        bank("size", map.bank.size);
        bank("banks", map.bank.banks);
    });
    io("used", map.used);
    io("free", map.free);
    io("largest_free", map.largest_free);
    io("left_out", map.left_out);
    io("blocks", map.blocks);
}

void fields(auto& io, Like<MapView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact());
    io("inexact", view.inexact);
    io("tracked_processes", view.processes);
    io("device", view.device);
    io.derived("bytes_are", "in one bank; requested and used of a block: in all banks");
    io("maps", view.maps);
}

void fields(auto& io, Like<census::CoreFigures> auto& figures) {
    io("core", figures.core);
    io("cb_top", figures.cb_top);
    io("used", figures.used);
    io("headroom", figures.headroom);
}

void fields(auto& io, Like<CoreView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact());
    io("inexact", view.inexact);
    io("tracked_processes", view.processes);
    io("device", view.device);
    io.derived("bytes_are", "on one core");
    io("size", view.grid.size);
    io("capacity", view.grid.capacity);
    io("lowest_buffer", view.grid.lowest_buffer);
    io("without_cores", view.grid.without_cores);
    io("cores", view.grid.cores);
}

void fields(auto& io, Like<FailureView> auto& view) {
    head(io, view.origin);
    io("tracked_processes", view.processes);
    io("total", view.total);
    io.derived("left_out", view.left_out());
    io("counts", view.counts);
    io("failures", view.failures);
}

void fields(auto& io, Like<HoldersView> auto& holders) {
    io("device", holders.device);
    io("kind", holders.kind);
    io("by_process", holders.by_process);
    io("by_name", holders.by_name);
}

void fields(auto& io, Like<WhyView> auto& view) {
    fields(io, view.failures);
    io("holders", view.holders);
}

// One allocation a line, and each is text before the next is taken up.
std::optional<std::string> AllocationPieces::next() {
    std::string text;
    JsonWriter writer;
    if (!is_begun_) {
        is_begun_ = true;
        head_of_list(writer, *view_);
        text = dump(writer, kIndented);
        text.erase(text.rfind('\n'));  // the end of the object
        text += ",\n  \"allocations\": [";
    }
    const std::vector<census::LiveAllocation>& all = view_->allocations;
    while (at_ < all.size() && text.size() < kPieceBytes) {
        fields(writer, all[at_]);
        text += (at_ == 0 ? "\n    " : ",\n    ") + dump(writer, kOnOneLine);
        ++at_;
    }
    if (at_ == all.size() && !is_ended_) {
        is_ended_ = true;
        text += all.empty() ? "]\n}\n" : "\n  ]\n}\n";
    }
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::string to_json(const AllocationView& view) {
    AllocationPieces pieces(std::shared_ptr<const AllocationView>(std::shared_ptr<void>(), &view));
    std::string text;
    while (const auto piece = pieces.next()) {
        text += *piece;
    }
    return text;
}

std::string to_json(const GroupView& view) { return write_document(view); }
std::string to_json(const ProgramView& view) { return write_document(view); }
std::string to_json(const MapView& view) { return write_document(view); }
std::string to_json(const CoreView& view) { return write_document(view); }
std::string to_json(const WhyView& view) { return write_document(view); }
std::string to_json(const FailureView& view) { return write_document(view); }

base::Expected<AllocationView> allocations_from_json(std::string_view text) {
    return read_document<AllocationView>(text);
}
base::Expected<GroupView> groups_from_json(std::string_view text) { return read_document<GroupView>(text); }
base::Expected<ProgramView> programs_from_json(std::string_view text) {
    return read_document<ProgramView>(text);
}
base::Expected<MapView> map_from_json(std::string_view text) { return read_document<MapView>(text); }
base::Expected<CoreView> cores_from_json(std::string_view text) { return read_document<CoreView>(text); }
base::Expected<FailureView> failures_from_json(std::string_view text) {
    return read_document<FailureView>(text);
}

}  // namespace ttmem::view
