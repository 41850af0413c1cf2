// SPDX-License-Identifier: Apache-2.0
#include "recording/moment.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "recording/failures.hpp"
#include "recording/marks.hpp"
#include "recording/peaks.hpp"

namespace ttmem::recording {

using base::Error;

namespace {

constexpr char kForms[] =
    "must be +12.5s, 13:05:20, '2026-05-01 13:05:20', peak:KIND, failure:N or mark:NAME";

tl::unexpected<Error> refuse(const std::string& text, const std::string& why) {
    return base::error(Error::Code::refused, "'" + text + "': " + why);
}

std::optional<double> parse_number(std::string_view text) {
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_good = problem == std::errc() && end == text.data() + text.size() && std::isfinite(number);
    return is_good ? std::optional(number) : std::nullopt;
}

// "12.5s", "300ms", "5m", "2h"; seconds where there is no unit.
std::optional<double> parse_seconds(std::string_view text) {
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}, {"", 1}};
    for (const auto& [unit, seconds] : kUnits) {
        if (text.ends_with(unit)) {
            const auto number = parse_number(text.substr(0, text.size() - unit.size()));
            if (number) {
                return *number * seconds;
            }
        }
    }
    return std::nullopt;
}

// What may follow the seconds of a time: nothing, or a fraction.
std::optional<double> parse_fraction(std::string_view text) {
    if (text.empty()) {
        return 0;
    }
    return text.front() == '.' && text.size() > 1 ? parse_number("0" + std::string(text)) : std::nullopt;
}

// The time since the epoch. Without a date it is the day on which the recording ended, or the day before.
std::optional<uint64_t> parse_clock(const std::string& text, uint64_t end_epoch_ns) {
    const auto end_s = static_cast<time_t>(end_epoch_ns / base::kNsPerSecond);
    tm end_date{};
    localtime_r(&end_s, &end_date);
    end_date.tm_sec = 0;
    end_date.tm_isdst = -1;
    for (const char* form : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%H:%M:%S", "%H:%M"}) {
        tm date = end_date;
        const char* rest = strptime(text.c_str(), form, &date);
        const auto fraction = rest == nullptr ? std::nullopt : parse_fraction(rest);
        const bool has_seconds = std::string_view(form).ends_with("%S");
        if (!fraction || (!has_seconds && *rest != '\0')) {
            continue;
        }
        const auto epoch_ns = [&] {
            return static_cast<uint64_t>(mktime(&date)) * base::kNsPerSecond +
                   static_cast<uint64_t>(*fraction * static_cast<double>(base::kNsPerSecond));
        };
        const bool has_date = form[1] == 'Y';
        if (!has_date && epoch_ns() > end_epoch_ns) {
            --date.tm_mday;
        }
        return epoch_ns();
    }
    return std::nullopt;
}

base::Expected<uint64_t> find_peak(const std::shared_ptr<const Recording>& recording,
                                   const std::string& text) {
    const auto kind = base::by_name<census::Kind>(std::string_view(text).substr(text.find(':') + 1));
    if (!kind) {
        return refuse(text, "KIND is dram, l1, l1_small, trace, cb, kernel or system_memory");
    }
    const auto goes_on = [] { return true; };
    const auto peaks = find_peaks(recording, *kind, goes_on);
    if (!peaks) {
        return tl::unexpected(peaks.error());
    }
    const RecordedPeak& peak = (*peaks)[index_of(*kind)];
    if (peak.used != 0) {
        return peak.time_ns;
    }
    const auto all = find_peaks(recording, {}, goes_on);
    if (!all) {
        return tl::unexpected(all.error());
    }
    std::string used;
    for (size_t i = 0; i < census::kKinds; ++i) {
        if ((*all)[i].used != 0) {
            used += (used.empty() ? "" : ", ") + std::string(name_of(static_cast<census::Kind>(i)));
        }
    }
    return refuse(text, used.empty() ? "no memory is in use in the recording"
                                     : "the recording has no memory of this kind; it has " + used);
}

base::Expected<uint64_t> find_failure(const Recording& recording, const std::string& text) {
    const auto number = parse_number(text.substr(text.find(':') + 1));
    if (!number || *number < 1 || *number != std::floor(*number)) {
        return refuse(text, "N is 1 for the first failure");
    }
    constexpr size_t kMostListed = 5;
    const std::vector<RecordedFailure> failures = find_failures(recording);
    if (*number <= static_cast<double>(failures.size())) {
        return failures[static_cast<size_t>(*number) - 1].time_ns;
    }
    std::string list;
    for (size_t i = 0; i < std::min(failures.size(), kMostListed); ++i) {
        list += (i == 0 ? ", at " : ", ") + after_beginning(recording, failures[i].time_ns);
    }
    return refuse(text, "the recording has " + std::to_string(failures.size()) +
                            (failures.size() == 1 ? " failure" : " failures") + list +
                            (failures.size() > kMostListed ? ", ..." : ""));
}

