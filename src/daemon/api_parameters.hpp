// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parameters of a question, read and refused the same way everywhere.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/kind.hpp"

namespace ttmem::daemon {

using Parameters = std::map<std::string, std::string>;

// What is wrong, where one is not among those known.
std::optional<std::string> find_unknown(const Parameters& parameters, const std::vector<std::string>& known);

// Nothing where the parameter is absent; an error where it is no number.
base::Expected<std::optional<uint64_t>> read_number(const Parameters& parameters, const std::string& name);
base::Expected<std::optional<uint32_t>> read_pid(const Parameters& parameters);
base::Expected<std::optional<census::Kind>> read_kind(const Parameters& parameters);

// 100 where nothing is said, and never more than one answer should have.
constexpr uint64_t kStandardLimit = 100;
constexpr uint64_t kMostLimit = 100'000;
base::Expected<uint64_t> read_limit(const Parameters& parameters);

bool is_yes(const Parameters& parameters, const std::string& name);
bool is_no(const Parameters& parameters, const std::string& name);

}  // namespace ttmem::daemon
