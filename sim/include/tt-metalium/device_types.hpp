// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tt {

using ChipId = int;

}  // namespace tt
