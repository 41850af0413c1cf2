// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/descriptor.hpp"
#include "view/text/table.hpp"

namespace ttmem::cli {

// Writes to standard output and returns the exit code: 0, or 1 after a failed write, which it reports. A reader that closes the
// pipe early (ttmem ... | head) is not an error.
int print(const std::string& text);
// The same, with colour if standard output is a terminal that wants it. A text that is longer than the terminal goes through a
// pager: $PAGER, else less. PAGER=cat turns that off.
int print(const view::Text& text);

// Waits, and returns whether anyone still reads the output: false after the reader of the pipe, or the terminal, has gone.
bool wait_for_reader(std::chrono::milliseconds time);

// A descriptor that becomes readable after the reader of standard output has gone. Empty if that can't happen.
base::Descriptor watch_reader();

// One line on standard error, after the name of the program.
void print_error(const std::string& text);

// How a command is repeated.
struct Repetition {
    std::chrono::milliseconds interval{0};
    uint64_t count = 0;  // 0: until the reader of the output has gone
    bool json = false;   // one document per line
    bool blank_between = true;
};

// Runs `once` repeatedly. What it prints is one screen, which replaces the one before on a terminal and follows it elsewhere.
// Returns the exit code of the first run if that fails. A later failure is shown, and the next run may succeed.
int repeat(const Repetition& how, const std::function<int()>& once);

// Whether a command of repeat() is running: each of its JSON documents has one line.
bool is_repeating();

// --color.
enum class ColourChoice : uint8_t { automatic, always, never };
void choose_colour(ColourChoice choice);

// The width of the terminal. In a pipe 80 columns, and no cell is cut.
view::Style style_of(int file, bool bytes);
bool wants_colour(int file);
view::Style style_of_output(bool bytes);

}  // namespace ttmem::cli
