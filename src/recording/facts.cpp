// SPDX-License-Identifier: Apache-2.0
#include "recording/facts.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace ttmem::recording {

namespace {

constexpr uint64_t kMostEntries = 65'536;

void write_optional(const std::optional<std::string>& value, ByteWriter& to) {
    to.number(value ? 1 : 0);
    if (value) {
        to.text(*value);
    }
}

// Texts of a recording are shown on terminals.
std::string read_text(ByteReader& from) { return base::printable(from.text()); }

std::optional<std::string> read_optional(ByteReader& from) {
    return from.number() != 0 ? std::optional(read_text(from)) : std::nullopt;
}

void write_device(const census::DriverDevice& device, ByteWriter& to) {
    to.number(device.id);
    to.number(device.asic_id ? 1 : 0);
    to.number(device.asic_id.value_or(0));
    write_optional(device.arch, to);
    write_optional(device.board, to);
    write_optional(device.facts.bdf, to);
    write_optional(device.facts.serial, to);
    write_optional(device.facts.firmware, to);
}

census::DriverDevice read_device(ByteReader& from) {
    census::DriverDevice device;
    device.id = static_cast<uint32_t>(from.number());
    const bool has_asic_id = from.number() != 0;
    const uint64_t asic_id = from.number();
    if (has_asic_id) {
        device.asic_id = asic_id;
    }
    device.arch = read_optional(from);
    device.board = read_optional(from);
    device.facts.bdf = read_optional(from);
    device.facts.serial = read_optional(from);
    device.facts.firmware = read_optional(from);
    return device;
}

}  // namespace

void write_facts(const HostFactsRecord& facts, ByteWriter& to) {
    to.text(facts.host);
    to.text(facts.program);
    to.number(facts.uid);
    to.number(facts.numbers.size());
    for (const census::DeviceNumber& number : facts.numbers) {
        to.number(static_cast<uint8_t>(number.key.type));
        to.number(number.key.value);
        to.number(number.id);
    }
    to.number(facts.has_driver ? 1 : 0);
    to.number(facts.devices.size());
    for (const census::DriverDevice& device : facts.devices) {
        write_device(device, to);
    }
}

HostFactsRecord read_host_facts(ByteReader& from) {
    HostFactsRecord facts;
    facts.host = read_text(from);
    facts.program = read_text(from);
    facts.uid = static_cast<uint32_t>(from.number());
    for (uint64_t i = std::min(from.number(), kMostEntries); i != 0 && from.is_good(); --i) {
        census::DeviceNumber number;
        number.key.type = static_cast<census::DeviceKey::KeyType>(from.number() % 3);
        number.key.value = from.number();
        number.id = static_cast<uint32_t>(from.number());
        facts.numbers.push_back(number);
    }
    facts.has_driver = from.number() != 0;
    for (uint64_t i = std::min(from.number(), kMostEntries); i != 0 && from.is_good(); --i) {
        facts.devices.push_back(read_device(from));
    }
    return facts;
}

void write_facts(const ProcessFactsRecord& facts, ByteWriter& to) {
    const census::Identity& who = facts.identity;
    to.number(who.pid);
    to.number(who.inner_pid);
    to.number(who.start_time);
    to.number(who.start_time_ns);
    to.number(who.uid);
    to.text(who.user);
    to.text(who.comm);
    to.number(static_cast<uint8_t>(facts.source));
    to.number((facts.is_older_than_ledger ? 1u : 0u) | (facts.has_changed_user ? 2u : 0u) |
              (facts.is_from_start ? 4u : 0u) | (who.has_one_uid ? 8u : 0u) |
              (facts.has_only_totals ? 16u : 0u));
    to.number(facts.slots);
    to.number(who.container ? 1 : 0);
    if (who.container) {
        to.text(who.container->runtime);
        to.text(who.container->id);
        write_optional(who.container->pod, to);
    }
}

ProcessFactsRecord read_process_facts(ByteReader& from) {
    ProcessFactsRecord facts;
    census::Identity& who = facts.identity;
    who.pid = static_cast<uint32_t>(from.number());
    who.inner_pid = static_cast<uint32_t>(from.number());
    who.start_time = from.number();
    who.start_time_ns = from.number();
    who.uid = static_cast<uint32_t>(from.number());
    who.user = read_text(from);
    who.comm = read_text(from);
    facts.source = from.number() == static_cast<uint8_t>(census::ProcessSource::classic)
                       ? census::ProcessSource::classic
                       : census::ProcessSource::segment;
    const uint64_t flags = from.number();
    facts.is_older_than_ledger = (flags & 1) != 0;
    facts.has_changed_user = (flags & 2) != 0;
    facts.is_from_start = (flags & 4) != 0;
    who.has_one_uid = (flags & 8) != 0;
    facts.has_only_totals = (flags & 16) != 0;
    facts.slots = static_cast<uint32_t>(from.number());
    if (from.number() != 0) {
        census::Container container;
        container.runtime = read_text(from);
        container.id = read_text(from);
        container.pod = read_optional(from);
        who.container = std::move(container);
    }
    return facts;
}

}  // namespace ttmem::recording
