// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who is attached now. The loop adds and takes away; any thread may take a census of it, which is cheap: a census shares the
// ledgers and copies none.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "census/census.hpp"
#include "sources/host.hpp"
#include "sources/segments/attach.hpp"

namespace ttmem::daemon {

class Roster {
public:
    // Each process costs two descriptors. The bound for one user keeps his many from the others' few.
    struct Limits {
        size_t processes = 4096;
        size_t of_one_user = 1024;
    };

    Roster() : Roster(Limits{}) {}
    explicit Roster(Limits limits) : limits_(limits) {}

    struct Member {
        uint32_t number = 0;  // never given twice
        census::Process process;
        sources::segments::FileId file;
    };

    // Nothing where the file is attached already, or a limit is reached: then the process is listed as skipped.
    std::optional<uint32_t> add(const census::Process& process, sources::segments::FileId file);
    std::optional<Member> remove(uint32_t number);

    // What the host itself showed at the last look.
    void set_host(sources::HostFacts facts);

    // What the last look under /proc could not take for its word.
    void set_skipped(std::vector<census::Skipped> skipped);

    census::Census census() const;
    std::vector<Member> members() const;
    std::set<sources::segments::FileId> known_files() const;
    size_t size() const;
    const std::shared_ptr<census::DeviceIds>& device_ids() const { return device_ids_; }

private:
    const Limits limits_;
    mutable std::mutex mutex_;
    uint32_t last_number_ = 0;
    std::map<uint32_t, Member> members_;
    std::vector<census::Skipped> found_skipped_;
    sources::HostFacts host_;
    std::map<uint32_t, census::Skipped> over_limit_;  // by pid
    std::shared_ptr<census::DeviceIds> device_ids_ = std::make_shared<census::DeviceIds>();
};

}  // namespace ttmem::daemon
