// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/server.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "daemon/http/core.hpp"
#include "daemon/http/wire_text.hpp"

namespace ttmem::daemon::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using base::Error;
using boost::system::error_code;
using Local = asio::local::stream_protocol;

namespace {

// The kernel's word on who connected, as of then.
Caller caller_of(Local::socket& socket) {
    Caller caller;
    ucred peer{};
    socklen_t length = sizeof peer;
    if (getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
        return caller;  // nobody in particular, who sees the least
    }
    caller.is_local = true;
    caller.uid = peer.uid;
    caller.groups.resize(64);
    int result = -1;
    do {
        length = static_cast<socklen_t>(caller.groups.size() * sizeof(gid_t));
        result = getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERGROUPS, caller.groups.data(), &length);
        caller.groups.resize(length /
                             sizeof(gid_t));  // where they did not fit, the kernel says how many they are
    } while (result != 0 && errno == ERANGE);
    if (result != 0) {
        caller.groups.clear();
    }
    caller.groups.push_back(peer.gid);
    return caller;
}

Caller caller_of(tcp::socket& socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    return {};
}

void close_on_exec(int descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

// The socket is new and takes these few bytes without waiting; what the caller has sent so far is read, as an answer to
// what was not read can get lost.
void turn_away(int socket) {
    static const std::string answer = [] {
        const Response response = Response::error(503, "too many connections, try again");
        return head_text(response.status, response.content_type) + length_text(response.body.size()) +
               "Retry-After: 1\r\nConnection: close\r\n\r\n" + response.body;
    }();
    std::array<char, 16 * 1024> rubbish{};
    (void)!send(socket, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(socket, SHUT_WR);
    (void)!recv(socket, rubbish.data(), rubbish.size(), MSG_DONTWAIT);
}

// Takes connections until it is closed. Kept alive by what it waits for.
template <class Protocol>
class Listener : public Closable, public std::enable_shared_from_this<Listener<Protocol>> {
public:
    Listener(typename Protocol::acceptor acceptor, bool check_host, std::shared_ptr<Core> core)
        : acceptor_(std::move(acceptor)),
          pause_(core->loop),
          check_host_(check_host),
          core_(std::move(core)) {}

    void accept() {
        acceptor_.async_accept(
            [self = this->shared_from_this()](error_code error, typename Protocol::socket socket) {
                self->on_accept(error, std::move(socket));
            });
    }

    void close() override {
        error_code ignored;
        acceptor_.close(ignored);
        pause_.cancel();
    }

private:
    void on_accept(error_code error, typename Protocol::socket socket) {
        if (!acceptor_.is_open()) {
            return;
        }
        if (error && error != asio::error::connection_aborted) {
            // Mostly want of descriptors. The connection still waits and would be there again at once.
            ++core_->counts.accept_pauses;
            pause_.expires_after(core_->limits.accept_pause);
            pause_.async_wait([self = this->shared_from_this()](error_code) {
                if (self->acceptor_.is_open()) {
                    self->accept();
                }
            });
            return;
        }
        if (!error) {
            close_on_exec(socket.native_handle());
            const Caller caller = caller_of(socket);
            if (core_->has_room_for(caller)) {
                serve(asio::generic::stream_protocol::socket(std::move(socket)), caller, check_host_, core_);
            } else {
                ++core_->counts.turned_away;
                turn_away(socket.native_handle());
            }
        }
        accept();
    }

    typename Protocol::acceptor acceptor_;
    asio::steady_timer pause_;
    bool check_host_;
    std::shared_ptr<Core> core_;
};

}  // namespace

struct Server::Listeners {
    std::shared_ptr<Core> core;
    std::vector<std::shared_ptr<Closable>> open;
    std::vector<std::filesystem::path> files;

    template <class Protocol>
    void add(typename Protocol::acceptor acceptor, bool check_host) {
        close_on_exec(acceptor.native_handle());
        auto listener = std::make_shared<Listener<Protocol>>(std::move(acceptor), check_host, core);
        listener->accept();
        open.push_back(std::move(listener));
    }
};

Server::Server(asio::io_context& loop, asio::any_io_executor worker, Handler handler, Limits limits)
    : listeners_(std::make_unique<Listeners>()) {
    listeners_->core = std::make_shared<Core>(loop, std::move(worker), std::move(handler), limits);
}

Server::~Server() { stop(); }

base::Expected<void> Server::listen_unix(const std::filesystem::path& path) {
    const auto failed = [&](const std::string& why) {
        return base::error(Error::Code::failed, "can't listen on " + path.string() + ": " + why);
    };
    if (path.native().size() >= sizeof(sockaddr_un::sun_path)) {
        return failed("the path is longer than " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                      " bytes, which is all that a socket's may have");
    }
    struct stat info {};
    if (lstat(path.c_str(), &info) == 0) {
        if (!S_ISSOCK(info.st_mode)) {
            return failed("a file is there that is no socket (remove it)");
        }
        if (unlink(path.c_str()) != 0) {
            return failed(std::strerror(errno));
        }
    }
    Local::acceptor acceptor(listeners_->core->loop);
    error_code error;
    acceptor.open(Local(), error);
    if (!error) {
        acceptor.bind(Local::endpoint(path.string()), error);
    }
    if (error) {
        return failed(error.message());
    }
    listeners_->files.push_back(path);
    acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error || chmod(path.c_str(), 0666) != 0) {
        return failed(error ? error.message() : std::strerror(errno));
    }
    listeners_->add<Local>(std::move(acceptor), false);
    return {};
}

base::Expected<uint16_t> Server::listen_tcp(const std::string& address, uint16_t port) {
    const std::string name =
        (address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" + std::to_string(port);
    error_code error;
    const auto parsed = asio::ip::make_address(address, error);
    if (error) {
        return base::error(Error::Code::failed, "can't listen on " + name + ": '" + address +
                                                    "' is no address (write it in digits: 127.0.0.1 or ::1)");
    }
    tcp::acceptor acceptor(listeners_->core->loop);
    const tcp::endpoint endpoint(parsed, port);
    acceptor.open(endpoint.protocol(), error);
    if (!error) {
        acceptor.set_option(asio::socket_base::reuse_address(true), error);  // a daemon restarted at once
    }
    if (!error && parsed.is_v6()) {
        acceptor.set_option(asio::ip::v6_only(true), error);
    }
    if (!error) {
        acceptor.bind(endpoint, error);
    }
    if (!error) {
        acceptor.listen(asio::socket_base::max_listen_connections, error);
    }
    if (error == asio::error::address_in_use) {
        return base::error(Error::Code::refused,
                           "can't listen on " + name + ": another program does (choose another port)");
    }
    const tcp::endpoint bound = error ? endpoint : acceptor.local_endpoint(error);
    if (error) {
        return base::error(Error::Code::failed, "can't listen on " + name + ": " + error.message());
    }
    listeners_->add<tcp>(std::move(acceptor), parsed.is_loopback() && listeners_->core->limits.check_host);
    return bound.port();
}

Server::Counts Server::counts() const {
    Counts counts = listeners_->core->counts;
    counts.connections = listeners_->core->connections.size();
    return counts;
}

void Server::stop() {
    Core& core = *listeners_->core;
    core.gate->shut();
    for (const auto& listener : std::exchange(listeners_->open, {})) {
        listener->close();
    }
    for (const auto& connection : std::set(core.connections)) {
        connection->close();
    }
    for (const auto& file : std::exchange(listeners_->files, {})) {
        unlink(file.c_str());
    }
}

}  // namespace ttmem::daemon::http
