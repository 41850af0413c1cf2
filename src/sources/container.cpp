// SPDX-License-Identifier: Apache-2.0
#include "sources/container.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace ttmem::sources {

namespace {

constexpr size_t kIdLength = 64;

// Removes everything up to the next separator from `rest`, and returns the part before it.
std::string_view next_part(std::string_view& rest, std::string_view separators) {
    const std::string_view part = rest.substr(0, rest.find_first_of(separators));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
}

bool is_hex(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_container_id(std::string_view text) { return text.size() == kIdLength && is_hex(text); }

// The text that a runtime writes before a container id. Helper processes of a runtime ("crio-conmon-") have similar
// names, but are not containers.
struct Prefix {
    std::string_view text;
    std::string_view runtime;
};
constexpr std::array kPrefixes = {
    Prefix{"docker-", "docker"}, Prefix{"cri-containerd-", "containerd"}, Prefix{"nerdctl-", "containerd"},
    Prefix{"libpod-", "podman"}, Prefix{"libpod-payload-", "podman"},     Prefix{"crio-", "cri-o"},
};

std::string_view without_ending(std::string_view name, std::string_view ending) {
    return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name;
}

bool is_uuid(std::string_view text) {
    bool is_one = text.size() == 36;
    for (size_t i = 0; is_one && i < text.size(); ++i) {
        const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        is_one = is_dash ? text[i] == '-' : is_hex(text.substr(i, 1));
    }
    return is_one;
}

// The uid in "pod<uid>": a UUID, or the 32 digits of a static pod. systemd interprets a dash as a level of the tree, so
// its names of pods have underscores instead.
std::optional<std::string> pod_uid(std::string_view name) {
    name = without_ending(name, ".slice");
    const size_t inner = name.rfind("-pod");
    name = inner == std::string_view::npos ? name : name.substr(inner + 1);
    if (!name.starts_with("pod")) {
        return std::nullopt;
    }
    std::string uid(name.substr(3));
    std::replace(uid.begin(), uid.end(), '_', '-');
    const bool is_uid = is_uuid(uid) || (uid.size() == 32 && is_hex(uid));
    return is_uid ? std::optional(std::move(uid)) : std::nullopt;
}

// Walks down the path of a control group, and remembers the innermost container.
class Walk {
public:
    void step(std::string_view name) {
        is_kubernetes_ = is_kubernetes_ || name.find("kubepods") != std::string_view::npos;
        if (auto uid = is_kubernetes_ ? pod_uid(name) : std::nullopt) {
            pod_ = std::move(uid);
        }
        if (is_container_id(name)) {
            found(runtime_above(), name);
        }
        name = without_ending(name, ".scope");
        for (const Prefix& prefix : kPrefixes) {
            if (name.starts_with(prefix.text) && is_container_id(name.substr(prefix.text.size()))) {
                found(prefix.runtime, name.substr(prefix.text.size()));
            }
        }
        parent_ = name;
    }

    std::optional<census::Container> finish() { return std::move(container_); }

private:
    // The runtime of a container whose name is the bare id.
    std::string_view runtime_above() const {
        if (parent_ == "docker") {
            return "docker";
        }
        return is_kubernetes_ || parent_ == "cri-containerd" ? "containerd" : "";
    }

    void found(std::string_view runtime, std::string_view id) {
        container_ = census::Container{std::string(runtime), std::string(id), pod_};
    }

    std::string_view parent_;
    bool is_kubernetes_ = false;
    std::optional<std::string> pod_;
    std::optional<census::Container> container_;
};

}  // namespace

std::optional<census::Container> container_of(std::string_view cgroup) {
    // Each line is one hierarchy: "number:controllers:path". With cgroup v1, some hierarchies may not show the
    // container.
    while (!cgroup.empty()) {
        std::string_view line = next_part(cgroup, "\n");
        next_part(line, ":");
        next_part(line, ":");
        Walk walk;
        while (!line.empty()) {
            // Without the systemd driver, containerd uses systemd's names unchanged: "<slice>:cri-containerd:<id>".
            walk.step(next_part(line, "/:"));
        }
        if (auto container = walk.finish()) {
            return container;
        }
    }
    return std::nullopt;
}

}  // namespace ttmem::sources
