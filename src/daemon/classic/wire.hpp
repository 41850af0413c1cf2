// SPDX-License-Identifier: Apache-2.0
#pragma once

// Serves clients of the earlier allocation server without changes to them. A connection belongs to the process that made it,
// which the kernel reports. All connections of a process write to one ledger, which is in the process table like any other. A
// closed connection frees nothing; the end of the process does.
//
// Connections are served on the loop. Those that send continuously are polled on separate threads meanwhile. Questions whose
// answer may take long, and dumps, are for the workers.
//
// Nothing here waits for a client. A client that does not read its answers gets no more of them; what it sends still counts.
// Each user has a share of connections and of memory for ledgers.

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "daemon/budgets.hpp"
#include "daemon/classic/question_time.hpp"
#include "daemon/classic/socket.hpp"
#include "daemon/fair_workers.hpp"
#include "daemon/log/log_writer.hpp"
#include "daemon/log/refusal_log.hpp"
#include "daemon/watch/process_table.hpp"
#include "sources/classic_wire/ledger_writer.hpp"
#include "sources/proc.hpp"

namespace ttmem::daemon {

struct ClassicWireDependencies {
    boost::asio::io_context& loop;
    FairWorkers& workers;
    Budgets& budgets;
    const ProcessTable& process_table;
    LogWriter& log_writer;
    RefusalLog& refusals;
    // Adds a process to the process table. Returns its number, or nothing if there is no room.
    std::function<std::optional<uint32_t>(sources::segments::AttachedSegment)> admit;
    // The connected processes whose reports are not counted have changed. May be empty.
    std::function<void(std::vector<census::Omission>)> set_skipped = {};
    bool writes_dumps = true;
};

class ClassicWire {
public:
    explicit ClassicWire(ClassicWireDependencies dependencies);
    ~ClassicWire();

    // Fails with Error::Code::refused if another server listens there.
    base::Expected<void> listen(const std::string& path);

    // The process of that number has ended: reads what it sent before and closes its ledger.
    void ended(uint32_t number);

    void stop();

private:
    class ClientConnection;
    class PolledConnections;
    using Buffer = std::vector<unsigned char>;  // scratch space for received bytes
    static constexpr size_t kBufferBytes = size_t{64} << 10;

    // One process.
    struct Client {
        uint32_t pid = 0;
        User user = kUnknownUser;
        uint32_t number = 0;

        std::mutex mutex{};  // for the ledger: several connections may write to it
        std::unique_ptr<sources::classic_wire::LedgerWriter> ledger;  // null after the process has ended
        uint64_t unknown_frees = 0;
    };
    enum class Dump : uint8_t { buffers, kernels };

    void accept();
    void accept_later();
    void arrive(base::Descriptor socket);
    void refuse_connection(User user);
    std::shared_ptr<Client> client_of(const ClientConnection& connection, const base::Descriptor& socket,
                                      uint64_t start_time);
    std::shared_ptr<Client> refuse(const ClientConnection& connection, uint32_t pid,
                                   const std::string& reason);
    void report_skipped() const;
    void closed(const ClientConnection& connection);
    PolledConnections& polled_connections_of(uint64_t connection);
    void note_unknown_free(Client& client, const sources::classic_wire::WireRequest& request);
    void dump(Dump what, User user);
    void start_dump(Dump what, User user);
    void finish_dump(Dump what);

    using ProcessKey = std::pair<uint32_t, uint64_t>;  // pid and start time

    ClassicWireDependencies dependencies_;
    sources::Proc proc_;
    uint64_t own_start_time_ = 0;
    ClassicSocket socket_;
    boost::asio::posix::stream_descriptor listener_;
    boost::asio::steady_timer accept_again_;
    std::map<ProcessKey, std::shared_ptr<Client>> clients_;
    std::map<uint64_t, std::shared_ptr<ClientConnection>> connections_;  // by number
    std::map<uint64_t, census::Omission> skipped_;                       // by number of the connection
    std::set<User> crowded_users_;                                       // logged already
    uint64_t last_connection_ = 0;
    std::vector<std::unique_ptr<PolledConnections>> pollers_;  // one thread each, made on first use
    Buffer buffer_;
    QuestionTime question_time_;
    struct DumpState {
        explicit DumpState(boost::asio::io_context& loop) : pause(loop) {}

        bool is_busy = false;       // one is written, or was a moment ago
        std::optional<User> again;  // who asked meanwhile
        boost::asio::steady_timer pause;
    };
    std::array<DumpState, 2> dumps_;  // by Dump
    bool stopping_ = false;
};

}  // namespace ttmem::daemon
