// SPDX-License-Identifier: Apache-2.0
#include "view/questions/programs.hpp"

#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<ProgramQuery> auto& query) {
    io("device", query.device, kDevicesMeaning);
    io("pid", query.pid, "only this process");
    io("name", query.name, kNameMeaning);
    io.limit("limit", query.limit, "maximum number of programs");
}

void fields(auto& io, Like<census::ProgramFigures> auto& program) {
    io("pid", program.pid, "the process");
    io("program", program.program, "the runtime's id; null: not reported");
    io.unless_empty("name", program.name, "of its first allocation that has one");
    io("devices", program.devices, "device ids");
    io.unless_empty("set", program.set, "what the process called the device set");
    io.object(
        "cb",
        [&](auto& cb) {
            cb("requested", program.cb_requested, "bytes on one core");
            cb("used", program.cb_used, "bytes on all cores");
            cb("count", program.cb_count, "circular buffers that add bytes");
            cb("views", program.cb_views, "circular buffers on memory of L1 buffers, which add none");
            cb("top", program.cb_top, "address where the highest one ends");
            cb("top_core", program.cb_top_core, "a core of that one");
        },
        "its circular buffers");
    io.keyed("kernel_by_type", census::kKernelTypes, program.kernel_by_type, "reserved bytes of kernels");
    io("kernel_count", program.kernel_count, "kernels");
    io("age_ns", program.age_ns, "age of its oldest allocation");
}

void fields(auto& io, Like<ProgramView> auto& view) {
    list_head(io, view);
    io.derived("bytes_are", std::string("on each device of a program"), "what bytes mean");
    io("total", view.total, "programs that match");
    io.derived("left_out", view.left_out(), "programs that are not listed");
    io("left_aside", view.left_aside, "allocations in no program, because there are too many programs");
    io.rows("programs", view.programs, "the largest programs");
}

template struct UrlForm<ProgramQuery>;
template struct JsonForm<ProgramView>;

base::Expected<ProgramView> Programs::answer(const Host& host, const ProgramQuery& query) {
    const auto visible = host.visible(query.pid, query.device);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    auto page = census::list_programs(visible->census, query);
    if (!page) {
        return tl::unexpected(std::move(page.error()));
    }
    ProgramView view;
    visible->describe(view, host.origin());
    view.total = page->total;
    view.left_aside = page->left_aside;
    view.programs = std::move(page->programs);
    return view;
}

}  // namespace ttmem::view
