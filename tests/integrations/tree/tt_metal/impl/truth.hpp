// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the stand-in holds by its own account: one line per live thing, in the form that integrate_test.py makes from ttmem's
// answers.

#include <string>

namespace truth {

void add(const void* object, const std::string& line);
void remove(const void* object);
void fail(const std::string& line);
std::string name();  // of the ops around
void enter(const std::string& name);
void leave();
void pause(const std::string& step);

}  // namespace truth
