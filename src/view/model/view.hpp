// SPDX-License-Identifier: Apache-2.0
#pragma once

// All views: each stands with its question. As JSON (view/json/json.hpp) they are the contract with scripts; as text
// (view/text/) they are what people read.

#include "view/model/origin.hpp"
#include "view/questions/questions.hpp"
