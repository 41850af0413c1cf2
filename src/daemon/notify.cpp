// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/environment.hpp"

namespace ttmem::daemon {

namespace {

// Three messages per watchdog timeout, so that one may be late.
constexpr uint64_t kPingsPerTimeout = 3;
constexpr uint64_t kLongestTimeoutUs = 3'600'000'000;  // more messages than needed do no harm

std::optional<uint64_t> number_in_environment(const char* name) {
    const char* text = base::environment(name);
    if (text == nullptr) {
        return std::nullopt;
    }
    uint64_t number = 0;
    const char* end = text + std::strlen(text);
    const auto [rest, problem] = std::from_chars(text, end, number);
    return problem == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

// The manager waits for the messages of its own child: a process that inherited the variables does not answer for it.
uint64_t watchdog_timeout_us() {
    const char* pid = base::environment("WATCHDOG_PID");
    const bool is_for_us =
        pid == nullptr || number_in_environment("WATCHDOG_PID") == static_cast<uint64_t>(getpid());
    return is_for_us ? std::min(number_in_environment("WATCHDOG_USEC").value_or(0), kLongestTimeoutUs) : 0;
}

// One datagram to the socket of the manager; a name that begins with @ is an abstract one. A message that can't be sent is
// lost: the manager has its own timeouts.
void notify(std::string_view message) {
    const char* name = base::environment("NOTIFY_SOCKET");
    sockaddr_un address{};
    const size_t length = name == nullptr ? 0 : std::strlen(name);
    if (length < 2 || length >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@')) {
        return;
    }
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name, length);
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
    }
    const base::Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    static_cast<void>(!sendto(socket.get(), message.data(), message.size(), MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&address),
                              static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length)));
}

}  // namespace

ServiceNotifier::ServiceNotifier(boost::asio::io_context& loop)
    : timer_(loop), interval_(watchdog_timeout_us() / kPingsPerTimeout) {}

void ServiceNotifier::ready() {
    notify("READY=1");
    ping();
}

// From here on the manager applies its own stop timeout.
void ServiceNotifier::stopping() {
    timer_.cancel();
    interval_ = std::chrono::microseconds(0);
    notify("STOPPING=1");
}

// Runs on the loop and not on its own thread: a daemon whose loop hangs serves nobody and should be restarted.
void ServiceNotifier::ping() {
    if (interval_.count() == 0) {
        return;
    }
    notify("WATCHDOG=1");
    timer_.expires_after(interval_);
    timer_.async_wait([this](boost::system::error_code error) {
        if (!error) {
            ping();
        }
    });
}

}  // namespace ttmem::daemon
