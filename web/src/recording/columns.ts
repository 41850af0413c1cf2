// SPDX-License-Identifier: Apache-2.0
// Tables and columns of ledgers and events (docs/RECORDING_FORMAT.md).

import { ByteReader } from "./byte_reader";

export const TIME_UNIT_NS = 16;
export const EVENT = { allocate: 1, free: 2, open_set: 3, close_set: 4, failure: 5 } as const;

export interface TableEntry {
    table: number;
    index: number;
    bytes: Uint8Array;
}

export interface Held {
    kind: number;
    set: number;
    flags: number;
    name: number;
    coreSet: number;
    thread: number;
    requested: number;
    reserved: number;
    address: number;
    /** When it was made, in nanoseconds since the recording began. */
    time: number;
}

export interface RecordedEvent {
    type: number;
    isLate: boolean;
    time: number;
    slot: number;
    /** Of an allocation. */
    held: Held | null;
}

interface Template {
    kind: number;
    set: number;
    flags: number;
    name: number;
    coreSet: number;
    thread: number;
    requested: number;
    rounding: number;
    address: number;
}

export function readTables(from: ByteReader): TableEntry[] {
    const entries: TableEntry[] = [];
    for (let count = from.number(); count > 0; --count) {
        entries.push({ table: from.number(), index: from.number(), bytes: from.slice() });
    }
    return entries;
}

/** `first` is the time of the block's first event. */
export function readEvents(from: ByteReader, first: number): RecordedEvent[] {
    const count = from.number();
    const column = (): ByteReader => new ByteReader(from.slice());
    const types = column(), times = column(), slots = column(), numbers = column(), fields = column();
    const requested = column(), rounding = column(), addresses = column();
    const templates: Template[] = [];
    const events: RecordedEvent[] = [];
    let time = first;
    let slot = 0;
    for (let i = 0; i < count; ++i) {
        const byte = types.byte();
        const type = byte & 7;
        time += times.difference() * TIME_UNIT_NS;
        let held: Held | null = null;
        if (type === EVENT.allocate || type === EVENT.free) slot = (slot + slots.difference()) >>> 0;
        if (type === EVENT.allocate) {
            const number = numbers.number();
            const template = templates[number] ?? {
                kind: fields.number(), set: fields.number(), flags: fields.number(), name: fields.number(), coreSet: fields.number(),
                thread: fields.number(), requested: 0, rounding: 0, address: 0,
            };
            templates[number] = template;
            template.requested += requested.difference();
            template.rounding += rounding.difference();
            template.address += addresses.difference();
            const { kind, set, flags, name, coreSet, thread, address } = template;
            held = { kind, set, flags, name, coreSet, thread, requested: template.requested, reserved: template.requested + template.rounding, address, time };
        }
        events.push({ type, isLate: (byte & 8) !== 0, time, slot, held });
    }
    return events;
}
