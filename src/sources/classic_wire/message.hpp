// SPDX-License-Identifier: Apache-2.0
#pragma once

// The messages of the classic wire: fixed sizes, packed, little endian, with no length and no magic. Three generations
// are in use, and no message names its generation:
//
//     72 bytes    types 1 to 5, ends after the amounts of the four buffer kinds
//     112 bytes   the same, then the description of a device
//     144 bytes   the same as 72, then circular buffers and kernels, the description of a device, and the kernel ring
//
// The first 72 bytes are the same in all generations. docs/CLASSIC_WIRE.md has the table for authors of clients.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ttmem::sources::classic_wire {

using Bytes = std::span<const unsigned char>;

enum class Generation : uint8_t { bytes_72 = 72, bytes_112 = 112, bytes_144 = 144 };

inline constexpr std::array<Generation, 3> kGenerations = {Generation::bytes_72, Generation::bytes_112,
                                                           Generation::bytes_144};
constexpr size_t kShortest = 72;
constexpr size_t kLongest = 144;
constexpr size_t size_of(Generation generation) { return static_cast<size_t>(generation); }

enum class MessageType : uint8_t {
    allocate = 1,
    free = 2,
    query = 3,
    response = 4,
    dump_remaining = 5,
    device_info_query = 6,
    device_info_response = 7,
    cb_allocate = 8,
    cb_free = 9,
    kernel_load = 10,
    kernel_unload = 11,
    dump_kernels = 12,
};
constexpr uint8_t kFirstType = 1;
constexpr uint8_t kLastType = 12;
constexpr uint8_t kLastTypeOf72 = 5;

constexpr bool is_type(uint8_t type) { return type >= kFirstType && type <= kLastType; }

// The 72-byte generation is older than types 6 and above.
constexpr bool has_type(Generation generation, uint8_t type) {
    return is_type(type) && (generation != Generation::bytes_72 || type <= kLastTypeOf72);
}

// Clients make a list of all devices up to the highest number, so larger numbers do not exist on the wire.
constexpr uint32_t kMostDevices = 64;

// ---- requests: the same 40 bytes in all generations; the rest of the message is unused
// -------------------------------

constexpr size_t kDeviceOffset = 4;
constexpr size_t kProcessOffset = 20;
constexpr size_t kHeaderBytes = 24;  // type, device, size, buffer type, process

struct WireRequest {
    uint8_t type = 0;  // a MessageType, or an unassigned number
    int32_t device = 0;
    uint64_t size = 0;
    uint8_t buffer_type = 0;  // for a kernel: 0 application, 1 fabric, 2 dispatch
    int32_t process = 0;      // claimed by the client; not used
    uint64_t buffer = 0;      // address, or id of a circular buffer or kernel
    uint64_t timestamp = 0;

    bool operator==(const WireRequest&) const = default;
};

// `bytes` holds at least the shortest message.
WireRequest decode_request(Bytes bytes);

// ---- answers --------------------------------------------------------------------------------------------------------

struct WireAnswer {
    MessageType type = MessageType::response;
    int32_t device = 0;
    int32_t process = 0;
    uint64_t timestamp = 0;
    // Requested bytes on the whole host.
    uint64_t dram = 0, l1 = 0, l1_small = 0, trace = 0, cb = 0, kernel = 0;
    // The description of a device; 0 if unknown.
    uint64_t total_dram = 0, total_l1 = 0;
    uint32_t arch = 0;
    uint32_t dram_channels = 0, dram_per_channel = 0, l1_per_core = 0;
    uint32_t is_available = 0, devices = 0;

    bool operator==(const WireAnswer&) const = default;
};

using Message = std::array<unsigned char, kLongest>;

// The first size_of(generation) bytes of the result are the message; the rest is 0.
Message encode(const WireAnswer& answer, Generation generation);

// The client's side, for tests and benchmarks. Fields that the generation lacks are 0.
Message encode(const WireRequest& request);
WireAnswer decode_answer(Bytes message, Generation generation);

}  // namespace ttmem::sources::classic_wire
