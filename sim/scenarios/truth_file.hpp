// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/metal/truth.hpp"

namespace ttmem::sim {

// One JSON line per step with the runtime's own figures. A line is written whole or not at all.
class TruthFile {
public:
    // Throws std::runtime_error if the file cannot be created.
    explicit TruthFile(const std::string& path);
    ~TruthFile();
    TruthFile(const TruthFile&) = delete;
    TruthFile& operator=(const TruthFile&) = delete;

    void write(std::string_view step, const std::vector<DeviceTruth>& devices);

private:
    std::string path_;
    int descriptor_;
};

}  // namespace ttmem::sim
