// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a demonstration needs: a daemon of its own in a folder of its own, and a simulated runtime at work. Both end with it.

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/descriptor.hpp"

namespace ttmem::cli {

// A child that ends with this process.
class Child {
public:
    // Runs `body` in it; what that returns is its exit code.
    static std::optional<Child> start(const std::function<int()>& body);

    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;
    ~Child();

private:
    explicit Child(pid_t pid) : pid_(pid) {}

    pid_t pid_;
};

// The simulated runtime, which stops at every step until it is told to go on.
class Workload {
public:
    static std::optional<Workload> start();

    // Waits until it stops at a step; nothing where it has ended.
    std::optional<std::string> step();
    bool go_on();

private:
    Workload(Child child, base::Descriptor commands, base::Descriptor words);

    Child child_;
    base::Descriptor commands_;
    base::Descriptor words_;
    std::string text_;
};

// A daemon that nobody else finds: programs started after it, and this one, look in its folder.
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
