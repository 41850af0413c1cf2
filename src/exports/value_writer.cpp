// SPDX-License-Identifier: Apache-2.0
#include "exports/value_writer.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ttmem::exports {

namespace {

class JsonValueWriter : public ValueWriter {
public:
    explicit JsonValueWriter(Output& to) : to_(to) {}

    void begin_dict() override { open("{"); }
    void end_dict() override { close("}"); }
    void begin_list() override { open("["); }
    void end_list() override { close("]"); }
    void key(std::string_view name) override {
        separate();
        to_.append(quoted(name) + ":");
        is_after_key_ = true;
    }
    void text(std::string_view value) override { add(quoted(value)); }
    void number(uint64_t value) override { add(std::to_string(value)); }
    void boolean(bool value) override { add(value ? "true" : "false"); }
    void finish() override { to_.append("\n"); }

private:
    static std::string quoted(std::string_view text) {
        using nlohmann::json;
        return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    }
    void separate() {
        if (!is_after_key_ && !is_empty_) {
            to_.append(",");
        }
        is_after_key_ = false;
        is_empty_ = false;
    }
    void add(const std::string& value) {
        separate();
        to_.append(value);
    }
    void open(const char* bracket) {
        add(bracket);
        is_empty_ = true;
    }
    void close(const char* bracket) {
        to_.append(bracket);
        is_empty_ = false;
    }

    Output& to_;
    bool is_after_key_ = false;
    bool is_empty_ = true;  // of the dictionary or list that is written
};

class PickleValueWriter : public ValueWriter {
public:
    explicit PickleValueWriter(Output& to) : to_(to) { to_.append("\x80\x04"); }

    void begin_dict() override { open("}(", 'u'); }
    void begin_list() override { open("](", 'e'); }
    void end_dict() override { close(); }
    void end_list() override { close(); }
    void key(std::string_view name) override { append_text(name); }
    void text(std::string_view value) override {
        append_text(value);
        end_item();
    }
    void number(uint64_t value) override {
        append_number(value);
        end_item();
    }
    void boolean(bool value) override {
        to_.append(value ? "\x88" : "\x89");
        end_item();
    }
    void finish() override { to_.append("."); }

private:
    // Some readers want no more items at once, as Python itself writes them.
    static constexpr size_t kItemsPerBatch = 1000;

    struct OpenCollection {
        char opcode;  // that adds the items since the mark
        size_t items = 0;
    };

    static void append_little(std::string& bytes, uint64_t value, size_t count) {
        for (size_t i = 0; i < count; ++i) {
            bytes += static_cast<char>(value >> (8 * i) & 0xff);
        }
    }
    void append_text(std::string_view text) {
        std::string bytes = "X";
        append_little(bytes, text.size(), 4);
        to_.append(bytes);
        to_.append(text);
    }
    void append_number(uint64_t value) {
        std::string bytes;
        if (value <= INT32_MAX) {
            bytes = "J";
            append_little(bytes, value, 4);
        } else {
            bytes = std::string("\x8a\x09", 2);  // nine bytes: the number has a sign
            append_little(bytes, value, 8);
            bytes += '\0';
        }
        to_.append(bytes);
    }
    // Adds a full batch to the collection around it.
    void end_item() {
        if (!open_.empty() && ++open_.back().items == kItemsPerBatch) {
            to_.append(std::string(1, open_.back().opcode) + "(");
            open_.back().items = 0;
        }
    }
    void open(const char* opcodes, char opcode) {
        to_.append(opcodes);
        open_.push_back({opcode});
    }
    void close() {
        to_.append(std::string(1, open_.back().opcode));
        open_.pop_back();
        end_item();
    }

    Output& to_;
    std::vector<OpenCollection> open_;
};

}  // namespace

std::unique_ptr<ValueWriter> json_value_writer(Output& to) { return std::make_unique<JsonValueWriter>(to); }

std::unique_ptr<ValueWriter> pickle_value_writer(Output& to) {
    return std::make_unique<PickleValueWriter>(to);
}

}  // namespace ttmem::exports
