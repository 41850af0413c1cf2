// SPDX-License-Identifier: Apache-2.0
#pragma once

// One process whose events are followed, from its attachment until the last of its records has left the log.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "census/device_ids.hpp"
#include "census/process.hpp"
#include "history/audit.hpp"
#include "history/follower.hpp"
#include "history/pace.hpp"

namespace ttmem::history {

class FollowedProcess {
public:
    FollowedProcess(uint32_t number, const census::Process& process, Follower::StartPosition from);

    const census::Identity& identity() const { return identity_; }
    census::ProcessSource source() const { return source_; }
    uint64_t last_sequence() const { return last_sequence_; }
    uint64_t events_followed() const { return follower_.followed(); }
    uint64_t events_lost() const { return follower_.lost(); }
    bool has_defect() const { return has_defect_; }

    // Null after stop().
    const segment::Reader* ledger() const { return ledger_.get(); }
    bool is_followed() const { return ledger_ != nullptr; }

    // The records stay in the log.
    void stop() { ledger_ = nullptr; }

    // Reads new events into the log, about `max_events` at most. Returns how many.
    uint64_t follow(Log& log, census::DeviceIds& device_ids, uint64_t max_events);

    // When it is to be followed next, on the monotonic clock.
    uint64_t next_scan_ns() const { return next_scan_ns_; }
    void plan_next_scan(uint64_t now_ns, uint64_t events) {
        next_scan_ns_ = pace_.next_scan_ns(now_ns, events);
    }

    // Adds a record that no ring contains.
    void add_record(Log& log, RecordType type, uint64_t now_ns);

    // Compares counters and ledger. Returns a difference that has just been confirmed.
    std::optional<Difference> audit();

    // The devices of a record, by id.
    std::vector<census::NumberedDevice> devices_of(const Record& record) const;

    // The label of a set, or the name of an allocation or a failure. Absent if the ledger has gone.
    std::optional<std::string> name_of(const Record& record) const;

private:
    uint32_t number_;
    census::Identity identity_;
    census::ProcessSource source_;
    std::shared_ptr<const segment::Reader> ledger_;
    std::weak_ptr<const segment::Reader> name_source_;  // a post-mortem may keep the ledger after stop()
    Follower follower_;
    Audit audit_;
    std::vector<std::optional<census::NumberedDevice>>
        devices_;  // by entry of the device table of the process
    bool has_defect_ = false;
    Pace pace_;
    uint64_t next_scan_ns_ = 0;
    uint64_t last_sequence_ = 0;
};

}  // namespace ttmem::history
