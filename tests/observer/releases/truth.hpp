// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the stand-in holds, by its own account: one line per live thing, in the form that releases_test.cpp makes from a
// segment.

#include <string>

namespace truth {

void add(const void* object, const std::string& line);
void remove(const void* object);
// A chip that was opened.
void add_chip(int chip, const std::string& line);
void add_failure(const std::string& line);

// The names of the ops around, where this release reports them to a processor that does not capture; else nothing.
std::string current_name();
void enter(const std::string& name);
void leave();

// Reports a step with all of that, and waits until it may go on.
void pause(const std::string& step, const char* file);

}  // namespace truth
