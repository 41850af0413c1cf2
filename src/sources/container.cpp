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

// Cuts `rest` behind the next of `separators`, and gives what was before.
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

// What a runtime writes before the id of a container. Its helpers ("crio-conmon-") have names of the same kind,
// and are no containers.
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

// The uid in "pod<uid>": a UUID, or the 32 digits that a static pod has. systemd takes a dash for a step down the
// tree, so there the uid is written with underscores.
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

// Goes down the path of a control group, and remembers the last container that it came through.
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
    // Whose container it is, where its name is the bare id.
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
    // One line a hierarchy, "number:controllers:path". Of the old hierarchies not all need know the container.
    while (!cgroup.empty()) {
        std::string_view line = next_part(cgroup, "\n");
        next_part(line, ":");
        next_part(line, ":");
        Walk walk;
        while (!line.empty()) {
            // Without systemd's help containerd takes systemd's names as they are: "<slice>:cri-containerd:<id>".
            walk.step(next_part(line, "/:"));
        }
        if (auto container = walk.finish()) {
            return container;
        }
    }
    return std::nullopt;
}

}  // namespace ttmem::sources
