// SPDX-License-Identifier: Apache-2.0
#include "recording/columns.hpp"

#include <algorithm>

#include "recording/format.hpp"

namespace ttmem::recording {

using segment::Allocation;
using segment::AllocationFlags;
using segment::AllocationKind;
using segment::EventType;
using segment::FailureType;

namespace {

// The type byte of an event.
constexpr uint8_t kTypeBits = 7;
constexpr uint8_t kLate = 8;
constexpr uint8_t kLacksDetails = 16;

}  // namespace

void ColumnWriter::add(const RecordedEvent& event) {
    ++count_;
    types_.byte(static_cast<uint8_t>(static_cast<uint8_t>(event.type) | (event.is_late ? kLate : 0) |
                                     (event.lacks_details ? kLacksDetails : 0)));
    // Rounded towards the event before, so that errors do not add up.
    const auto units =
        static_cast<uint64_t>(static_cast<int64_t>(event.time_ns - last_time_) / int64_t{kTimeUnitNs});
    times_.difference(units);
    last_time_ += units * kTimeUnitNs;
    switch (event.type) {
        case EventType::allocate:
            add_allocation(event);
            break;
        case EventType::free:
            slots_.difference(uint64_t{event.slot} - last_slot_);
            last_slot_ = event.slot;
            break;
        case EventType::open_set:
        case EventType::close_set:
            others_.number(event.allocation.set);
            break;
        case EventType::failure:
            others_.number(event.slot);
            others_.number(static_cast<uint8_t>(event.failure));
            others_.number(static_cast<uint8_t>(event.allocation.kind));
            others_.number(event.allocation.set);
            others_.number(event.allocation.name);
            others_.number(event.allocation.requested);
            break;
    }
}

void ColumnWriter::add_allocation(const RecordedEvent& event) {
    const Allocation& a = event.allocation;
    slots_.difference(uint64_t{event.slot} - last_slot_);
    last_slot_ = event.slot;
    const AllocationTemplate key{
        {uint64_t{a.name} << 32 | a.thread, uint64_t{a.core_set} << 32 | uint64_t{a.flags.bits} << 16 |
                                                uint64_t{a.set} << 8 | static_cast<uint64_t>(a.kind)}};
    const auto [found, is_new] = templates_.try_emplace(key, static_cast<uint32_t>(previous_.size()));
    template_numbers_.number(found->second);
    if (is_new) {
        previous_.emplace_back();
        template_fields_.number(static_cast<uint8_t>(a.kind));
        template_fields_.number(a.set);
        template_fields_.number(a.flags.bits);
        template_fields_.number(a.name);
        template_fields_.number(a.core_set);
        template_fields_.number(a.thread);
    }
    Previous& before = previous_[found->second];
    const uint64_t rounding = a.reserved - a.requested;
    requested_.difference(a.requested - before.requested);
    rounding_.difference(rounding - before.rounding);
    addresses_.difference(a.address - before.address);
    owners_.difference(a.owner - last_owner_);
    before = {a.requested, rounding, a.address};
    last_owner_ = a.owner;
}

void ColumnWriter::write(ByteWriter& to) const {
    to.number(count_);
    for (const ByteWriter* column : {&types_, &times_, &slots_, &template_numbers_, &template_fields_,
                                     &requested_, &rounding_, &addresses_, &owners_, &others_}) {
        to.text(column->bytes());
    }
}

ColumnReader::ColumnReader(ByteReader& from, uint64_t first_ns)
    : count_(from.number()),
      left_(count_),
      last_time_(first_ns),
      types_(from.text()),
      times_(from.text()),
      slots_(from.text()),
      template_numbers_(from.text()),
      template_fields_(from.text()),
      requested_(from.text()),
      rounding_(from.text()),
      addresses_(from.text()),
      owners_(from.text()),
      others_(from.text()) {
    is_good_ = from.is_good() && types_.left() == count_;
    left_ = is_good_ ? left_ : 0;
}

bool ColumnReader::is_good() const {
    return is_good_ && left_ == 0 && times_.is_good() && slots_.is_good() && template_numbers_.is_good() &&
           template_fields_.is_good() && requested_.is_good() && rounding_.is_good() &&
           addresses_.is_good() && owners_.is_good() && others_.is_good();
}

bool ColumnReader::next(RecordedEvent& event) {
    if (left_ == 0) {
        return false;
    }
    --left_;
    const uint8_t type = types_.byte();
    event = RecordedEvent();
    event.type = static_cast<EventType>(type & kTypeBits);
    event.is_late = (type & kLate) != 0;
    event.lacks_details = (type & kLacksDetails) != 0;
    last_time_ += times_.difference() * kTimeUnitNs;
    event.time_ns = last_time_;
    switch (event.type) {
        case EventType::allocate:
            return read_allocation(event);
        case EventType::free:
            last_slot_ += static_cast<uint32_t>(slots_.difference());
            event.slot = last_slot_;
            return true;
        case EventType::open_set:
        case EventType::close_set:
            event.allocation.set = static_cast<uint8_t>(others_.number());
            return true;
        case EventType::failure:
            event.slot = static_cast<uint32_t>(others_.number());
            event.failure = static_cast<FailureType>(others_.number() % segment::kFailureTypes);
            event.allocation.kind = static_cast<AllocationKind>(others_.number() & 15);
            event.allocation.set = static_cast<uint8_t>(others_.number());
            event.allocation.name = static_cast<uint32_t>(others_.number());
            event.allocation.requested = others_.number();
            return true;
    }
    is_good_ = false;  // of a newer writer, or damaged
    left_ = 0;
    return false;
}

bool ColumnReader::read_allocation(RecordedEvent& event) {
    last_slot_ += static_cast<uint32_t>(slots_.difference());
    event.slot = last_slot_;
    const uint64_t number = template_numbers_.number();
    if (number == previous_.size()) {
        Allocation fields;
        fields.kind = static_cast<AllocationKind>(template_fields_.number() & 15);
        fields.set = static_cast<uint8_t>(template_fields_.number());
        fields.flags = AllocationFlags(static_cast<uint16_t>(template_fields_.number()));
        fields.name = static_cast<uint32_t>(template_fields_.number());
        fields.core_set = static_cast<uint16_t>(template_fields_.number());
        fields.thread = static_cast<uint32_t>(template_fields_.number());
        previous_.push_back(fields);
    }
    if (number >= previous_.size()) {
        is_good_ = false;
        left_ = 0;
        return false;
    }
    Allocation& a = previous_[number];
    const uint64_t rounding = a.reserved - a.requested + rounding_.difference();
    a.requested += requested_.difference();
    a.reserved = a.requested + rounding;
    a.address += addresses_.difference();
    last_owner_ += owners_.difference();
    a.owner = last_owner_;
    event.allocation = a;
    return true;
}

}  // namespace ttmem::recording
