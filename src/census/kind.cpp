// SPDX-License-Identifier: Apache-2.0
#include "census/kind.hpp"

#include <algorithm>

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

std::optional<KindSet> KindSet::parse(std::string_view text) {
    KindSet set;
    while (!text.empty()) {
        const size_t end = std::min(text.find(','), text.size());
        const auto kind = base::by_name<Kind>(text.substr(0, end));
        if (!kind) {
            return std::nullopt;
        }
        set.add(*kind);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return set;
}

std::string KindSet::text() const {
    std::string text;
    for (size_t i = 0; i < kKinds; ++i) {
        if ((bits_ >> i & 1) != 0) {
            text += (text.empty() ? "" : ",") + std::string(name_of(static_cast<Kind>(i)));
        }
    }
    return text;
}

}  // namespace ttmem::census
