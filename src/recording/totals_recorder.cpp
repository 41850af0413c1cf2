// SPDX-License-Identifier: Apache-2.0
#include "recording/totals_recorder.hpp"

#include "segment/clock.hpp"

namespace ttmem::recording {

base::Expected<void> TotalsRecorder::write_last(BlockWriter& to) const {
    ByteWriter payload;
    write_tables(last_, payload);
    const uint64_t now_ns = segment::monotonic_now();
    return to.append({.type = BlockType::totals,
                      .process = number_,
                      .first_ns = now_ns,
                      .last_ns = now_ns,
                      .payload = payload.bytes()});
}

base::Expected<void> TotalsRecorder::write(BlockWriter& to) {
    last_ = totals_of(*ledger_);
    return write_last(to);
}

base::Expected<void> TotalsRecorder::write_changes(BlockWriter& to) {
    std::vector<TableEntry> now = totals_of(*ledger_);
    if (now == last_) {
        return {};
    }
    last_ = std::move(now);
    return write_last(to);
}

}  // namespace ttmem::recording
