// SPDX-License-Identifier: Apache-2.0
#pragma once

// HTTP/1.1 on a Unix socket and on TCP. It handles sockets and limits; the handler decides what to answer.
//
// Everything runs on the loop's thread, including the handler. Only a Responder may be used on other threads, and it may
// outlive the server. Callers receive every error as {"error": "..."}.

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "daemon/budgets.hpp"
#include "daemon/http/message.hpp"
#include "daemon/post_task.hpp"

namespace ttmem::daemon::http {

struct ServerLimits {
    // Of a request. Bodies are rejected.
    uint32_t header_bytes = 8 * 1024;
    // A further connection gets a 503 and is closed, which is clearer to the caller than waiting. Budgets may set lower limits.
    size_t connections = 256;
    // Keeps one user from using up all connections. TCP counts as one user.
    size_t connections_per_user = 64;
    // For a whole request to arrive, and for the caller to read 64 KiB of a response.
    std::chrono::milliseconds idle{30'000};
    // For the caller to read the last response before its connection is closed.
    std::chrono::milliseconds linger{1'000};
    // After accept() has failed for want of descriptors.
    std::chrono::milliseconds accept_pause{100};
    // That may wait for a slow reader of a stream that is not asked whether it is ready. A reader with more is disconnected.
    size_t stream_bytes = size_t{4} << 20;
    // Protects against DNS rebinding: a web page can point its own name at 127.0.0.1 and read what answers there, but it cannot
    // change the Host field. A loopback listener therefore accepts loopback names only.
    bool check_host = true;
};

class Server {
public:
    // `post` runs the making of responses on behalf of their callers. What it uses and the loop must outlive this object.
    // `budgets` bounds and counts connections, answers in flight and waiting texts of streams per user.
    Server(boost::asio::io_context& loop, PostTask post, Handler handler, ServerLimits limits = {},
           std::shared_ptr<Budgets> budgets = std::make_shared<Budgets>());
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Opens a socket for all local users; the handler decides what each may see. Replaces an existing socket file, so the caller
    // must hold the lock of the directory. stop() removes the file.
    base::Expected<void> listen_unix(const std::filesystem::path& path);

    // Takes a numeric address such as "127.0.0.1" or "::1"; port 0 chooses a free port. Returns the port. The error code is
    // `refused` if another program has the port, else `failed`.
    base::Expected<uint16_t> listen_tcp(const std::string& address, uint16_t port);

    struct Statistics {
        size_t connections = 0;  // now
        uint64_t requests = 0;
        uint64_t rejected_connections = 0;  // with a 503, because there were too many
        uint64_t accept_pauses = 0;         // for want of descriptors or memory
        uint64_t failures = 0;              // exceptions, each of which has closed one connection
    };
    // Any thread may call it.
    Statistics statistics() const;

    // Closes all connections and streams; later responses are dropped. Call it on the loop's thread, or when the loop does not
    // run. The destructor calls it too.
    void stop();

private:
    struct Listeners;
    std::unique_ptr<Listeners> listeners_;
};

}  // namespace ttmem::daemon::http
