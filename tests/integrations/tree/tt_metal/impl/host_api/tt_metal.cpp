// SPDX-License-Identifier: Apache-2.0
#include "impl/stand_in.hpp"

namespace tt::tt_metal {
namespace detail {

bool ConfigureDeviceWithProgram(IDevice* device, Program& program, bool force_slow_dispatch) {
    program.impl().launch_on(device, {device});
    return force_slow_dispatch;
}

}  // namespace detail
}  // namespace tt::tt_metal
