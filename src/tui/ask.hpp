// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "access/access.hpp"
#include "tui/question.hpp"

namespace ttmem::tui {

// Where a reader of events is. Where more happen than people can read, it goes on with the last of them and counts the others.
class EventReader {
public:
    base::Expected<view::EventsView> read();

private:
    std::optional<uint64_t> next_;
};

// Asks, and waits for the answer.
Answer ask(const Question& question, access::Way way, EventReader& events);

}  // namespace ttmem::tui
