// SPDX-License-Identifier: Apache-2.0
#pragma once

// The failure card: what the bank of a failed request held at that moment, written in the failing call, before the
// runtime unwinds anything. Takes memory by mmap for the length of the call, and no lock that an allocation needs.

#include "client/state.hpp"

namespace ttmem::client {

// What a reporter knows about a request beyond its failure. 0: unknown.
struct RequestRules {
    uint64_t page_bytes = 0;
    uint32_t banks = 0;
    uint32_t direction = segment::kUnknownDirection;
};

// Writes a card and enters its number in the failure, or the reason why there is none. At most one card per second.
void write_card(const ApiCall& call, segment::Failure& failure, const RequestRules& rules);

}  // namespace ttmem::client
