// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify.hpp"

#include <systemd/sd-daemon.h>

namespace ttmem::daemon {

namespace {

// Three messages per watchdog timeout, so that one may be late.
constexpr uint64_t kPingsPerTimeout = 3;

}  // namespace

ServiceNotifier::ServiceNotifier(boost::asio::io_context& loop) : timer_(loop) {
    uint64_t timeout_us = 0;
    if (sd_watchdog_enabled(0, &timeout_us) > 0) {
        interval_ = std::chrono::microseconds(timeout_us / kPingsPerTimeout);
    }
}

void ServiceNotifier::ready() {
    sd_notify(0, "READY=1");
    ping();
}

// From here on the manager applies its own stop timeout.
void ServiceNotifier::stopping() {
    timer_.cancel();
    interval_ = std::chrono::microseconds(0);
    sd_notify(0, "STOPPING=1");
}

// Runs on the loop and not on its own thread: a daemon whose loop hangs serves nobody and should be restarted.
void ServiceNotifier::ping() {
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
