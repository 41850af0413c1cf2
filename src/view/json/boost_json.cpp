// SPDX-License-Identifier: Apache-2.0

// Boost.JSON, compiled once.
#include <boost/json/src.hpp>
