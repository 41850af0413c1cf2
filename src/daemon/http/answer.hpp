// SPDX-License-Identifier: Apache-2.0
#pragma once

// The handler's side of one request, on any thread. Private to src/daemon/http.

#include <memory>
#include <string>
#include <utility>

#include "daemon/http/connection.hpp"

namespace ttmem::daemon::http {

class PendingAnswer : public Answer {
public:
    PendingAnswer(std::weak_ptr<Connection> connection, std::shared_ptr<Gate> gate, size_t stream_bytes)
        : connection_(std::move(connection)), gate_(std::move(gate)), stream_bytes_(stream_bytes) {}
    ~PendingAnswer() override { send(Response::error(500, "this request found nobody to answer it")); }
    PendingAnswer(const PendingAnswer&) = delete;
    PendingAnswer& operator=(const PendingAnswer&) = delete;

    void send(Response response) override {
        if (std::exchange(is_used_, true)) {
            return;
        }
        // The connection is looked up on the loop, so that it never dies on this thread.
        gate_->post([connection = connection_, response = std::move(response)]() mutable {
            if (const auto alive = connection.lock()) {
                alive->answer(std::move(response));
            }
        });
    }

    Push begin_stream() override {
        if (std::exchange(is_used_, true)) {
            return [](const std::string&) { return false; };
        }
        auto flow = std::make_shared<Flow>(stream_bytes_);
        gate_->post([connection = connection_, flow] {
            if (const auto alive = connection.lock()) {
                alive->begin_stream(flow);
            } else {
                flow->end();
            }
        });
        auto source = std::make_shared<Source>(connection_, gate_, std::move(flow));
        return [source = std::move(source)](const std::string& text) { return source->push(text); };
    }

private:
    // Held by the copies of a Push: with the last one the stream ends.
    class Source {
    public:
        Source(std::weak_ptr<Connection> connection, std::shared_ptr<Gate> gate, std::shared_ptr<Flow> flow)
            : connection_(std::move(connection)), gate_(std::move(gate)), flow_(std::move(flow)) {}
        ~Source() { tell(&Connection::end_stream); }
        Source(const Source&) = delete;
        Source& operator=(const Source&) = delete;

        bool push(const std::string& text) {
            if (!gate_->is_open()) {
                return false;
            }
            switch (flow_->push(text)) {
                case Flow::Pushed::waits:
                    return true;
                case Flow::Pushed::wakes:
                    return tell(&Connection::pump);
                case Flow::Pushed::cut:
                    tell(&Connection::close);
                    return false;
                case Flow::Pushed::gone:
                    break;
            }
            return false;
        }

    private:
        bool tell(void (Connection::*what)()) {
            return gate_->post([connection = connection_, what] {
                if (const auto alive = connection.lock()) {
                    (alive.get()->*what)();
                }
            });
        }

        std::weak_ptr<Connection> connection_;
        std::shared_ptr<Gate> gate_;
        std::shared_ptr<Flow> flow_;
    };

    std::weak_ptr<Connection> connection_;
    std::shared_ptr<Gate> gate_;
    size_t stream_bytes_;
    bool is_used_ = false;
};

}  // namespace ttmem::daemon::http
