// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "access/recorded_host.hpp"
#include "base/name_pattern.hpp"
#include "cli/commands/commands.hpp"
#include "cli/named_marks.hpp"
#include "view/model/diff.hpp"
#include "view/model/run.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

using base::Error;

struct DiffOptions : CommonOptions {
    std::string a;
    std::string b;
    census::KindSet kinds;
    std::string name;
    uint64_t limit = kDefaultLimit;
    bool markdown = false;
    bool fail = false;
};

struct SideContents {
    view::DiffSide side;
    std::vector<view::HeldSum> sums;
    bool is_of_peaks = false;
    std::vector<std::string> notes;
};

SideContents moment_contents(view::InventoryView view) {
    SideContents result;
    result.side.host = view.origin.host;
    result.side.time_ns = view.origin.time_ns;
    result.sums = std::move(view.sums);
    for (const census::Inexactness& reason : view.inexact) {
        result.notes.push_back(text_of(reason));
    }
    if (view.unread != 0) {
        result.notes.push_back(std::to_string(view.unread) + " with too many names left out");
    }
    return result;
}

base::Expected<SideContents> report_contents(const std::string& path) {
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto report = view::from_json<view::RunView>(text);
    if (!report || report->command.empty()) {
        return base::error(Error::Code::failed,
                           path + ": neither a report of 'ttmem run --report' nor a recording" +
                               (report ? "" : " (" + report.error().text + ")"));
    }
    SideContents result;
    result.is_of_peaks = true;
    result.side.host = report->origin.host;
    result.side.time_ns = report->origin.time_ns;
    for (const view::PeakLayer& layer : report->peak_by_name) {
        result.sums.push_back(
            {.name = layer.name, .kind = layer.kind, .devices = {}, .used = layer.requested});
    }
    for (const census::Inexactness& reason : report->figures.inexact) {
        result.notes.push_back(text_of(reason));
    }
    return result;
}

