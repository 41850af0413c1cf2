// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>

#include "cli/output.hpp"

namespace ttmem::cli {

namespace {

constexpr uint64_t kDefaultLimit = 50;
constexpr int kUsageError = 2;

// CLI11 takes -1 for a large number, and too large a number for the largest.
std::string refuse_what_is_no_number(const std::string& text) {
    uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = problem == std::errc() && end == text.data() + text.size();
    return is_number ? "" : "'" + text + "' is no number from 0 up";
}

void add_flags(CLI::App& command, Options& options) {
    command.add_flag("--json", options.json, "Print JSON: the view, for scripts");
    command.add_flag("--bytes", options.bytes, "Print plain bytes instead of KiB, MiB, GiB");
}

void add_direct(CLI::App& command, Options& options) {
    command.add_flag_callback(
        "--direct", [&options] { options.way = access::Way::direct; },
        "Look by itself, also where a daemon runs");
}

void add_status(CLI::App& app, Options& options) {
    CLI::App* command = app.add_subcommand("status", "What is in use of each device (the default)");
    add_flags(*command, options);
    add_direct(*command, options);
    command->footer(
        "DRAM, and the L1 of the fullest core: circular buffers of any one program plus\n"
        "L1 buffers; HEADROOM is what lies between the two. Then every kind: FREE/BANK\n"
        "is the largest free block of a bank, and a PEAK with >= is a lower bound.\n\n"
        "Example:\n  ttmem status --json | jq '.devices[].memory.dram.used'");
}

CLI::App* add_ps(CLI::App& app, Options& options) {
    CLI::App* command = app.add_subcommand("ps", "What each process holds, by device and kind");
    add_flags(*command, options);
    add_direct(*command, options);
    command->footer("Example:\n  ttmem ps --bytes");
    return command;
}

void add_order_and_groups(CLI::App& command, Options& options) {
    census::AllocationQuery& query = options.query;
    command.add_option("--name", query.name, "Only with this text in the name (a and A differ)")
        ->type_name("TEXT");
    CLI::Option* sort =
        command
            .add_option_function<std::string>(
                "--sort", [&query](const std::string& name) { query.sort = *census::sort_by_name(name); },
                "used (the default), requested, age, address or name")
            ->check([](const std::string& name) {
                return census::sort_by_name(name) ? std::string() : "there is no order '" + name + "'";
            })
            ->type_name("ORDER");
    command.add_option("--limit", query.limit, "At most so many; 0 for all (default: 50)")
        ->check(refuse_what_is_no_number)
        ->type_name("N");
    CLI::Option* cursor = command
                              .add_option_function<std::string>(
                                  "--cursor", [&query](const std::string& text) { query.cursor = text; },
                                  "Go on where a page before ended")
                              ->type_name("TEXT");
    CLI::Option* group =
        command
            .add_option_function<std::string>(
                "--group", [&query](const std::string& name) { query.group = census::group_by_name(name); },
                "Sums by name, scope, kind, pid, device, set, thread or owner")
            ->check([](const std::string& name) {
                return census::group_by_name(name) ? std::string() : "there are no groups by '" + name + "'";
            })
            ->type_name("BY")
            ->excludes(cursor)
            ->excludes(sort);
    command.add_option("--depth", query.scope_depth, "How many parts of a name are its scope (default: 1)")
        ->check(refuse_what_is_no_number)
        ->type_name("N")
        ->needs(group);
}

CLI::App* add_allocations(CLI::App& app, Options& options) {
    static const std::vector<std::string> kKindNames = {"dram", "l1",     "l1_small",     "trace",
                                                        "cb",   "kernel", "system_memory"};
    CLI::App* command = app.add_subcommand("allocations", "What is live, the largest first");
    add_flags(*command, options);
    add_direct(*command, options);
    command
        ->add_option_function<std::string>(
            "--device", [&](const std::string& device) { options.query.device = device; },
            "Only on this device: its number or its ASIC id (0x...)")
        ->type_name("ID");
    command
        ->add_option_function<uint32_t>(
            "--pid", [&](uint32_t pid) { options.query.pid = pid; }, "Only of this process")
        ->check(refuse_what_is_no_number)
        ->type_name("PID");
    command
        ->add_option_function<std::string>(
            "--kind", [&](const std::string& kind) { options.query.kind = census::kind_by_name(kind); },
            "Only of this kind")
        ->check(CLI::IsMember(kKindNames))
        ->type_name("KIND");
    add_order_and_groups(*command, options);
    command->footer(
        "Bytes are those on each device of an allocation. A scope is the beginning of a\n"
        "name: decoder.3 of decoder.3/ttnn::matmul, and with --depth 2 one part more.\n"
        "Groups come by what they use. A page ends with the cursor of the next one,\n"
        "which is asked for with the same filters and the same --sort.\n\n"
        "Examples:\n"
        "  ttmem allocations --device 0 --kind dram --limit 10\n"
        "  ttmem allocations --name kv_cache --sort age\n"
        "  ttmem allocations --group scope");
    return command;
}

CLI::App* add_post_mortem(CLI::App& app, Options& options) {
    CLI::App* command = app.add_subcommand("post-mortem", "What processes held when they died");
    add_flags(*command, options);
    command
        ->add_option_function<uint32_t>(
            "PID", [&](uint32_t pid) { options.query.pid = pid; }, "All about the last one of this number")
        ->check(refuse_what_is_no_number);
    command->add_option("--limit", options.query.limit, "At most so many lines of each list (default: 50)")
        ->check(refuse_what_is_no_number)
        ->type_name("N");
    command->footer(
        "A daemon (ttmemd) keeps the last ledger of each process whose end it saw.\n\n"
        "Examples:\n  ttmem post-mortem\n  ttmem post-mortem 4711 --json | jq '.post_mortem.by_name[0]'");
    return command;
}

CLI::App* add_demo(CLI::App& app, Options& options) {
    CLI::App* command = app.add_subcommand("demo", "A simulated T3000 at work: no accelerator needed");
    command->add_flag("--bytes", options.bytes, "Print plain bytes instead of KiB, MiB, GiB");
    command->footer(
        "On a terminal it goes on, step by step, until Ctrl-C; elsewhere it prints one\n"
        "table and ends.\n\nExample:\n  ttmem demo");
    return command;
}

// Everything behind "sim" is the simulated runtime's own affair, also --help.
CLI::App* add_sim(CLI::App& app) {
    CLI::App* command = app.add_subcommand("sim", "The simulated runtime: 'ttmem sim list'");
    command->prefix_command();
    command->set_help_flag();
    return command;
}

Parsed usage_error(const CLI::App& app, const std::string& problem) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const std::string command = chosen.empty() ? "ttmem" : "ttmem " + chosen.front()->get_name();
    complain(problem + "\nusage: " + command + (chosen.empty() ? " [command]" : "") + " [options]; '" +
             command + " --help' lists them");
    return {std::nullopt, kUsageError};
}

}  // namespace

