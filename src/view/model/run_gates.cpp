// SPDX-License-Identifier: Apache-2.0
#include "view/model/run_gates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>

#include "view/text/format.hpp"

namespace ttmem::view {

namespace {

using census::Kind;

constexpr size_t kMostLayers = 5;  // that a regression names

std::string text_of(uint64_t bytes) { return prose_bytes(bytes, false); }

GateResult result_of(std::string name, const std::vector<std::string>& problems, const std::string& passed) {
    return {std::move(name), problems.empty(),
            problems.empty() ? passed : fmt::format("{}", fmt::join(problems, "; "))};
}

// What may have been left or have failed without being seen. A size that is not known hides neither.
void add_undecided(const RunView& view, std::vector<std::string>& problems) {
    for (const census::Inexactness& one : view.figures.inexact) {
        if (may_hide_bytes(one) && one.reason != census::Reason::reserved_unknown) {
            problems.push_back(one.pid == 0
                                   ? fmt::format("undecided: {}", text_of(one))
                                   : fmt::format("undecided in process {}: {}", one.pid, text_of(one)));
        }
    }
}

GateResult check_leaks(const RunView& view) {
    std::vector<std::string> problems;
    for (const Leftover& left : view.left) {
        if (census::index_of(left.kind) < census::kPoolKinds) {
            problems.push_back(fmt::format("{} {} {} left", left.name.empty() ? "(no name)" : left.name,
                                           text_of(left.used), name_of(left.kind)));
        }
    }
    add_undecided(view, problems);
    return result_of("fail-on-leak", problems, "nothing was left");
}

GateResult check_failures(const RunView& view) {
    std::vector<std::string> problems;
    for (const census::FailureCounts& counts : view.failure_counts) {
        if (counts.out_of_memory != 0) {
            problems.push_back(fmt::format(
                "{} in process {}",
                format_count(counts.out_of_memory, "failed allocation", "failed allocations"), counts.pid));
        }
        if (counts.cb_clash != 0) {
            problems.push_back(fmt::format(
                "{} in process {}",
                format_count(counts.cb_clash, "clash of circular buffers", "clashes of circular buffers"),
                counts.pid));
        }
    }
    add_undecided(view, problems);
    return result_of("fail-on-failure", problems, "no allocation failed");
}

GateResult check_peak(const RunView& view, const PeakLimit& limit) {
    std::vector<std::string> problems;
    for (const ExceededPeak& each : view.exceeded) {
        if (each.kind == limit.kind && each.limit == limit.bytes) {
            problems.push_back(fmt::format("device {} reached {}", each.device, text_of(each.peak)));
        }
    }
    for (const UndecidedPeak& each : view.undecided) {
        if (each.kind == limit.kind && each.limit == limit.bytes) {
            problems.push_back(
                fmt::format("undecided on device {}: at least {}", each.device, text_of(each.peak)));
        }
    }
    return result_of(fmt::format("max-peak {}={}", name_of(limit.kind), limit.bytes), problems,
                     fmt::format("no device exceeded {}", text_of(limit.bytes)));
}

GateResult check_headroom(const RunView& view, uint64_t limit) {
    const auto least = static_cast<int64_t>(std::min<uint64_t>(limit, INT64_MAX));
    std::vector<std::string> problems;
    for (const LeastHeadroom& each : view.least_headroom) {
        if (!each.headroom) {
            problems.push_back(
                fmt::format("undecided on device {}: the size of its L1 is not known", each.device));
        } else if (*each.headroom < least) {
            problems.push_back(fmt::format("device {} had a headroom of at least {}", each.device,
                                           prose_signed_bytes(*each.headroom, false)));
        } else if (each.at_least.value_or(INT64_MIN) < least) {
            problems.push_back(fmt::format(
                "undecided on device {}: at most {}, {}", each.device,
                prose_signed_bytes(*each.headroom, false),
                each.at_least       ? std::string("several processes used the device at the same time")
                : each.missing != 0 ? format_count(each.missing, "event was", "events were") + " not seen"
                                    : std::string("the figures are inexact")));
        }
    }
    if (view.least_headroom.empty()) {
        problems.emplace_back("undecided: no device is known");
    }
    return result_of(fmt::format("min-headroom {}", limit), problems,
                     fmt::format("no device had less than {}", text_of(limit)));
}

// The names that had more at the peak than before, the largest difference first.
std::string grown_layers(const RunView& view, const RunView& baseline, Kind kind) {
    std::map<std::string, int64_t> grown;
    for (const PeakLayer& layer : view.peak_by_name) {
        if (layer.kind == kind) {
            grown[layer.name] += static_cast<int64_t>(layer.requested);
        }
    }
    for (const PeakLayer& layer : baseline.peak_by_name) {
        if (layer.kind == kind) {
            grown[layer.name] -= static_cast<int64_t>(layer.requested);
        }
    }
    std::vector<std::pair<std::string, int64_t>> order(grown.begin(), grown.end());
    std::erase_if(order, [](const auto& one) { return one.second <= 0; });
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    order.resize(std::min(order.size(), kMostLayers));
    std::vector<std::string> texts;
    texts.reserve(order.size());
    for (const auto& [name, bytes] : order) {
        texts.push_back(fmt::format("{} +{} {}", name.empty() ? "(no name)" : name,
                                    text_of(static_cast<uint64_t>(bytes)), name_of(kind)));
    }
    return texts.empty() ? "" : fmt::format(" ({})", fmt::join(texts, ", "));
}

// Where the fullest core had less headroom than before; a report without headrooms is no reason.
void compare_headrooms(const RunView& view, const RunView& baseline, double tolerance,
                       std::vector<std::string>& problems) {
    for (const LeastHeadroom& now : view.least_headroom) {
        const auto& known = baseline.least_headroom;
        const auto then = std::find_if(known.begin(), known.end(), [&](const LeastHeadroom& other) {
            return other.device == now.device && other.headroom;
        });
        if (then == known.end()) {
            continue;
        }
        const auto before = static_cast<double>(*then->headroom);
        const auto least = static_cast<int64_t>(before - std::abs(before) * tolerance);
        if (now.headroom && *now.headroom < least) {
            problems.push_back(fmt::format("headroom of the fullest core of device {}: {} to {}", now.device,
                                           prose_signed_bytes(*then->headroom, false),
                                           prose_signed_bytes(*now.headroom, false)));
        } else if (!then->at_least || now.at_least.value_or(INT64_MIN) < least) {
            problems.push_back(
                fmt::format("headroom of device {} can't be compared: it may have been lower", now.device));
        }
    }
}

GateResult check_baseline(const RunView& view, const RunView& baseline, double tolerance) {
    std::vector<std::string> problems;
    for (const census::DeviceFigures& device : view.figures.devices) {
        const auto& known = baseline.figures.devices;
        const auto before = std::find_if(known.begin(), known.end(),
                                         [&](const auto& other) { return other.id == device.id; });
        if (before == known.end()) {
            problems.push_back(fmt::format("device {} is not in the baseline", device.id));
            continue;
        }
        for (size_t i = 0; i < census::kDeviceKinds; ++i) {
            const auto kind = static_cast<Kind>(i);
            const census::MemoryFigures& now = device.memory[i];
            const census::MemoryFigures& then = before->memory[i];
            const auto allowed = static_cast<uint64_t>(static_cast<double>(then.peak) * (1 + tolerance));
            if (now.peak > allowed) {
                problems.push_back(fmt::format("{} of device {}: {} to {}{}", name_of(kind), device.id,
                                               text_of(then.peak), text_of(now.peak),
                                               grown_layers(view, baseline, kind)));
            } else if (!now.peak_exact || !then.peak_exact) {
                problems.push_back(fmt::format("{} of device {} can't be compared: a peak is a lower bound",
                                               name_of(kind), device.id));
            }
        }
    }
    compare_headrooms(view, baseline, tolerance, problems);
    return result_of("baseline", problems, "no peak is above the baseline");
}

std::string escape_xml(const std::string& text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                // XML has no other control characters.
                result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return result;
}

}  // namespace

bool may_hide_bytes(const census::Inexactness& inexactness) {
    using census::Reason;
    constexpr Reason kHarmless[] = {Reason::names_full, Reason::core_sets_full, Reason::threads_share_ring,
                                    Reason::name_cut,   Reason::scope_too_deep, Reason::numbers_may_differ};
    return std::find(std::begin(kHarmless), std::end(kHarmless), inexactness.reason) == std::end(kHarmless);
}

std::vector<GateResult> check_gates(const RunView& view, const RunGates& gates) {
    std::vector<GateResult> results;
    if (gates.is_any() && !view.is_tracked()) {
        const bool passed = gates.allow_untracked;
        results.push_back(
            {"require-tracked", passed,
             passed ? "nothing was tracked, which is allowed"
                    : "nothing was tracked, so nothing can be checked (--allow-untracked accepts that)"});
        return results;
    }
    if (gates.require_tracked) {
        results.push_back({"require-tracked", true,
                           format_count(view.figures.processes.size(), "process", "processes") + " tracked"});
    }
    if (gates.fail_on_leak) {
        results.push_back(check_leaks(view));
    }
    if (gates.fail_on_failure) {
        results.push_back(check_failures(view));
    }
    for (const PeakLimit& limit : gates.max_peaks) {
        results.push_back(check_peak(view, limit));
    }
    if (gates.min_headroom) {
        results.push_back(check_headroom(view, *gates.min_headroom));
    }
    if (gates.baseline) {
        results.push_back(check_baseline(view, *gates.baseline, gates.tolerance));
    }
    return results;
}

std::string run_junit(const RunView& view) {
    const auto failures = std::count_if(view.gates.begin(), view.gates.end(),
                                        [](const GateResult& gate) { return !gate.passed; });
    std::string text = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ttmem run\" tests=\"{}\" "
        "failures=\"{}\" "
        "errors=\"0\" skipped=\"0\" time=\"{:.3f}\">\n",
        view.gates.size(), failures, static_cast<double>(view.lived_ns) / 1e9);
    for (const GateResult& gate : view.gates) {
        text += fmt::format("  <testcase classname=\"ttmem\" name=\"{}\" time=\"0\"", escape_xml(gate.name));
        text += gate.passed ? std::string("/>\n")
                            : fmt::format(
                                  ">\n    <failure message=\"{0}\" type=\"memory\">{0}</failure>\n"
                                  "  </testcase>\n",
                                  escape_xml(gate.text));
    }
    return text + "</testsuite>\n";
}

std::string run_markdown(const RunView& view) {
    std::string text = "### Device memory\n\n";
    if (!view.is_tracked()) {
        text += "No process was tracked.\n";
    } else {
        text += "| device | DRAM | L1 | L1_SMALL | TRACE | CB | KERNEL |\n|---|---|---|---|---|---|---|\n";
        for (const census::DeviceFigures& device : view.figures.devices) {
            text += fmt::format("| {} |", device.id);
            for (const census::MemoryFigures& memory : device.memory) {
                text += fmt::format(" {}{} |", memory.peak_exact ? "" : "at least ", text_of(memory.peak));
            }
            text += "\n";
        }
    }
    if (!view.gates.empty()) {
        text += "\n| check | result | |\n|---|---|---|\n";
    }
    for (const GateResult& gate : view.gates) {
        text += fmt::format("| {} | {} | {} |\n", escape_cell(gate.name),
                            gate.passed ? "passed" : "**failed**", escape_cell(gate.text));
    }
    return text;
}

}  // namespace ttmem::view
