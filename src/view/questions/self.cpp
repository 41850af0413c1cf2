// SPDX-License-Identifier: Apache-2.0
#include "view/questions/self.hpp"

#include "view/json/json_document.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& /*io*/, Like<SelfQuery> auto& /*query*/) {}

void fields(auto& io, Like<BudgetView> auto& budget) {
    io("name", budget.name, "what is limited");
    io("used", budget.used, "what all users have taken now");
    io("largest_share", budget.largest_share, "most that one user has taken");
    io("per_user", budget.per_user, "limit of one user");
    io("total", budget.total, "limit of all users together");
    io("refused", budget.refused, "requests beyond a limit since the start");
}

void fields(auto& io, Like<FlightRecorderView> auto& recorder) {
    io("folder", recorder.folder, "where it records");
    io("is_recording", recorder.is_recording, "whether it records now");
    io("stop_reason", recorder.problem, "why it does not; empty: there is no problem");
    io("stop_count", recorder.failures, "how often it stopped, such as at a full disk");
    io("files", recorder.files, "files in its folder");
    io("bytes", recorder.bytes, "size of these files");
    io("events", recorder.events, "events that it recorded since the start");
    io("events_lost", recorder.events_lost, "events that were overwritten before it read them");
}

void fields(auto& io, Like<HistoryFile> auto& file) {
    io("state", file.state,
       "`kept`: what happens is written; `opening`: the file is being checked; `stopped`: it can't be "
       "written; `off`: by "
       "the configuration");
    io.unless_empty("path", file.path, "the file");
    io.unless_empty("why_stopped", file.problem, "why it can't be written");
    io("bytes", file.bytes, "of the file and its log");
    io("most_bytes", file.most_bytes, "the limit");
    io("oldest_ns", file.oldest_ns,
       "when the oldest daemon started that the file knows, since the epoch; 0: not known");
    io("lost", file.lost, "samples that could not be written since the start");
    io.unless_empty("set_aside", file.set_aside, "where a damaged file was put since the start");
}

void fields(auto& io, Like<SelfView> auto& view) {
    head(io, view.origin);
    io("version", view.version, "version of ttmemd");
    io("pid", view.pid, "its process id");
    io("uptime_ns", view.uptime_ns, "how long it has been running");
    io("cpu_ns", view.cpu_ns, "processor time it has used");
    io("memory_bytes", view.memory_bytes, "its resident memory, without the segments of others");
    io("segment_bytes", view.segment_bytes, "resident memory of the segments it maps");
    io("process_count", view.processes, "processes it tracks");
    io("post_mortem_count", view.post_mortems, "post-mortems it keeps");
    io("connections", view.connections, "open connections");
    io("events_followed", view.events_followed, "events it has read");
    io("events_lost", view.events_lost, "events that were overwritten before it read them");
    io("events_per_second", view.events_per_second, "rate of both, over the last second");
    io("lag_ns", view.lag_ns, "age of the oldest event when it was last read");
    io("audits", view.audits, "comparisons of counters with ledgers");
    io("defects", view.defects, "comparisons that found a difference");
    io("log_lines_lost", view.log_lines_lost, "lines of the event log that were dropped");
    io("processes_missed", view.processes_missed, "processes that ended before it could attach to them");
    io("failed_tasks", view.failed_tasks,
       "answers and other tasks that failed, such as because memory ran out");
    io("flight_recorder", view.flight_recorder, "the recorder of `ttmemd --record`; null: there is none");
    io("history", view.history, "the file in which it keeps history");
    io("budgets", view.budgets, "limits per user");
}

template struct UrlForm<SelfQuery>;
template struct JsonForm<SelfView>;

base::Expected<SelfView> Self::answer(const Host& host, const SelfQuery& /*query*/) { return host.self(); }

}  // namespace ttmem::view
