// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/export_html.hpp"

#include <memory>
#include <utility>

#include "access/daemon_client.hpp"
#include "access/direct_host.hpp"
#include "access/recorded_host.hpp"
#include "cli/commands/commands.hpp"
#include "exports/html.hpp"
#include "exports/sources.hpp"
#include "view/questions/answer_text.hpp"
#include "view/questions/events.hpp"
#include "view/questions/history.hpp"

namespace ttmem::cli {

namespace {

// A moment of a recording, with everything before it as the time line: the history of a daemon has one sample per second.
class ExportedMoment : public view::Host {
public:
    ExportedMoment(std::shared_ptr<const access::RecordedHost> moment, exports::ExportModel model)
        : moment_(std::move(moment)), model_(std::move(model)) {}

    view::Origin origin() const override { return moment_->origin(); }
    census::Census census() const override { return moment_->census(); }
    base::Expected<view::HistoryView> history(const view::HistoryQuery& query) const override {
        return view::HistoryView{origin(), exports::series_of(model_, query)};
    }
    view::KeptPast past(uint64_t since) const override { return moment_->past(since); }

private:
    std::shared_ptr<const access::RecordedHost> moment_;
    exports::ExportModel model_;
};

exports::PageAnswer answers_of(const view::Host& host) {
    return [&host](const exports::QuestionAddress& address) {
        return view::answer_text(host, address.path, address.parameters);
    };
}

int write(const exports::PageAnswer& answer, const exports::ExportTarget& target) {
    const auto notes = exports::write_html(answer, target);
    if (!notes) {
        return fail(notes.error());
    }
    for (const std::string& note : *notes) {
        print_error(note);
    }
    if (target.path != "-") {
        print_error("exported the page into " + target.path);
    }
    return 0;
}

// Programs often end before their recording does, and nothing is held then. What failed says more, or where it was most.
std::optional<std::string> best_moment(const std::string& path) {
    const auto end = access::RecordedHost::open(path, {});
    if (!end || !(*end)->census().processes.empty()) {
        return {};
    }
    for (const char* moment : {"failure:1", "peak:dram"}) {
        if (access::RecordedHost::open(path, moment)) {
            print_error("no process is left at the end: the page shows " + std::string(moment) +
                        " (choose with --at)");
            return moment;
        }
    }
    return {};
}

}  // namespace

int export_html(const exports::ExportTarget& target) {
    const auto from_daemon = [](const exports::QuestionAddress& address) {
        return access::get(address.text);
    };
    const auto status = access::get("/v1/health");
    if (status) {
        return write(from_daemon, target);
    }
    if (status.error().code != base::Error::Code::gone) {
        return fail(status.error());
    }
    const access::DirectHost host;
    for (const std::string& notice : host.notices()) {
        print_error(notice);
    }
    return write(answers_of(host), target);
}

int export_html(const exports::ExportTarget& target, const std::string& recording,
                const std::optional<std::string>& at, uint64_t most_allocations) {
    const auto moment_text = at ? at : best_moment(recording);
    auto moment = access::RecordedHost::open(recording, moment_text);
    if (!moment) {
        return fail(moment.error());
    }
    auto model = exports::read_recording(recording, moment_text, most_allocations);
    if (!model) {
        return fail(model.error());
    }
    for (const std::string& note : model->notes) {
        print_error(note);
    }
    const ExportedMoment host(std::move(*moment), std::move(*model));
    return write(answers_of(host), target);
}

}  // namespace ttmem::cli
