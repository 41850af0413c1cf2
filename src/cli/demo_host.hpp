// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the demo runs: a private daemon in a temporary folder, and a simulated runtime. Both end with the demo.

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/descriptor.hpp"

namespace ttmem::cli {

// A child process that ends with this one.
class Child {
public:
    // Runs `body` in the child. Its result is the exit code.
    static std::optional<Child> start(const std::function<int()>& body);

    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;
    ~Child();

private:
    explicit Child(pid_t pid) : pid_(pid) {}

    pid_t pid_;
};

// The simulated runtime. It pauses at every step until go_on().
class Workload {
public:
    static std::optional<Workload> start();

    // Waits until it pauses, and returns the name of the step; nothing if it has ended.
    std::optional<std::string> step();
    bool go_on();

private:
    Workload(Child child, base::Descriptor commands, base::Descriptor words);

    Child child_;
    base::Descriptor commands_;
    base::Descriptor words_;
    std::string text_;
};

// A daemon that only this process and its later children use: TTMEM_RUNTIME_DIR names its folder.
class PrivateDaemon {
public:
    static std::optional<PrivateDaemon> start();

    PrivateDaemon(PrivateDaemon&&) = default;
    PrivateDaemon& operator=(PrivateDaemon&&) = delete;
    ~PrivateDaemon();

private:
    PrivateDaemon(std::optional<Child> child, std::filesystem::path folder);

    std::optional<Child> child_;
    std::filesystem::path folder_;
};

}  // namespace ttmem::cli
