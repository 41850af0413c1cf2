// SPDX-License-Identifier: Apache-2.0
#include "census/ring_history.hpp"

#include "census/arithmetic.hpp"

namespace ttmem::census {

RingHistory::RingHistory(const segment::Reader& ledger, uint64_t most) : ledger_(ledger), left_(most) {
    const std::vector<segment::WriterState> writers = ledger.writers();
    uint64_t kept = 0;
    for (const segment::WriterState& writer : writers) {
        kept += std::min<uint64_t>(writer.written, ledger.ring_capacity());
    }
    const uint64_t of_each = kept <= most / 2 ? UINT64_MAX : most / 2 / std::max<uint64_t>(writers.size(), 1);
    for (const segment::WriterState& writer : writers) {
        const uint64_t skipped = writer.written - std::min(writer.written, of_each);
        cursor_.rings.push_back({skipped, 0, 0});
        lines_.push_back({skipped});
    }
}

void RingHistory::expect(const std::vector<segment::WriterState>& writers) {
    for (const segment::WriterState& writer : writers) {
        const uint64_t next = writer.line < cursor_.rings.size() ? cursor_.rings[writer.line].next : 0;
        coverage(writer.line).unread = writer.written - std::min(writer.written, next);
    }
}

uint64_t RingHistory::missing() const {
    uint64_t sum = cursor_.lost();
    for (const RingCoverage& line : lines_) {
        sum = saturating_add(sum, saturating_add(line.skipped, line.unread));
    }
    return sum;
}

std::optional<uint64_t> RingHistory::reach() const {
    std::optional<uint64_t> reach;
    for (size_t i = 0; i < lines_.size(); ++i) {
        const RingCoverage& line = lines_[i];
        const uint64_t lost = i < cursor_.rings.size() ? cursor_.rings[i].lost : 0;
        if (line.skipped != 0 || lost != 0 || line.unread != 0) {
            const bool is_known = line.oldest && line.lost == lost && line.unread == 0;
            reach = std::max(reach.value_or(0), is_known ? *line.oldest : UINT64_MAX);
        }
    }
    return reach;
}

RingHistory::RingCoverage& RingHistory::coverage(uint32_t line) {
    lines_.resize(std::max<size_t>(lines_.size(), line + 1));
    return lines_[line];
}

void RingHistory::note(uint32_t line, uint64_t ticks) {
    RingCoverage& of = coverage(line);
    const uint64_t lost = cursor_.rings[line].lost;
    if (!of.oldest || of.lost != lost) {  // records before this one are missing
        of.lost = lost;
        of.oldest = ticks;
    }
}

}  // namespace ttmem::census
