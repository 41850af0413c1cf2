// SPDX-License-Identifier: Apache-2.0
#pragma once

// One connection of the classic wire: decodes messages, writes them to the ledger of its process and sends answers.
//
// A question that the loop cannot answer quickly goes to a worker. Messages behind it wait, in order, and the connection is not
// read until the answer is there.

#include "daemon/classic/answers.hpp"
#include "daemon/classic/shares.hpp"
#include "daemon/classic/wire.hpp"
#include "sources/classic_wire/decoder.hpp"

namespace ttmem::daemon {

class ClassicWire::ClientConnection final : public std::enable_shared_from_this<ClientConnection>,
                                            private sources::classic_wire::Listener {
public:
    // `start_time` is that of the process that connected; 0 if it has ended.
    ClientConnection(ClassicWire& in, uint64_t number, ConnectionShare share, base::Descriptor socket,
                     uint64_t start_time);
    ~ClientConnection();
    ClientConnection(const ClientConnection&) = delete;
    ClientConnection& operator=(const ClientConnection&) = delete;

    // On the loop. A connection that sends continuously moves to PolledConnections, and returns when it pauses, sends a query or
    // ends.
    void wait_for_bytes();
    void return_to_loop();
    void close();

    // Its process has ended: reads what it sent before, on the loop or not.
    void drain(Buffer& buffer);

    // On the thread of PolledConnections: reads once and returns the number of bytes; nothing if it must return to the loop.
    std::optional<size_t> poll(Buffer& buffer);

    const Client* client() const { return client_.get(); }
    uint64_t number() const { return number_; }
    User user() const { return share_.user(); }

private:
    using WireRequest = sources::classic_wire::WireRequest;
    using Generation = sources::classic_wire::Generation;
    using MessageType = sources::classic_wire::MessageType;
    struct WaitingMessage {
        WireRequest request;
        Generation generation;
    };

    void message(const WireRequest& request, Generation generation) override;
    void revised(Generation from, Generation to) override;
    size_t read(Buffer& buffer, size_t max_bytes);
    bool is_over() const {
        return waiting_.empty() && (is_broken_ || (has_ended_ && unsent_answers_.empty()));
    }
    bool watch();
    void unwatch();
    void read_on_loop();
    void go_on();
    bool should_poll(size_t taken);
    bool handle(const WireRequest& request, Generation generation);
    void keep(const WireRequest& request, Generation generation);
    void handle_waiting();
    void finish_batch();
    void change(const WireRequest& request);
    bool answer_question(const WireRequest& request, Generation generation);
    bool prepare_here(MessageType question);
    void ask_worker();
    void prepare_on_worker(MessageType question);
    void take_answers(std::shared_ptr<ClassicAnswers> answers);
    void answer(const sources::classic_wire::WireAnswer& answer, Generation generation);
    void flush();
    void wait_for_room();
    void stop_answering();

    ClassicWire& in_;
    const uint64_t number_;
    const uint64_t start_time_;
    ConnectionShare share_;
    base::Descriptor socket_;
    boost::asio::posix::stream_descriptor watched_;  // open while the loop watches the socket

    // Protects the members below. The client is looked up on the loop, before a connection is polled.
    std::mutex mutex_;
    bool is_polled_ = false;
    bool waits_for_bytes_ = false;  // on the loop
    sources::classic_wire::Decoder decoder_;
    std::shared_ptr<Client> client_;
    bool is_refused_ = false;
    std::unique_lock<std::mutex> ledger_lock_;  // held until the end of a read
    // To the last message, if that was a query.
    std::optional<sources::classic_wire::WireAnswer> last_answer_;
    std::string unsent_answers_;
    // A question for a worker, and the messages behind it. The first one is always a question.
    std::vector<WaitingMessage> waiting_;
    bool is_last_waiting_ = false;  // the last message of the decoder is the last of them
    bool is_asking_ = false;        // a worker prepares answers
    bool is_draining_ = false;      // its process has ended: only questions wait
    bool is_answered_ = true;       // false: it did not read its answers, and gets no more
    bool waits_for_room_ = false;
    bool has_ended_ = false;                   // the client closed its side
    bool is_broken_ = false;                   // the input is not a message
    std::shared_ptr<ClassicAnswers> answers_;  // valid until the next message that changes the ledger
    bool was_asked_ = false;                   // by this read: the client waits for an answer
    uint64_t now_ns_ = 0;                      // when this read began
    uint64_t last_wake_ns_ = 0;
    size_t streamed_bytes_ = 0;  // without a pause or a question
};

}  // namespace ttmem::daemon
