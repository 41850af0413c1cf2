// SPDX-License-Identifier: Apache-2.0
#include "release.hpp"

namespace tt::tt_metal::detail {

#if HAS_DATAFLOW_BUFFERS
void ProgramImpl::CircularBufferAllocator::mark_address(uint64_t address, uint64_t size, uint64_t /*base*/) {
    end = address + size;
}
#endif

}  // namespace tt::tt_metal::detail
