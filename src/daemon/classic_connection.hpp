// SPDX-License-Identifier: Apache-2.0
#pragma once

// One connection of the classic wire: bytes in, messages to their ledger, answers out.

#include "daemon/classic_answers.hpp"
#include "daemon/classic_wire.hpp"
#include "sources/classic_wire/decoder.hpp"

namespace ttmem::daemon {

class ClassicWire::Connection final : public std::enable_shared_from_this<Connection>,
                                      private sources::classic_wire::Listener {
public:
    // The start time of the process that made it, 0 where it has ended.
    Connection(ClassicWire& in, uint64_t number, base::Descriptor socket, uint64_t start_time);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // The loop's part of its life. A connection that sends without a pause goes to the streams, and comes back when it pauses, asks
    // something or ends.
    void wait_for_bytes();
    void come_back();
    void close();

    // Its process has ended: what it sent before is taken in, wherever the connection is.
    void read_the_rest(Buffer& buffer);

    // The streams' part: a turn, and how many bytes it brought; nothing where it is to come back.
    std::optional<size_t> read_in_passing(Buffer& buffer);

    const Client* client() const { return client_.get(); }

private:
    using Request = sources::classic_wire::Request;
    using Generation = sources::classic_wire::Generation;

    void message(const Request& request, Generation generation) override;
    void revised(Generation from, Generation to) override;
    size_t read(Buffer& buffer, size_t most_bytes);
    bool is_over() const { return is_broken_ || (has_ended_ && answers_.empty()); }
    ClassicAnswers& answers_now();
    bool watch();
    void unwatch();
    bool is_streaming(size_t taken);
    void change(const Request& request);
    void answer(const sources::classic_wire::Answer& answer, Generation generation);
    void flush();
    void wait_for_room();
    void stop_answering();

    ClassicWire& in_;
    const uint64_t number_;
    const uint64_t start_time_;
    base::Descriptor socket_;
    boost::asio::posix::stream_descriptor watched_;  // by the loop: while it is open

    // The rest is of whoever has the turn. The client is found on the loop, before a connection becomes a stream.
    std::mutex turn_;
    bool is_stream_ = false;
    sources::classic_wire::Decoder decoder_;
    std::shared_ptr<Client> client_;
    bool is_refused_ = false;
    std::unique_lock<std::mutex> writing_;  // in the client's ledger, until the end of the turn
    std::optional<sources::classic_wire::Answer>
        last_answer_;          // to the last message, where that was a question
    std::string answers_;      // that the client has not taken yet
    bool is_answered_ = true;  // false: it did not read, and gets no more
    bool waits_for_room_ = false;
    bool has_ended_ = false;                     // nothing comes any more
    bool is_broken_ = false;                     // what came is no message
    std::optional<ClassicAnswers> answers_now_;  // until the next message that changes something
    bool was_asked_ = false;                     // in this turn: somebody waits for an answer
    uint64_t now_ns_ = 0;                        // when this turn began
    uint64_t last_wake_ns_ = 0;
    unsigned quick_wakes_ = 0;  // one soon after the other
};

}  // namespace ttmem::daemon