// The names of marks, each once, in the order of time; at most a few.
std::string list_names(const std::vector<RecordedMark>& marks) {
    constexpr size_t kMostNames = 10;
    std::vector<std::string> names;
    for (const RecordedMark& mark : marks) {
        if (std::find(names.begin(), names.end(), mark.name) == names.end()) {
            names.push_back(mark.name);
        }
    }
    std::string list;
    for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
        list += (i == 0 ? "" : ", ") + names[i];
    }
    return list +
           (names.size() > kMostNames ? " and " + std::to_string(names.size() - kMostNames) + " more" : "");
}

base::Expected<uint64_t> find_mark(const Recording& recording, const std::string& text) {
    const std::string name = text.substr(text.find(':') + 1);
    const std::vector<RecordedMark> marks = find_marks(recording);
    for (const RecordedMark& mark : marks) {
        if (mark.name == name) {
            return std::clamp(mark.time_ns, recording.first_ns(), recording.last_ns());
        }
    }
    return refuse(text, marks.empty()
                            ? "the recording has no marks"
                            : "the recording has no mark with this name; it has " + list_names(marks));
}

}  // namespace

base::Expected<OpenedMoment> open_moment(const std::string& path, const std::optional<std::string>& text) {
    auto newest = Recording::open(path);
    if (!newest) {
        return tl::unexpected(std::move(newest.error()));
    }
    if (!text) {
        return OpenedMoment{std::move(*newest), std::nullopt};
    }
    const auto moment = find_moment(*newest, *text);
    if (moment) {
        return OpenedMoment{std::move(*newest), *moment};
    }
    Error outside = moment.error();
    const bool is_clock_time = parse_clock(*text, (*newest)->epoch_ns((*newest)->last_ns())).has_value();
    constexpr size_t kMostListed = 5;
    for (size_t earlier = 1; is_clock_time; ++earlier) {
        auto recording = Recording::open(path, earlier);
        if (!recording && recording.error().code == Error::Code::gone) {
            break;
        }
        if (!recording) {
            continue;  // damaged
        }
        if (const auto found = find_moment(*recording, *text)) {
            return OpenedMoment{std::move(*recording), *found};
        }
        if (earlier <= kMostListed) {
            outside.text += (earlier == 1 ? "; before it the folder has " : ", ") +
                            clock_text((*recording)->epoch_ns((*recording)->first_ns())) + " to " +
                            clock_text((*recording)->epoch_ns((*recording)->last_ns()));
        }
    }
    return tl::unexpected(std::move(outside));
}

std::string after_beginning(const Recording& recording, uint64_t time_ns) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "+%.3fs",
                  static_cast<double>(time_ns - recording.first_ns()) / 1e9);
    return text.data();
}

std::string clock_text(uint64_t epoch_ns) {
    const auto seconds = static_cast<time_t>(epoch_ns / base::kNsPerSecond);
    tm date{};
    localtime_r(&seconds, &date);
    std::array<char, 32> text{};
    strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &date);
    return text.data();
}

base::Expected<uint64_t> find_moment(const std::shared_ptr<const Recording>& recording,
                                     const std::string& text) {
    std::optional<uint64_t> time_ns;
    if (text.starts_with("+")) {
        if (const auto seconds = parse_seconds(std::string_view(text).substr(1)); seconds && *seconds >= 0) {
            const double ns = std::min(*seconds * static_cast<double>(base::kNsPerSecond), 1e18);
            time_ns = recording->first_ns() + static_cast<uint64_t>(ns);
        }
    } else if (text.starts_with("peak:")) {
        return find_peak(recording, text);
    } else if (text.starts_with("failure:")) {
        return find_failure(*recording, text);
    } else if (text.starts_with("mark:")) {
        return find_mark(*recording, text);
    } else if (const auto epoch_ns = parse_clock(text, recording->epoch_ns(recording->last_ns()))) {
        time_ns = recording->from_epoch_ns(*epoch_ns);
    }
    if (!time_ns) {
        return refuse(text, kForms);
    }
    // A clock time has no fractions of a second.
    const bool is_before = static_cast<int64_t>(*time_ns - recording->first_ns()) < 0;
    if (is_before || *time_ns > recording->last_ns()) {
        return refuse(text, "outside the recording, which goes from " +
                                clock_text(recording->epoch_ns(recording->first_ns())) + " to " +
                                clock_text(recording->epoch_ns(recording->last_ns())) + " (" +
                                after_beginning(*recording, recording->last_ns()) + ")");
    }
    return *time_ns;
}

}  // namespace ttmem::recording
