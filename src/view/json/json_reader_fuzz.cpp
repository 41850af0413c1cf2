// SPDX-License-Identifier: Apache-2.0

// Documents of unknown origin: each is read as every type of view without a crash, and what was read can be written and read
// again. Numbers with a fraction may differ in their last bit then, so views with telemetry are not compared.

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include "view/json/json.hpp"
#include "view/model/change.hpp"
#include "view/questions/questions.hpp"

namespace {

template <class View>
void try_to_read(std::string_view text) {
    const auto view = ttmem::view::from_json<View>(text);
    if (!view) {
        return;
    }
    const auto again = ttmem::view::from_json<View>(ttmem::view::to_json(*view));
    constexpr bool has_telemetry =
        std::is_same_v<View, ttmem::view::View> || std::is_same_v<View, ttmem::view::ViewChange>;
    if (!again || (!has_telemetry && *again != *view)) {
        abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    ttmem::view::Questions::for_each([&]<class Question>() { try_to_read<typename Question::View>(text); });
    try_to_read<ttmem::view::ViewChange>(text);
    try_to_read<ttmem::view::EventView>(text);
    return 0;
}
