// SPDX-License-Identifier: Apache-2.0
#pragma once

// HTTP/1.1 on a Unix socket and on TCP. It knows sockets and limits, and nothing of memory.
//
// Everything happens on the thread that runs the loop, which also calls the handler; of the calls below only those of
// an Answer may come from other threads, and they may come after the server is gone. Errors of all sorts reach the
// caller as {"error": "..."}.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "daemon/http/message.hpp"

namespace ttmem::daemon::http {

struct Limits {
    uint32_t header_bytes = 8 * 1024;  // of a request; bodies are refused
    size_t connections = 256;  // one more gets a 503 at once and is closed: better told than kept waiting
    size_t connections_per_user = 64;  // so that one user can't keep out the others; TCP is one user
    std::chrono::milliseconds idle{
        30'000};  // for a request to come whole, and for 64 KiB of an answer to be taken
    std::chrono::milliseconds linger{
        1'000};  // for the caller to take the last answer before its connection is cut
    std::chrono::milliseconds accept_pause{100};  // when the system has no descriptor for a new connection
    size_t stream_bytes = size_t{4} << 20;  // may wait for a slow reader of a stream; beyond it is cut off
    // A page of the web can give its own name the address 127.0.0.1 and then read what answers there. It can't change
    // the name that it asks for, so what listens on loopback answers to loopback's names only.
    bool check_host = true;
};

class Server {
public:
    // `worker` makes the pieces of long answers. It and the loop must outlive this object.
    Server(boost::asio::io_context& loop, boost::asio::any_io_executor worker, Handler handler,
           Limits limits = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // A socket open to all local users; who sees what is decided by who asks. A socket file that is there is taken for
    // a dead server's and replaced, so the caller must hold the directory. The file goes at stop().
    base::Expected<void> listen_unix(const std::filesystem::path& path);

    // An address in digits, "127.0.0.1" or "::1"; port 0 takes a free one. Returns the port. Code `refused`: somebody
    // else has it; all else is `failed`.
    base::Expected<uint16_t> listen_tcp(const std::string& address, uint16_t port);

    struct Counts {
        size_t connections = 0;  // now
        uint64_t requests = 0;
        uint64_t turned_away = 0;    // with a 503, there being too many
        uint64_t accept_pauses = 0;  // for want of descriptors or memory
    };
    Counts counts() const;

    // Closes everything and ends streams. Answers still in the making go nowhere. On the loop's thread, or when nobody
    // runs the loop; the destructor does the same.
    void stop();

private:
    struct Listeners;
    std::unique_ptr<Listeners> listeners_;
};

}  // namespace ttmem::daemon::http
