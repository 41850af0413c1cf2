// SPDX-License-Identifier: Apache-2.0
#include "sim/metal/kernel.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <numeric>
#include <string_view>
#include <tt_stl/assert.hpp>
#include <utility>

namespace tt::tt_metal {
namespace {

// Sizes seen on a real host.
constexpr std::array<std::pair<std::string_view, uint64_t>, 3> kKnownTexts = {
    {{"fabric_erisc_router.cpp", 57'344}, {"cq_prefetch.cpp", 47'104}, {"cq_dispatch.cpp", 47'104}}};

// A scenario sets a certain size with this define.
constexpr const char* kTextBytesDefine = "SIM_TEXT_BYTES";

constexpr uint64_t kTextAlignment = 16;

uint64_t hash_of(std::string_view text) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    }
    return hash;
}

uint64_t made_up_text_bytes(const std::string& source, const std::map<std::string, std::string>& defines,
                            size_t processors) {
    if (const auto wanted = defines.find(kTextBytesDefine); wanted != defines.end()) {
        uint64_t bytes = 0;
        const std::string& text = wanted->second;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
        TT_FATAL(error == std::errc{} && end == text.data() + text.size() && bytes % kTextAlignment == 0,
                 "{} is '{}', which is no multiple of {}", kTextBytesDefine, text, kTextAlignment);
        return bytes;
    }
    for (const auto& [file, bytes] : kKnownTexts) {
        if (source.ends_with(file)) {
            return bytes;
        }
    }
    // Between 1 and 4 KiB per processor, like small kernels.
    return processors * (1024 + hash_of(source) % 192 * kTextAlignment);
}

GraphTracker::KernelType type_of(std::string_view source) {
    if (source.starts_with("tt_metal/fabric/")) {
        return GraphTracker::KernelType::FABRIC;
    }
    if (source.starts_with("tt_metal/impl/dispatch/")) {
        return GraphTracker::KernelType::DISPATCH;
    }
    return GraphTracker::KernelType::APPLICATION;
}

}  // namespace

Kernel::Kernel(std::string name, std::string source, CoreRangeSet cores,
               const std::variant<DataMovementConfig, ComputeConfig>& config)
    : name_(std::move(name)), source_(std::move(source)), cores_(std::move(cores)), type_(type_of(source_)) {
    const auto* compute = std::get_if<ComputeConfig>(&config);
    processor_class_ = compute != nullptr ? HalProcessorClassType::COMPUTE : HalProcessorClassType::DM;
    if (compute != nullptr) {
        math_fidelity_ = compute->math_fidelity;
    }
    // A compute kernel becomes three binaries: unpack, math and pack.
    const size_t processors = compute != nullptr ? 3 : 1;
    const uint64_t bytes = std::visit(
        [&](const auto& each) { return made_up_text_bytes(source_, each.defines, processors); }, config);
    const uint64_t share = bytes / processors / kTextAlignment * kTextAlignment;
    for (size_t processor = 0; processor < processors; ++processor) {
        const bool last = processor + 1 == processors;
        binaries_.push_back({static_cast<uint32_t>(processor), last ? bytes - share * processor : share});
    }
}

uint64_t Kernel::text_bytes() const {
    return std::accumulate(binaries_.begin(), binaries_.end(), uint64_t{0},
                           [](uint64_t sum, const auto& binary) { return sum + binary.packed_size; });
}

detail::KernelMeta Kernel::meta(bool compiled) const {
    return {.name = name_,
            .source = source_,
            .processor_class = processor_class_,
            .programmable_core_type = HalProgrammableCoreType::TENSIX,
            .math_fidelity = math_fidelity_,
            .binary_meta = compiled ? binaries_ : std::vector<detail::KernelBinaryMeta>{}};
}

}  // namespace tt::tt_metal
