// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a host answers to an address of the API, as JSON: for programs that ask many questions by their addresses.

#include <string>

#include "base/error.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

// An error if no question has that path.
base::Expected<std::string> answer_text(const Host& host, const std::string& path,
                                        const Parameters& parameters);

}  // namespace ttmem::view
