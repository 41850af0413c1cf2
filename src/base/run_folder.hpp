// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ttmem::base {

// In a folder of 'ttmem run' (TTMEM_RUN_DIR): lines with the facts that a runtime does not give, separated by "; ".
constexpr char kMissingFacts[] = "/missing";

}  // namespace ttmem::base
