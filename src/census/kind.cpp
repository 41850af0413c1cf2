// SPDX-License-Identifier: Apache-2.0
#include "census/kind.hpp"

namespace ttmem::census {

std::optional<Kind> kind_of(segment::AllocationKind kind) {
    switch (kind) {
        case segment::AllocationKind::dram:
            return Kind::dram;
        case segment::AllocationKind::l1:
            return Kind::l1;
        case segment::AllocationKind::system_memory:
            return Kind::system_memory;
        case segment::AllocationKind::l1_small:
            return Kind::l1_small;
        case segment::AllocationKind::trace:
            return Kind::trace;
        case segment::AllocationKind::cb:
            return Kind::cb;
        case segment::AllocationKind::kernel_application:
        case segment::AllocationKind::kernel_fabric:
        case segment::AllocationKind::kernel_dispatch:
            return Kind::kernel;
    }
    return std::nullopt;
}

}  // namespace ttmem::census
