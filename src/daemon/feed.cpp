// SPDX-License-Identifier: Apache-2.0
#include "daemon/feed.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "view/json.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

namespace {

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) {
        text += (text.empty() ? "" : ",") + part;
    }
    return text;
}

}  // namespace

bool Changes::take(const view::View& view) {
    const bool is_first = number_ == 0;
    if (!is_first && view.figures == last_) {
        return false;
    }
    last_ = view.figures;
    const Json json = Json::parse(view::to_json(view));
    whole_ = text_of(json);
    ++number_;
    const auto renew = [&](std::map<uint64_t, Entry>& entries, const char* list, const char* key,
                           bool is_process) {
        std::set<uint64_t> there;
        for (const Json& item : json.at(list)) {
            const auto id = item.at(key).get<uint64_t>();
            there.insert(id);
            Entry& entry = entries[id];
            if (std::string text = text_of(item); entry.json != text) {
                entry = {std::move(text), number_};
            }
        }
        for (auto entry = entries.begin(); entry != entries.end();) {
            if (!there.contains(entry->first)) {
                gone_.push_back({number_, is_process, entry->first});
                entry = entries.erase(entry);
            } else {
                ++entry;
            }
        }
    };
    renew(devices_, "devices", "id", false);
    renew(processes_, "processes", "pid", true);
    for (; gone_.size() > kMostGone; gone_.pop_front()) {
        forgotten_ = gone_.front().number;
    }
    std::string head =
        "\"exact\":" + text_of(json.at("exact")) + ",\"inexact\":" + text_of(json.at("inexact"));
    if (head_.json != head) {
        head_ = {std::move(head), number_};
    }
    return true;
}

std::string Changes::since(uint64_t number) const {
    const auto changed_in = [&](const std::map<uint64_t, Entry>& entries) {
        std::vector<std::string> parts;
        for (const auto& [id, entry] : entries) {
            if (entry.changed > number) {
                parts.push_back(entry.json);
            }
        }
        return joined(parts);
    };
    const auto gone_in = [&](bool is_process) {
        std::vector<std::string> parts;
        for (const Gone& gone : gone_) {
            const bool is_back = (is_process ? processes_ : devices_).contains(gone.id);
            if (gone.number > number && gone.is_process == is_process && !is_back) {
                parts.push_back(std::to_string(gone.id));
            }
        }
        return joined(parts);
    };
    return "{\"schema\":" + std::to_string(view::kSchema) + (head_.changed > number ? "," + head_.json : "") +
           ",\"devices\":[" + changed_in(devices_) + "],\"processes\":[" + changed_in(processes_) +
           "],\"gone_devices\":[" + gone_in(false) + "],\"gone_processes\":[" + gone_in(true) + "]}";
}

Feed::Feed(asio::io_context& loop, asio::any_io_executor worker, std::function<view::View()> look, Pace pace)
    : loop_(loop),
      worker_(std::move(worker)),
      look_(std::move(look)),
      pace_(pace),
      epoch_(view::read_here().time_ns),
      timer_(loop),
      wait_(pace.least) {}

std::string Feed::id(uint64_t number) const { return std::to_string(epoch_) + "-" + std::to_string(number); }

void Feed::subscribe(http::Answer::Push push, const std::string& last_event_id,
                     std::chrono::milliseconds interval) {
    Reader reader{std::move(push), std::nullopt, interval, {}};
    const size_t dash = last_event_id.find('-');
    if (dash != std::string::npos && http::parse_number(last_event_id.substr(0, dash)) == epoch_) {
        reader.has = http::parse_number(last_event_id.substr(dash + 1));
        if (reader.has && !changes_.knows(*reader.has)) {
            reader.has.reset();
        }
    }
    readers_.push_back(std::move(reader));
    timer_.cancel();
    if (!looking_) {
        look_soon();
    }
}

// One look at a time, on the worker.
void Feed::look_soon() {
    looking_ = true;
    asio::post(worker_, [this] {
        const auto start = std::chrono::steady_clock::now();
        auto view = std::make_shared<view::View>(look_());
        const auto cost = std::chrono::steady_clock::now() - start;
        asio::post(loop_, [this, view, cost] { took(*view, cost); });
    });
}

void Feed::took(const view::View& view, std::chrono::steady_clock::duration cost) {
    looking_ = false;
    if (stopping_) {
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    changes_.take(view);
    for (Reader& reader : readers_) {
        send(reader);
    }
    if (now >= next_heartbeat_) {
        next_heartbeat_ = now + pace_.heartbeat;
        for (Reader& reader : readers_) {
            reader.push = reader.push && reader.push(": alive\n\n") ? reader.push : nullptr;
        }
    }
    readers_.remove_if([](const Reader& reader) { return !reader.push; });
    if (readers_.empty()) {
        return;
    }
    // Where a look is dear there are fewer of them: a tenth of one processor at most.
    wait_ = std::max<std::chrono::steady_clock::duration>(pace_.least, cost * 10);
    timer_.expires_after(wait_);
    timer_.async_wait([this](boost::system::error_code error) {
        if (!error && !looking_ && !stopping_) {
            look_soon();
        }
    });
}

void Feed::send(Reader& reader) {
    const uint64_t number = changes_.number();
    const auto now = std::chrono::steady_clock::now();
    if (reader.has == number || now < reader.next) {
        return;
    }
    // Looks come at a pace of their own: half of one early is better than all of one late.
    reader.next = now + std::max<std::chrono::steady_clock::duration>(reader.interval - pace_.least / 2, {});
    const std::string text = (reader.has ? "event: change\nid: " : "event: view\nid: ") + id(number) +
                             "\ndata: " + (reader.has ? changes_.since(*reader.has) : changes_.whole()) +
                             "\n\n";
    reader.has = number;
    if (!reader.push(text)) {
        reader.push = nullptr;
    }
}

void Feed::stop() {
    stopping_ = true;
    timer_.cancel();
    readers_.clear();
}

}  // namespace ttmem::daemon