// A file, or the folder of a flight recorder.
bool is_there(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

// Where FILE of FILE@TIME ends: FILE exists. Both may have more '@', such as in the name of a mark.
size_t end_of_path(const std::string& text) {
    if (is_there(text)) {
        return std::string::npos;
    }
    size_t end = text.find('@');
    while (end != std::string::npos && !is_there(text.substr(0, end))) {
        end = text.find('@', end + 1);
    }
    return end;
}

base::Expected<SideContents> recording_contents(const std::string& path,
                                                const std::optional<std::string>& at) {
    const auto host = access::RecordedHost::open(path, at);
    if (!host) {
        return tl::unexpected(host.error());
    }
    auto view = view::Inventory::answer(**host, {});
    if (!view) {
        return tl::unexpected(view.error());
    }
    SideContents result = moment_contents(std::move(*view));
    for (std::string& notice : (*host)->notices()) {
        result.notes.push_back(std::move(notice));
    }
    return result;
}

base::Expected<SideContents> file_contents(const std::string& text) {
    const size_t mark = end_of_path(text);
    const std::string path = text.substr(0, mark);
    if (!is_there(path)) {
        return base::error(Error::Code::failed,
                           "'" + text +
                               "': must be now, mark:NAME, a report of 'ttmem run --report', or "
                               "a recording (FILE or FILE@TIME); there is no such file");
    }
    char first = 0;
    std::ifstream(path) >> first;
    if (first == '{') {
        return mark == std::string::npos
                   ? report_contents(path)
                   : base::error(Error::Code::failed, path + ": only a recording has moments");
    }
    return recording_contents(
        path, mark == std::string::npos ? std::nullopt : std::optional(text.substr(mark + 1)));
}

// A mark of the host, else one that processes set themselves.
base::Expected<SideContents> mark_contents(const std::string& name, access::ReadMode mode) {
    auto view = read_named_mark(name);
    if (view) {
        return moment_contents(std::move(*view));
    }
    if (view.error().code == Error::Code::gone && !name.empty()) {
        if (auto reply = access::ask<view::Inventory>({.mark = name}, mode)) {
            return moment_contents(std::move(reply->view));
        }
    }
    return tl::unexpected(view.error());
}

base::Expected<SideContents> read_side(const std::string& text, access::ReadMode mode) {
    static constexpr std::string_view kMarkPrefix = "mark:";
    if (text == "now") {
        auto reply = access::ask<view::Inventory>({}, mode);
        if (!reply) {
            return tl::unexpected(reply.error());
        }
        return moment_contents(std::move(reply->view));
    }
    if (text.starts_with(kMarkPrefix)) {
        return mark_contents(text.substr(kMarkPrefix.size()), mode);
    }
    return file_contents(text);
}

// Leaves what the options ask for.
void keep_asked(SideContents& contents, const DiffOptions& options, const base::NamePattern& pattern,
                const std::string& what) {
    std::erase_if(contents.sums, [&](const view::HeldSum& sum) {
        return !options.kinds.selects(sum.kind) || !pattern.matches(sum.name);
    });
    contents.side.what = what;
    for (const view::HeldSum& sum : contents.sums) {
        contents.side.used += sum.used;
    }
}

base::Expected<view::DiffView> compare_sides(const DiffOptions& options) {
    const auto pattern = base::NamePattern::parse(options.name);
    if (!pattern) {
        return tl::unexpected(pattern.error());
    }
    auto a = read_side(options.a, options.mode);
    auto b = a ? read_side(options.b, options.mode) : a;
    if (!b) {
        return tl::unexpected(b.error());
    }
    if (a->is_of_peaks != b->is_of_peaks) {
        return base::error(
            Error::Code::failed,
            "a report has the peaks of a run, which can be compared with those of another report "
            "only");
    }
    keep_asked(*a, options, *pattern, options.a);
    keep_asked(*b, options, *pattern, options.b);
    view::DiffView view;
    view.origin = view::read_here();
    view.is_of_peaks = a->is_of_peaks;
    view.changes = view::compare_sums(a->sums, b->sums);
    view.total = view.changes.size();
    view.a = std::move(a->side);
    view.b = std::move(b->side);
    for (const SideContents* side : {&*a, &*b}) {
        for (const std::string& note : side->notes) {
            view.inexact.push_back((side == &*a ? options.a : options.b) + ": " + note);
        }
    }
    return view;
}

int show_diff(const DiffOptions& options) {
    auto view = compare_sides(options);
    if (!view) {
        return fail(view.error());
    }
    const bool is_growing = view->is_growing();
    if (options.limit != 0 && view->changes.size() > options.limit) {
        view->changes.resize(options.limit);
    }
    const int code = options.markdown ? print(view::diff_markdown(*view))
                                      : show(base::Expected<access::Reply<view::DiffView>>({*view, {}}),
                                             options, view::diff_text);
    return code == 0 && options.fail && is_growing ? kSomethingGrew : code;
}

}  // namespace

void add_diff(CLI::App& app, Action& chosen) {
    add_command<DiffOptions>(
        app, chosen, "diff", "What came, went and grew between two moments or runs",
        [](CLI::App& command, DiffOptions& options) {
            add_json_and_bytes(command, options);
            command.add_flag("--no-header", options.no_header,
                             "Leave out headings and the titles of columns");
            add_colour(command);
            add_direct(command, options);
            add_columns(command, options);
            add_kinds(command, options.kinds);
            add_name(command, options.name);
            command.add_flag("--markdown", options.markdown, "Print a Markdown table");
            command.add_flag("--fail", options.fail, "Exit with 3 if something came or grew");
            add_limit(command, options.limit);
            command.add_option("a", options.a, "The earlier: now, mark:NAME, a report or a recording")
                ->type_name("A")
                ->required();
            command.add_option("b", options.b, "The later")->type_name("B")->required();
        },
        show_diff)
        ->footer(
            "A and B are 'now', 'mark:NAME' (the last 'ttmem mark NAME', or where there is none\n"
            "the last ttmem_mark(NAME) of each process), a recording FILE (its end; also the\n"
            "folder of 'ttmemd --record') or FILE@TIME (+12.5s, 13:05:20, peak:dram, failure:1\n"
            "or mark:NAME), or both are reports of 'ttmem run --report': then the peaks are\n"
            "compared, by name.\n\n"
            "Examples:\n"
            "  ttmem mark step1 && sleep 60 && ttmem diff mark:step1 now\n"
            "  ttmem run --report a.json -- python3 model.py\n"
            "  ttmem run --report b.json -- python3 model.py\n"
            "  ttmem diff a.json b.json");
}

}  // namespace ttmem::cli
