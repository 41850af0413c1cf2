// SPDX-License-Identifier: Apache-2.0
#pragma once

// A client that sends exactly the given bytes and reads exactly what a test asks for.

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace ttmem::daemon::http {

class RawClient {
public:
    static constexpr int kLimitMs = 60'000;  // so that a failing test ends

    // Not connected yet: for a test that takes all descriptors away before it connects.
    explicit RawClient(int family) : socket_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
    explicit RawClient(const std::filesystem::path& path) : RawClient(AF_UNIX) { connect_unix(path); }
    explicit RawClient(uint16_t port) : RawClient(AF_INET) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        is_connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }

    void connect_unix(const std::filesystem::path& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        is_connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }

    bool is_connected() const { return is_connected_; }
    int descriptor() const { return socket_.get(); }

    bool send(std::string_view text) {
        while (!text.empty()) {
            const ssize_t sent = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
            if (sent <= 0) {
                return false;
            }
            text.remove_prefix(static_cast<size_t>(sent));
        }
        return true;
    }

    void end_sending() { ::shutdown(socket_.get(), SHUT_WR); }
    void close() { socket_ = base::Descriptor(); }

    // Up to and including `mark`, or everything until the end.
    std::string read_to(std::string_view mark) {
        size_t found = 0;
        while ((found = buffer_.find(mark)) == std::string::npos && read_some()) {
        }
        return take(found == std::string::npos ? buffer_.size() : found + mark.size());
    }

    std::string read_bytes(size_t count) {
        while (buffer_.size() < count && read_some()) {
        }
        return take(std::min(count, buffer_.size()));
    }

    std::string read_to_end() {
        while (read_some()) {
        }
        return take(buffer_.size());
    }

    // Whether the end of the connection or a reset was read before the time limit.
    bool is_ended() const { return is_ended_; }

    struct Reply {
        std::string head;
        std::string body;
        unsigned status() const {
            return head.size() > 12 ? static_cast<unsigned>(std::atoi(head.c_str() + 9)) : 0;
        }
        bool has(std::string_view field) const { return head.find(field) != std::string::npos; }
    };

    // Reads one response; its header says how long it is.
    Reply read_reply(bool is_head = false) {
        Reply reply{read_to("\r\n\r\n"), ""};
        if (is_head) {
            return reply;
        }
        const size_t at = reply.head.find("Content-Length: ");
        if (at != std::string::npos) {
            reply.body = read_bytes(std::stoul(reply.head.substr(at + 16)));
        } else if (reply.has("Transfer-Encoding: chunked")) {
            while (const size_t size = std::strtoul(read_to("\r\n").c_str(), nullptr, 16)) {
                reply.body += read_bytes(size);
                read_bytes(2);
            }
            reply.head += read_bytes(2) == "\r\n" ? "" : "(cut)";
        } else {
            reply.body = read_to_end();
        }
        return reply;
    }

private:
    bool read_some() {
        std::array<char, 16 * 1024> bytes{};
        pollfd ready{socket_.get(), POLLIN, 0};
        if (is_ended_ || ::poll(&ready, 1, kLimitMs) <= 0) {
            return false;
        }
        const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
        is_ended_ = count <= 0;
        buffer_.append(bytes.data(), count > 0 ? static_cast<size_t>(count) : 0);
        return count > 0;
    }

    std::string take(size_t count) {
        std::string text = buffer_.substr(0, count);
        buffer_.erase(0, count);
        return text;
    }

    base::Descriptor socket_;
    std::string buffer_;
    bool is_connected_ = false;
    bool is_ended_ = false;
};

}  // namespace ttmem::daemon::http
