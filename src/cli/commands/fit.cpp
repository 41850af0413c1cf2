// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

constexpr int kFits = 0;
constexpr int kUndecided = 1;
constexpr int kDoesNotFit = 3;

struct FitOptions : CommonOptions {
    std::optional<std::string> device;
    bool interleaved = false;
    bool top_down = false;
    bool bottom_up = false;
    view::FitQuery query;
};

std::string check_bytes(const std::string& text) {
    return parse_size(text).value_or(0) != 0
               ? ""
               : "'" + text + "': must be a size, such as 4096, 512KiB or 16MiB";
}

std::string check_shape(const std::string& text) {
    const auto shape = allocator::parse_shape(text);
    return shape ? "" : shape.error().text;
}

template <class Named>
void add_choice(CLI::App& command, const std::string& name, std::optional<Named>& value, const char* about,
                const char* type) {
    command
        .add_option_function<std::string>(
            name, [&value](const std::string& word) { value = base::by_name<Named>(word); }, about)
        ->check(check_choice(choices_of<Named>()))
        ->type_name(type);
}

CLI::Option* add_bytes(CLI::App& command, const std::string& name, std::optional<uint64_t>& value,
                       const char* about) {
    return command
        .add_option_function<std::string>(
            name, [&value](const std::string& text) { value = parse_size(text); }, about)
        ->check(check_bytes)
        ->type_name("SIZE");
}

void declare_fit_options(CLI::App& command, FitOptions& options) {
    add_list_options(command, options);
    add_direct(command, options);
    add_device(command, options.device)->required();
    command
        .add_option_function<std::string>(
            "--kind",
            [&options](const std::string& name) { options.query.kind = *base::by_name<census::Kind>(name); },
            "dram (the default), l1, l1_small or trace")
        ->check(check_choice(choices_of<census::Kind>(census::kPoolKinds)))
        ->type_name("KIND");
    add_bytes(command, "size", options.query.size, "Bytes on each device: 16MiB");
    add_bytes(command, "--page", options.query.page_size, "Page size (default: 2048)");
    command.add_option("--shape", options.query.shape, "A tensor instead of a size: 1,32,4096,4096")
        ->check(check_shape)
        ->type_name("N,...");
    add_choice(command, "--dtype", options.query.dtype, "Its data type (default: bfloat16)", "TYPE");
    add_choice(command, "--layout", options.query.layout, "tile (the default) or row_major", "LAYOUT");
    auto* cores = command.add_option("--cores", options.query.cores, "Sharded by height over N cores")
                      ->check(check_count)
                      ->type_name("N");
    command.add_flag("--interleaved", options.interleaved, "Over all banks (the default)")->excludes(cores);
    auto* top_down = command.add_flag("--top-down", options.top_down, "From the highest address");
    command.add_flag("--bottom-up", options.bottom_up, "From the lowest address")->excludes(top_down);
    add_pid(command, options.query.pid);
    command.add_option("--set", options.query.set, "Only the allocator of this device set")
        ->type_name("NAME");
}

int show_fit(const FitOptions& options) {
    view::FitQuery query = options.query;
    query.device = options.device.value_or("");
    if (options.top_down || options.bottom_up) {
        query.direction = options.top_down ? census::FitDirection::top_down : census::FitDirection::bottom_up;
    }
    if (const auto pages = census::pages_of(query); !pages) {
        print_error(pages.error().text);
        return kUsageError;
    }
    const auto reply = access::ask<view::FitCheck>(query, options.mode);
    const int shown = show(reply, options, view::fit_text);
    if (shown != 0) {
        return shown == kNotFound ? kUndecided : shown;
    }
    switch (reply->view.answer()) {
        case census::FitAnswer::fits:
            return kFits;
        case census::FitAnswer::does_not_fit:
            return kDoesNotFit;
        case census::FitAnswer::undecided:
            break;
    }
    return kUndecided;
}

}  // namespace

void add_fit(CLI::App& app, Action& chosen) {
    add_command<FitOptions>(app, chosen, "fit", "Whether a request would fit, where, or what would help",
                            declare_fit_options, show_fit)
        ->footer(
            "Answers by the rules of tt-metal's allocator on what is live now. Each mesh,\n"
            "submesh and device has an allocator of its own, with an answer of its own.\n"
            "Exit codes: 0 it fits in every allocator asked, 3 one of them has no room,\n"
            "1 it can't be decided, 2 the request is wrong.\n\n"
            "Examples:\n"
            "  ttmem fit -d 0 --kind l1 4MiB --page 2048\n"
            "  ttmem fit -d 0 --kind l1 1MiB --cores 8\n"
            "  ttmem fit -d 0 --shape 1,1,4096,4096 --dtype bfloat16 --layout tile");
}

}  // namespace ttmem::cli
