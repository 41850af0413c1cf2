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

#include "base/unix_socket.hpp"
#include "daemon/http/response_text.hpp"
#include "daemon/http/server_state.hpp"

namespace ttmem::daemon::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using base::Error;
using boost::system::error_code;
using LocalProtocol = asio::local::stream_protocol;

namespace {

// The identity of the caller when it connected, from the kernel.
Caller caller_of(LocalProtocol::socket& socket) {
    Caller caller;
    ucred peer{};
    if (!base::read_peer(socket.native_handle(), peer)) {
        return caller;  // unknown: has the fewest permissions
    }
    caller.is_local = true;
    caller.uid = peer.uid;
    caller.groups.resize(64);
    int result = -1;
    do {
        auto length = static_cast<socklen_t>(caller.groups.size() * sizeof(gid_t));
        result = getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERGROUPS, caller.groups.data(), &length);
        // If they did not fit, the kernel returns the length that is needed.
        caller.groups.resize(length / sizeof(gid_t));
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

// The new socket has room for these few bytes. What the caller has sent so far is read, because closing a socket with unread
// input may lose the response.
void reject_connection(int socket) {
    static const std::string text = [] {
        const Response response = Response::error(view::ApiError::busy, "too many connections, try again");
        ResponseHead head = make_head(response.status, response.content_type);
        head.content_length(response.body.size());
        head.set(boost::beast::http::field::retry_after, "1");
        head.keep_alive(false);
        return to_text(head) + response.body;
    }();
    std::array<char, 16 * 1024> input{};
    (void)!send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(socket, SHUT_WR);
    (void)!recv(socket, input.data(), input.size(), MSG_DONTWAIT);
}

// Accepts connections until it is closed. Its pending operations keep it alive.
template <class Protocol>
class ConnectionAcceptor : public Closable,
                           public std::enable_shared_from_this<ConnectionAcceptor<Protocol>> {
public:
    ConnectionAcceptor(typename Protocol::acceptor acceptor, bool check_host,
                       std::shared_ptr<ServerState> state)
        : acceptor_(std::move(acceptor)),
          pause_(state->loop),
          check_host_(check_host),
          state_(std::move(state)) {}

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
            // Mostly for want of descriptors. The connection stays in the queue, so accepting at once would fail again.
            return pause();
        }
        if (!error) {
            try {
                take(std::move(socket));
            } catch (...) {
                return pause();  // out of memory: this connection is closed
            }
        }
        accept();
    }

    void pause() {
        state_->count(&Server::Statistics::accept_pauses);
        pause_.expires_after(state_->limits.accept_pause);
        pause_.async_wait([self = this->shared_from_this()](error_code) {
            if (self->acceptor_.is_open()) {
                self->accept();
            }
        });
    }

    void take(typename Protocol::socket socket) {
        close_on_exec(socket.native_handle());
        const Caller caller = caller_of(socket);
        if (state_->admit(caller)) {
            serve(asio::generic::stream_protocol::socket(std::move(socket)), caller, check_host_, state_);
        } else {
            state_->count(&Server::Statistics::rejected_connections);
            reject_connection(socket.native_handle());
        }
    }

    typename Protocol::acceptor acceptor_;
    asio::steady_timer pause_;
    bool check_host_;
    std::shared_ptr<ServerState> state_;
};

}  // namespace

struct Server::Listeners {
    std::shared_ptr<ServerState> state;
    std::vector<std::shared_ptr<Closable>> open;
    std::vector<std::filesystem::path> files;

    template <class Protocol>
    void add(typename Protocol::acceptor acceptor, bool check_host) {
        close_on_exec(acceptor.native_handle());
        auto listener =
            std::make_shared<ConnectionAcceptor<Protocol>>(std::move(acceptor), check_host, state);
        listener->accept();
        open.push_back(std::move(listener));
    }
};

Server::Server(asio::io_context& loop, PostTask post, Handler handler, ServerLimits limits,
               std::shared_ptr<Budgets> budgets)
    : listeners_(std::make_unique<Listeners>()) {
    listeners_->state =
        std::make_shared<ServerState>(loop, std::move(post), std::move(handler), limits, std::move(budgets));
}

Server::~Server() { stop(); }

base::Expected<void> Server::listen_unix(const std::filesystem::path& path) {
    const auto failed = [&](const std::string& why) {
        return base::error(Error::Code::failed, "can't listen on " + path.string() + ": " + why);
    };
    if (path.native().size() > base::kMaxSocketPath) {
        return failed("the path is longer than " + std::to_string(base::kMaxSocketPath) +
                      " bytes, the limit of a Unix socket");
    }
    struct stat info {};
    if (lstat(path.c_str(), &info) == 0) {
        if (!S_ISSOCK(info.st_mode)) {
            return failed("the path exists and is not a socket (remove it)");
        }
        if (unlink(path.c_str()) != 0) {
            return failed(std::strerror(errno));
        }
    }
    LocalProtocol::acceptor acceptor(listeners_->state->loop);
    error_code error;
    acceptor.open(LocalProtocol(), error);
    if (!error) {
        acceptor.bind(LocalProtocol::endpoint(path.string()), error);
    }
    if (error) {
        return failed(error.message());
    }
    listeners_->files.push_back(path);
    acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error || chmod(path.c_str(), 0666) != 0) {
        return failed(error ? error.message() : std::strerror(errno));
    }
    // A browser may come here too, through ssh -L.
    listeners_->add<LocalProtocol>(std::move(acceptor), true);
    return {};
}

base::Expected<uint16_t> Server::listen_tcp(const std::string& address, uint16_t port) {
    const std::string name =
        (address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" + std::to_string(port);
    error_code error;
    const auto parsed = asio::ip::make_address(address, error);
    if (error) {
        return base::error(Error::Code::failed, "can't listen on " + name + ": '" + address +
                                                    "' is not a numeric address (such as 127.0.0.1 or ::1)");
    }
    tcp::acceptor acceptor(listeners_->state->loop);
    const tcp::endpoint endpoint(parsed, port);
    acceptor.open(endpoint.protocol(), error);
    if (!error) {
        acceptor.set_option(asio::socket_base::reuse_address(true),
                            error);  // for a daemon that is restarted at once
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
                           "can't listen on " + name + ": another program uses that port (choose another)");
    }
    const tcp::endpoint bound = error ? endpoint : acceptor.local_endpoint(error);
    if (error) {
        return base::error(Error::Code::failed, "can't listen on " + name + ": " + error.message());
    }
    listeners_->add<tcp>(std::move(acceptor), parsed.is_loopback() && listeners_->state->limits.check_host);
    return bound.port();
}

Server::Statistics Server::statistics() const { return listeners_->state->statistics(); }

void Server::stop() {
    ServerState& state = *listeners_->state;
    state.gate->close();
    state.trim.stop();
    for (const auto& listener : std::exchange(listeners_->open, {})) {
        listener->close();
    }
    for (const auto& connection : std::set(state.connections())) {
        connection->close();
    }
    for (const auto& file : std::exchange(listeners_->files, {})) {
        unlink(file.c_str());
    }
}

}  // namespace ttmem::daemon::http
