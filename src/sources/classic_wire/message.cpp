// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/message.hpp"

#include <bit>
#include <cstring>

namespace ttmem::sources::classic_wire {

static_assert(std::endian::native == std::endian::little, "the wire is little endian, and so is this code");

namespace {

// ---- wire layouts ---------------------------------------------------------------------------------------------------

struct Start {
    uint8_t type;
    uint8_t unused1[3];
    int32_t device;
    uint64_t size;
    uint8_t buffer_type;
    uint8_t unused2[3];
    int32_t process;
    uint64_t buffer;
    uint64_t timestamp;
    uint64_t dram, l1, l1_small, trace;
};

struct DeviceInfo {
    uint64_t total_dram, total_l1;
    uint32_t arch, dram_channels, dram_per_channel, l1_per_core, is_available, devices;
};

struct Layout112 {
    Start start;
    DeviceInfo info;
};

struct Layout144 {
    Start start;
    uint64_t cb, kernel;
    DeviceInfo info;
    uint32_t ring_total, ring_used, ring_programs, unused;
};

static_assert(sizeof(Start) == 72 && sizeof(Layout112) == 112 && sizeof(Layout144) == 144);
static_assert(offsetof(Start, device) == kDeviceOffset && offsetof(Start, size) == 8);
static_assert(offsetof(Start, buffer_type) == 16 && offsetof(Start, process) == kProcessOffset);
static_assert(offsetof(Start, buffer) == 24 && offsetof(Start, timestamp) == 32 &&
              offsetof(Start, dram) == 40);
static_assert(offsetof(Layout112, info) == 72 && offsetof(Layout144, cb) == 72 &&
              offsetof(Layout144, info) == 88);
static_assert(offsetof(DeviceInfo, arch) == 16 && offsetof(DeviceInfo, dram_channels) == 20);
static_assert(offsetof(DeviceInfo, dram_per_channel) == 24 && offsetof(DeviceInfo, l1_per_core) == 28);
static_assert(offsetof(DeviceInfo, is_available) == 32 && offsetof(DeviceInfo, devices) == 36);
static_assert(offsetof(Layout144, ring_total) == 128);

Start start_of(const WireAnswer& answer) {
    Start start{};
    start.type = static_cast<uint8_t>(answer.type);
    start.device = answer.device;
    start.process = answer.process;
    start.timestamp = answer.timestamp;
    start.dram = answer.dram;
    start.l1 = answer.l1;
    start.l1_small = answer.l1_small;
    start.trace = answer.trace;
    return start;
}

DeviceInfo info_of(const WireAnswer& answer) {
    return {answer.total_dram,       answer.total_l1,    answer.arch,         answer.dram_channels,
            answer.dram_per_channel, answer.l1_per_core, answer.is_available, answer.devices};
}

void take(WireAnswer& answer, const Start& start) {
    answer.type = static_cast<MessageType>(start.type);
    answer.device = start.device;
    answer.process = start.process;
    answer.timestamp = start.timestamp;
    answer.dram = start.dram;
    answer.l1 = start.l1;
    answer.l1_small = start.l1_small;
    answer.trace = start.trace;
}

void take(WireAnswer& answer, const DeviceInfo& info) {
    answer.total_dram = info.total_dram;
    answer.total_l1 = info.total_l1;
    answer.arch = info.arch;
    answer.dram_channels = info.dram_channels;
    answer.dram_per_channel = info.dram_per_channel;
    answer.l1_per_core = info.l1_per_core;
    answer.is_available = info.is_available;
    answer.devices = info.devices;
}

template <class Layout>
Layout read(Bytes bytes) {
    Layout layout;
    std::memcpy(&layout, bytes.data(), sizeof layout);
    return layout;
}

template <class Layout>
Message written(const Layout& layout) {
    Message message{};
    std::memcpy(message.data(), &layout, sizeof layout);
    return message;
}

}  // namespace

WireRequest decode_request(Bytes bytes) {
    Start start;
    std::memcpy(&start, bytes.data(), offsetof(Start, dram));
    return {start.type,    start.device, start.size,     start.buffer_type,
            start.process, start.buffer, start.timestamp};
}

Message encode(const WireRequest& request) {
    Start start{};
    start.type = request.type;
    start.device = request.device;
    start.size = request.size;
    start.buffer_type = request.buffer_type;
    start.process = request.process;
    start.buffer = request.buffer;
    start.timestamp = request.timestamp;
    return written(start);
}

Message encode(const WireAnswer& answer, Generation generation) {
    switch (generation) {
        case Generation::bytes_72:
            return written(start_of(answer));
        case Generation::bytes_112:
            return written(Layout112{start_of(answer), info_of(answer)});
        case Generation::bytes_144:
            return written(
                Layout144{start_of(answer), answer.cb, answer.kernel, info_of(answer), 0, 0, 0, 0});
    }
    return {};
}

WireAnswer decode_answer(Bytes message, Generation generation) {
    WireAnswer answer;
    switch (generation) {
        case Generation::bytes_72:
            take(answer, read<Start>(message));
            break;
        case Generation::bytes_112: {
            const auto layout = read<Layout112>(message);
            take(answer, layout.start);
            take(answer, layout.info);
            break;
        }
        case Generation::bytes_144: {
            const auto layout = read<Layout144>(message);
            take(answer, layout.start);
            take(answer, layout.info);
            answer.cb = layout.cb;
            answer.kernel = layout.kernel;
            break;
        }
    }
    return answer;
}

}  // namespace ttmem::sources::classic_wire
