// SPDX-License-Identifier: Apache-2.0
#include "truth.hpp"

#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace truth {

namespace {

std::mutex mutex;
std::multimap<const void*, std::string>& lines = *new std::multimap<const void*, std::string>;
std::map<int, std::string>& chips = *new std::map<int, std::string>;
std::vector<std::string>& failures = *new std::vector<std::string>;
thread_local std::vector<std::string> names;

template <class Lines>
std::string json_list(const Lines& all) {
    std::string text;
    for (const std::string& line : all) {
        text += (text.empty() ? "\"" : ", \"") + line + "\"";
    }
    return "[" + text + "]";
}

}  // namespace

void add(const void* object, const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.emplace(object, line);
}

void remove(const void* object) {
    const std::lock_guard lock(mutex);
    lines.erase(object);
}

void add_chip(int chip, const std::string& line) {
    const std::lock_guard lock(mutex);
    chips[chip] = line;
}

void add_failure(const std::string& line) {
    const std::lock_guard lock(mutex);
    failures.push_back(line);
}

std::string current_name() {
    std::string joined;
    for (const std::string& name : names) {
        joined += (joined.empty() ? "" : "/") + name;
    }
    return joined;
}

void enter(const std::string& name) { names.push_back(name); }
void leave() { names.pop_back(); }

void pause(const std::string& step, const char* file) {
    {
        const std::lock_guard lock(mutex);
        std::multiset<std::string> sorted;
        for (const auto& [object, line] : lines) {
            sorted.insert(line);
        }
        std::vector<std::string> of_chips;
        for (const auto& [chip, line] : chips) {
            of_chips.push_back(line);
        }
        std::FILE* out = std::fopen(file, "a");
        std::fprintf(out, "{\"step\": \"%s\", \"live\": %s, \"failures\": %s, \"chips\": %s}\n", step.c_str(),
                     json_list(sorted).c_str(), json_list(failures).c_str(), json_list(of_chips).c_str());
        std::fclose(out);
    }
    std::printf("paused: %s\n", step.c_str());
    std::fflush(stdout);
    while (std::getchar() != '\n' && !std::feof(stdin)) {
    }
}

}  // namespace truth
