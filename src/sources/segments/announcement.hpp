// SPDX-License-Identifier: Apache-2.0
#pragma once

// The daemon's end of the announce socket: who is on the other end, and the one message he sends, which is a segment.
// Whatever else comes is refused, and no descriptor that comes with it stays open.

#include <cstdint>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace ttmem::sources::segments {

struct Peer {
    uint32_t pid = 0;         // as this process's namespace counts
    base::Descriptor handle;  // on that very process, also if the number is another's by now
};

// Where the handle comes from. The socket itself gives it since Linux 6.5; before that the number has to do, and attach()
// finds out by the start time whether it still means the same process.
enum class HandleFrom : uint8_t { socket_or_number, number };

base::Expected<Peer> peer_of(const base::Descriptor& connection,
                             HandleFrom from = HandleFrom::socket_or_number);

// The descriptor that came; Error::Code::unfinished while nothing has.
base::Expected<base::Descriptor> receive_segment(const base::Descriptor& connection);

}  // namespace ttmem::sources::segments
