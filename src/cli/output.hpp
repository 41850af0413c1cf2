// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "view/table.hpp"

namespace ttmem::cli {

// Writes all of it to standard output, and returns the exit code: 0, or 1 where it could not be written, which has then been
// said. A reader that has seen enough (ttmem ... | head) is no error.
int print(const std::string& text);

// Waits so long, and says whether somebody still reads: false once the reader of a pipe, or the terminal, has gone.
bool wait_for_reader(std::chrono::milliseconds time);

// One line on standard error, behind the name of the program.
void complain(const std::string& text);

// The terminal's width and whether colour is welcome there; in a pipe 80 columns, nothing cut, no colour.
view::Style style_of(int file, bool bytes);
view::Style style_of_output(bool bytes);

}  // namespace ttmem::cli
