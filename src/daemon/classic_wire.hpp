// SPDX-License-Identifier: Apache-2.0
#pragma once

// The classic wire: clients of the old allocation server, served as they are. A connection belongs to the process that made
// it, by the kernel's word; all connections of a process write one ledger, which is on the roster like any other. A closed
// connection frees nothing: only the death of the process does.
//
// Connections live on the loop; those that send without a pause are read on threads of their own meanwhile.
//
// Nothing here waits for a client. Who does not read its answers gets no more of them; what it sends is taken in as before.

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "daemon/classic_socket.hpp"
#include "daemon/event_log.hpp"
#include "daemon/output.hpp"
#include "daemon/roster.hpp"
#include "sources/classic_wire/ledger_writer.hpp"
#include "sources/proc.hpp"

namespace ttmem::daemon {

class ClassicWire {
public:
    struct Uses {
        boost::asio::io_context& loop;
        boost::asio::any_io_executor worker;  // for what takes a scan
        const Roster& roster;
        Output& output;
        EventLog& log;
        // Puts a process on the roster; its number, or nothing where there is no room.
        std::function<std::optional<uint32_t>(sources::segments::Attached)> admit;
    };

    explicit ClassicWire(Uses uses);
    ~ClassicWire();

    // An error of Error::Code::refused: somebody else serves it there.
    base::Expected<void> listen(const std::string& path);

    // The process of that number has ended: what it sent before is taken in, and its ledger is closed.
    void ended(uint32_t number);

    size_t connections() const { return connections_.size(); }
    void stop();

private:
    class Connection;
    class Streams;
    using Buffer = std::vector<unsigned char>;  // what was just received; of no connection
    static constexpr size_t kBufferBytes = size_t{64} << 10;

    // One process.
    struct Client {
        uint32_t pid = 0;
        uint32_t number = 0;

        std::mutex mutex{};                                           // whoever writes in its name
        std::unique_ptr<sources::classic_wire::LedgerWriter> ledger;  // until it has ended
        uint64_t unknown_frees = 0;
    };
    enum class Dump : uint8_t { buffers, kernels };

    void accept();
    void accept_later();
    void arrive(base::Descriptor socket);
    std::shared_ptr<Client> client_of(const base::Descriptor& socket, uint64_t start_time);
    void refuse(uint32_t pid, const std::string& why);
    Streams& streams_of(uint64_t connection);
    void note_unknown_free(Client& client, const sources::classic_wire::Request& request);
    void dump(Dump what);
    void start_dump(Dump what);

    using ProcessKey = std::pair<uint32_t, uint64_t>;  // pid and start time

    Uses uses_;
    sources::Proc proc_;
    uint64_t own_start_time_ = 0;
    ClassicSocket socket_;
    boost::asio::posix::stream_descriptor listener_;
    boost::asio::steady_timer accept_again_;
    std::map<ProcessKey, std::shared_ptr<Client>> clients_;
    std::map<uint64_t, std::shared_ptr<Connection>> connections_;  // by number
    uint64_t last_connection_ = 0;
    std::vector<std::unique_ptr<Streams>> streams_;  // a thread each, made when it is first needed
    Buffer buffer_;
    std::array<bool, 2> is_dumping_{};  // by Dump
    std::array<bool, 2> dump_again_{};
    bool stopping_ = false;
};

}  // namespace ttmem::daemon
