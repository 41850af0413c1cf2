// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "view/json/json_fields.hpp"
#include "view/model/kept_card.hpp"

namespace ttmem::view {

void fields(auto& io, Like<KeptCard> auto& card) {
    io.title("Kept card");
    io("pid", card.pid, "the process, which has ended");
    io("start_time_ns", card.start_time_ns, "when it started, since the epoch");
    io("comm", card.comm, "its command name");
    io("uid", card.uid, "its user id");
    io("user", card.user, "its user name");
    io("failure", card.failure, "the failure, with its card");
}

}  // namespace ttmem::view
