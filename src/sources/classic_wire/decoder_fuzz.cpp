// SPDX-License-Identifier: Apache-2.0

// A connection of a hostile or broken client. The first byte of an input selects how the rest is split into pieces, and
// after which pieces the queue is drained. The split must not change how much is reported.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "sources/classic_wire/decoder.hpp"

namespace {

using namespace ttmem::sources::classic_wire;

struct Count final : Listener {
    size_t messages = 0;
    size_t bytes = 0;
    Generation last = Generation::bytes_72;

    void message(const WireRequest&, Generation generation) override {
        ++messages;
        bytes += size_of(generation);
        last = generation;
    }
    void revised(Generation from, Generation to) override {
        require(messages != 0 && from == last && size_of(from) < size_of(to), "a revision goes upward");
        bytes += size_of(to) - size_of(from);
        last = to;
    }

    static void require(bool holds, const char* what) {
        if (!holds) {
            std::fprintf(stderr, "not so: %s\n", what);
            std::abort();
        }
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 2) {
        return 0;
    }
    const size_t piece = 1 + data[0] % 150;
    const bool is_drained = (data[0] & 0x80) != 0;
    Decoder decoder;
    Count count;
    Bytes rest(data + 1, size - 1);
    while (!rest.empty()) {
        const Bytes next = rest.first(std::min(piece, rest.size()));
        decoder.feed(next, count);
        if (is_drained) {
            decoder.drained(count);
        }
        rest = rest.subspan(next.size());
    }
    decoder.ended(count);
    Count::require(count.bytes <= size - 1, "no byte is reported twice");
    Count::require(!decoder.is_broken() || count.messages <= 1, "a broken stream reports nothing");
    Count::require(!decoder.wants_drained(), "nothing waits after the end");
    return 0;
}
