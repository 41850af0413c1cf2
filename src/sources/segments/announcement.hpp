// SPDX-License-Identifier: Apache-2.0
#pragma once

// The daemon's end of the announce socket. Identifies the process at the other end and receives its only message, which
// carries a segment. Anything else is refused, and descriptors that arrive with it are closed.

#include <cstdint>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace ttmem::sources::segments {

struct Peer {
    uint32_t pid = 0;  // in the pid namespace of this process
    uint32_t uid = 0;  // when it connected
    // Refers to that process even if its pid is reused. Empty: the process has ended and was reaped.
    base::Descriptor handle;
};

// The source of the handle. Since Linux 6.5 the socket provides it. Before that, the handle is opened by pid, and
// attach() checks by the start time that the pid was not reused.
enum class HandleFrom : uint8_t { socket_or_number, number };

base::Expected<Peer> peer_of(const base::Descriptor& connection,
                             HandleFrom from = HandleFrom::socket_or_number);

// Returns the received descriptor, or Error::Code::unfinished if nothing has arrived yet.
base::Expected<base::Descriptor> receive_segment(const base::Descriptor& connection);

}  // namespace ttmem::sources::segments