Parsed parse(int argument_count, const char* const* arguments) {
    Options options;
    options.query.limit = kDefaultLimit;
    CLI::App app("Who holds the device memory of this Tenstorrent host, since when, and why.", "ttmem");
    app.set_version_flag("--version", "ttmem " TTMEM_VERSION, "Print the version");
    app.require_subcommand(0, 1);
    app.get_formatter()->column_width(20);
    add_flags(app, options);
    add_direct(app, options);
    add_status(app, options);
    const CLI::App* ps = add_ps(app, options);
    const CLI::App* allocations = add_allocations(app, options);
    const CLI::App* post_mortem = add_post_mortem(app, options);
    const CLI::App* demo = add_demo(app, options);
    const CLI::App* sim = add_sim(app);
    app.footer(
        "Example:\n  TT_ALLOC_TRACKING_ENABLED=1 python3 model.py &\n  ttmem status\n\n"
        "'ttmem COMMAND --help' tells more about a command.");
    try {
        app.parse(argument_count, arguments);
    } catch (const CLI::CallForHelp&) {
        // CLI11 looks for --help before it notices a command that does not exist.
        const std::vector<std::string> unknown = app.remaining(true);
        if (!unknown.empty()) {
            return usage_error(app, "there is no command or option '" + unknown.front() + "'");
        }
        return {std::nullopt, print(app.help())};
    } catch (const CLI::CallForVersion& version) {
        return {std::nullopt, print(std::string(version.what()) + "\n")};
    } catch (const CLI::ParseError& problem) {
        return usage_error(app, problem.what());
    }
    const auto is_chosen = [](const CLI::App* command) { return command->parsed(); };
    options.command = is_chosen(ps)            ? Command::ps
                      : is_chosen(allocations) ? Command::allocations
                      : is_chosen(post_mortem) ? Command::post_mortem
                      : is_chosen(demo)        ? Command::demo
                      : is_chosen(sim)         ? Command::sim
                                               : Command::status;
    options.sim_arguments = sim->remaining();
    return {options, 0};
}

}  // namespace ttmem::cli
