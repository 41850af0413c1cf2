// SPDX-License-Identifier: Apache-2.0

// What the daemon answers from its history on disk.

#include <algorithm>
#include <map>
#include <set>

#include "base/time.hpp"
#include "daemon/api/daemon_host.hpp"
#include "view/questions/history.hpp"
#include "view/questions/post_mortem.hpp"
#include "view/questions/post_mortems.hpp"
#include "view/questions/process_history.hpp"

namespace ttmem::daemon {

namespace {

constexpr uint64_t kMostPastDeaths = 1000;   // documents that are read for one answer
constexpr uint64_t kMostPastProcesses = 16;  // with one pid
constexpr uint64_t kShortestDowntimeNs = base::kNsPerSecond;

std::set<ProcessStart> keys_of(const std::vector<census::DeadProcess>& dead) {
    std::set<ProcessStart> keys;
    for (const census::DeadProcess& one : dead) {
        keys.emplace(one.process.identity.pid, one.process.identity.start_time);
    }
    return keys;
}

// The post-mortem of a death, with how it ended as far as that became known.
std::optional<census::PostMortem> post_mortem_of(HistoryReader& reader, const HistoryReader::Death& death) {
    auto view = view::from_json<view::PostMortemView>(reader.document(death));
    if (!view) {
        return std::nullopt;
    }
    census::PostMortemSummary& summary = view->post_mortem.summary;
    summary.died_ns = death.died_ns;
    summary.ending = death.ending;
    summary.exit_code = death.ending == census::Ending::exit ? death.code : std::nullopt;
    summary.signal = death.ending == census::Ending::signal ? death.code : std::nullopt;
    return std::move(view->post_mortem);
}

}  // namespace

// A device is recognised by its ASIC id. A series whose number has another device now is left out.
void DaemonHost::add_kept_series(const view::HistoryQuery& query, view::HistoryView& view) const {
    using SeriesKey = history::Samples::SeriesKey;
    std::map<SeriesKey, std::optional<uint64_t>> sampled;  // with the ASIC id
    dependencies_.history.read_samples([&](const history::Samples& samples) {
        samples.for_each_last([&](const SeriesKey& key, const history::Samples::LastValue& last) {
            sampled.emplace(key, last.asic_id);
        });
        return 0;
    });
    const census::DeviceIds& ids = *dependencies_.process_table.device_ids();
    dependencies_.kept.read([&](HistoryReader& reader) {
        std::map<SeriesKey, std::vector<HistoryReader::DeviceSeries>> found;
        for (const HistoryReader::DeviceSeries& series : reader.device_series()) {
            const auto id = series.asic_id ? ids.id_of(census::asic_key(*series.asic_id)) : std::nullopt;
            const SeriesKey key{id.value_or(series.device), series.kind};
            const auto now = sampled.find(key);
            const bool is_other_device =
                now != sampled.end() && now->second && series.asic_id && *now->second != *series.asic_id;
            if (query.device.selects(key.first) && query.kind.selects(key.second) && !is_other_device) {
                found[key].push_back(series);
            }
        }
        const std::vector<HistoryReader::Run> runs = reader.runs(view.origin.time_ns);
        for (const auto& [key, parts] : found) {
            auto shown = std::find_if(view.series.begin(), view.series.end(),
                                      [&, id = key.first, kind = key.second](const view::SeriesView& one) {
                                          return one.device == id && one.kind == kind;
                                      });
            if (shown == view.series.end()) {
                // Nothing of this kind was used since the start.
                shown = view.series.insert(view.series.end(), {key.first, key.second, {}});
                if (query.since <= view.origin.time_ns) {
                    const uint64_t began_ns = runs.empty() ? view.origin.time_ns : runs.back().began_ns;
                    shown->samples.push_back({std::max(began_ns, query.since), 0});
                    shown->samples.push_back({view.origin.time_ns, 0});
                }
            }
            const uint64_t end_ns =
                shown->samples.empty() ? view.origin.time_ns : shown->samples.front().time_ns;
            std::vector<history::Sample> samples;
            for (const HistoryReader::DeviceSeries& part : parts) {
                const std::vector<history::Sample> more =
                    reader.samples_of(part, runs, {query.since, end_ns});
                samples.insert(samples.end(), more.begin(), more.end());
            }
            std::stable_sort(samples.begin(), samples.end(),
                             [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
            shown->samples.insert(shown->samples.begin(), samples.begin(), samples.end());
        }
    });
    std::sort(view.series.begin(), view.series.end(), [](const auto& a, const auto& b) {
        return std::pair(a.device, a.kind) < std::pair(b.device, b.kind);
    });
}

view::KeptPast DaemonHost::past(uint64_t since) const {
    view::KeptPast past;
    past.problem = dependencies_.kept.problem();
    past.lost = dependencies_.kept.status().lost;
    const uint64_t now_ns = base::realtime_ns();
    dependencies_.kept.read([&](HistoryReader& reader) {
        const std::vector<HistoryReader::Run> runs = reader.runs(now_ns);
        for (size_t i = 1; i < runs.size(); ++i) {
            const view::Downtime downtime{runs[i - 1].ended_ns(), runs[i].began_ns};
            if (downtime.to_ns >= since && downtime.to_ns - downtime.from_ns >= kShortestDowntimeNs) {
                past.downtimes.push_back(downtime);
            }
        }
        if (since <= now_ns) {
            HistoryReader::Moments found = reader.moments(runs, {since, UINT64_MAX}, view::kMostPastMoments,
                                                          [this](uint32_t uid) { return may_see(uid); });
            past.moments = std::move(found.moments);
            past.moments_left_out = found.left_out;
            past.hidden_moments = found.hidden;
        }
    });
    return past;
}

view::PastDeaths DaemonHost::past_deaths(const view::PostMortemListQuery& query) const {
    view::PastDeaths past;
    const std::set<ProcessStart> in_memory = keys_of(dependencies_.post_mortems.newest_first());
    const uint64_t limit = std::min(query.limit == 0 ? kMostPastDeaths : query.limit, kMostPastDeaths);
    dependencies_.kept.read([&](HistoryReader& reader) {
        for (const HistoryReader::Death& death :
             reader.deaths(reader.runs(base::realtime_ns()), std::nullopt)) {
            if (death.is_of_this_run && in_memory.contains({death.pid, death.start_time})) {
                continue;
            }
            past.since_start += death.is_of_this_run ? 1u : 0u;
            if (!may_see(death.uid)) {
                ++past.hidden;
                continue;
            }
            const bool is_selected =
                query.device.empty() || std::any_of(death.devices.begin(), death.devices.end(),
                                                    [&](uint32_t id) { return query.device.selects(id); });
            if (!is_selected) {
                continue;
            }
            ++past.total;
            if (past.newest_first.size() < limit) {
                if (auto found = post_mortem_of(reader, death)) {
                    past.newest_first.push_back(std::move(found->summary));
                }
            }
        }
    });
    return past;
}

base::Expected<std::optional<census::PostMortem>> DaemonHost::past_death(uint32_t pid) const {
    std::optional<census::PostMortem> result;
    std::optional<census::Identity> hidden;
    dependencies_.kept.read([&](HistoryReader& reader) {
        for (const HistoryReader::Death& death : reader.deaths(reader.runs(base::realtime_ns()), pid)) {
            if (may_see(death.uid)) {
                result = post_mortem_of(reader, death);
                break;
            }
            if (!hidden) {
                hidden.emplace().pid = death.pid;
                hidden->user = death.user;
            }
        }
    });
    if (!result && hidden) {
        return view::not_for_asker(*hidden);
    }
    return result;
}

base::Expected<view::ProcessHistoryView> DaemonHost::process_history(
    const view::ProcessHistoryQuery& query) const {
    view::ProcessHistoryView view;
    view.origin = origin();
    view.pid = query.pid;
    if (dependencies_.kept.status().state == view::HistoryState::off) {
        view.inexact.push_back({0, census::Reason::history_not_kept, 0, "it is switched off"});
    }
    dependencies_.kept.read([&](HistoryReader& reader) {
        const std::vector<HistoryReader::Run> runs = reader.runs(view.origin.time_ns);
        for (const HistoryReader::PastProcess& process : reader.processes(query.pid, kMostPastProcesses)) {
            for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
                const auto wanted = static_cast<census::Kind>(kind);
                if (!query.kind.selects(wanted)) {
                    continue;
                }
                auto samples = reader.samples_of(process, wanted, runs, {query.since, UINT64_MAX});
                if (!samples.empty()) {
                    view.series.push_back({process.start_time_ns, process.comm, process.uid, process.user,
                                           wanted, std::move(samples)});
                }
            }
        }
    });
    return view;
}

}  // namespace ttmem::daemon
