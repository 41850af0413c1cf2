// SPDX-License-Identifier: Apache-2.0
#include "sim/scenarios/truth_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ttmem::sim {
namespace {

using nlohmann::ordered_json;

ordered_json value_or_null(const std::optional<uint64_t>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json to_json(const std::vector<allocator::BankBlock>& blocks) {
    ordered_json table = ordered_json::array();
    for (const allocator::BankBlock& block : blocks) {
        table.push_back({{"address", block.address}, {"size", block.size}, {"allocated", block.allocated}});
    }
    return table;
}

ordered_json to_json(const DeviceTruth& device) {
    ordered_json memory;
    for (const char* kind : {"dram", "l1", "l1_small", "trace", "cb", "kernel"}) {
        const MemoryTruth& truth = device.memory.at(kind);
        memory[kind] = {{"used", truth.used},
                        {"requested", truth.requested},
                        {"capacity", value_or_null(truth.capacity)},
                        {"largest_free", value_or_null(truth.largest_free)}};
        for (const std::vector<allocator::BankBlock>& blocks : truth.blocks) {
            memory[kind]["blocks"].push_back(to_json(blocks));
        }
    }
    return {
        {"id", device.id}, {"asic_id", fmt::format("0x{:x}", device.asic_id)}, {"memory", std::move(memory)}};
}

}  // namespace

TruthFile::TruthFile(const std::string& path)
    : path_(path),
      descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) {
        throw std::runtime_error(fmt::format("can't write the truth to {}: {}", path, std::strerror(errno)));
    }
}

TruthFile::~TruthFile() { close(descriptor_); }

void TruthFile::write(std::string_view step, const std::vector<DeviceTruth>& devices) {
    ordered_json line{{"step", step}, {"devices", ordered_json::array()}};
    for (const DeviceTruth& device : devices) {
        line["devices"].push_back(to_json(device));
    }
    const std::string text = line.dump() + "\n";
    const off_t before = lseek(descriptor_, 0, SEEK_END);
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size())) {
        const int reason = written < 0 ? errno : ENOSPC;
        const bool half = written > 0 && ftruncate(descriptor_, before) != 0;
        throw std::runtime_error(fmt::format("can't write the truth to {}: {}{}", path_,
                                             std::strerror(reason),
                                             half ? ", and half a line stands at its end" : ""));
    }
}

}  // namespace ttmem::sim
