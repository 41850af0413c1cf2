// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify.hpp"

#include <systemd/sd-daemon.h>

namespace ttmem::daemon {

namespace {

// Three signs of life in the time after which the manager gives up: one may be late.
constexpr uint64_t kPingsInTime = 3;

}  // namespace

Notify::Notify(boost::asio::io_context& loop) : timer_(loop) {
    uint64_t patience_us = 0;
    if (sd_watchdog_enabled(0, &patience_us) > 0) {
        interval_ = std::chrono::microseconds(patience_us / kPingsInTime);
    }
}

void Notify::ready() {
    sd_notify(0, "READY=1");
    ping();
}

// The manager waits for the end from now on, with a limit of its own.
void Notify::stopping() {
    timer_.cancel();
    interval_ = std::chrono::microseconds(0);
    sd_notify(0, "STOPPING=1");
}

// From the loop and not from a thread of its own: a daemon whose loop hangs answers nobody, and should be started again.
void Notify::ping() {
    if (interval_.count() == 0) {
        return;
    }
    sd_notify(0, "WATCHDOG=1");
    timer_.expires_after(interval_);
    timer_.async_wait([this](boost::system::error_code error) {
        if (!error) {
            ping();
        }
    });
}

}  // namespace ttmem::daemon
