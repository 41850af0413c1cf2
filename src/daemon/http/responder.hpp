// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Responder of a connection, usable on any thread. Private to src/daemon/http.

#include <memory>
#include <string>
#include <utility>

#include "daemon/http/connection.hpp"

namespace ttmem::daemon::http {

class ConnectionResponder : public Responder {
public:
    // `user` is who waiting texts of a stream count for.
    ConnectionResponder(std::weak_ptr<Connection> connection, const ServerState& state, User user)
        : connection_(std::move(connection)),
          gate_(state.gate),
          budgets_(state.budgets),
          stream_bytes_(state.limits.stream_bytes),
          user_(user) {}
    ~ConnectionResponder() override {
        try {
            if (!is_used_) {
                send(Response::error(view::ApiError::internal,
                                     "internal error: the request was not answered"));
            }
        } catch (...) {
            // No memory even for that: the connection notices that it has no responder, and closes.
        }
    }
    ConnectionResponder(const ConnectionResponder&) = delete;
    ConnectionResponder& operator=(const ConnectionResponder&) = delete;

    void make_later(uint64_t places, std::function<void()> make) override {
        if (const auto alive = connection_.lock()) {
            alive->make_later(places, std::move(make));
        }
    }

    void send(Response response) override {
        if (std::exchange(is_used_, true)) {
            return;
        }
        // The pointer is locked on the loop, so that a connection is never destroyed on this thread.
        gate_->post([connection = connection_, response = std::move(response)]() mutable {
            if (const auto alive = connection.lock()) {
                alive->respond(std::move(response));
            }
        });
    }

    std::shared_ptr<StreamWriter> begin_stream(StreamKind kind) override {
        auto buffer = std::make_shared<StreamBuffer>(stream_bytes_, budgets_, user_, kind);
        if (std::exchange(is_used_, true)) {
            buffer->close();
            return std::make_shared<StreamSender>(std::weak_ptr<Connection>(), gate_, std::move(buffer));
        }
        auto sender = std::make_shared<StreamSender>(connection_, gate_, buffer);
        gate_->post([connection = connection_, buffer] {
            if (const auto alive = connection.lock()) {
                alive->begin_stream(buffer);
            } else {
                buffer->close();
            }
        });
        return sender;
    }

private:
    class StreamSender : public StreamWriter {
    public:
        StreamSender(std::weak_ptr<Connection> connection, std::shared_ptr<Gate> gate,
                     std::shared_ptr<StreamBuffer> buffer)
            : connection_(std::move(connection)), gate_(std::move(gate)), buffer_(std::move(buffer)) {}
        ~StreamSender() override {
            try {
                post(&Connection::end_stream);
            } catch (...) {
                buffer_->close();  // the connection closes with the next event of its socket
            }
        }
        StreamSender(const StreamSender&) = delete;
        StreamSender& operator=(const StreamSender&) = delete;

        Readiness readiness() const override {
            return gate_->is_open() ? buffer_->readiness() : Readiness::gone;
        }

        bool is_end_wanted() const override { return buffer_->is_end_wanted(); }

        bool push(SharedText text) override {
            if (!gate_->is_open()) {
                return false;
            }
            switch (buffer_->push(std::move(text))) {
                case StreamBuffer::PushResult::queued:
                    return true;
                case StreamBuffer::PushResult::must_wake:
                    return post(&Connection::pump_stream);
                case StreamBuffer::PushResult::overflow:
                    post(&Connection::close);
                    return false;
                case StreamBuffer::PushResult::closed:
                    break;
            }
            return false;
        }

    private:
        bool post(void (Connection::*call)()) {
            return gate_->post([connection = connection_, call] {
                if (const auto alive = connection.lock()) {
                    (alive.get()->*call)();
                }
            });
        }

        std::weak_ptr<Connection> connection_;
        std::shared_ptr<Gate> gate_;
        std::shared_ptr<StreamBuffer> buffer_;
    };

    std::weak_ptr<Connection> connection_;
    std::shared_ptr<Gate> gate_;
    std::shared_ptr<Budgets> budgets_;
    size_t stream_bytes_;
    User user_;
    bool is_used_ = false;
};

}  // namespace ttmem::daemon::http
