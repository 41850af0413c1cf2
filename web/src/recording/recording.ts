// SPDX-License-Identifier: Apache-2.0
// A recording, and what its processes held at any moment (docs/RECORDING_FORMAT.md). Times are nanoseconds since the recording began.

import { BLOCK, readBlocks } from "./block_file";
import type { Block } from "./block_file";
import { ByteReader, objectOf } from "./byte_reader";
import { EVENT, readEvents, readTables } from "./columns";
import type { Held, RecordedEvent, TableEntry } from "./columns";
import { failureOf } from "./facts";
import type { RecordedFailure } from "./facts";

const TABLE = { devices: 0, sets: 1, names: 5, failures: 6, marks: 12 } as const;
const FROM_START = 4;
const ONLY_TOTALS = 16;

export interface RecordedProcess {
    number: number;
    pid: number;
    /** It is another user's: only its sums are recorded, and not shown here. */
    hasOnlyTotals: boolean;
    startEpoch: number;
    uid: number;
    user: string;
    command: string;
    isFromStart: boolean;
    first: number;
    ended: number | null;
    blocks: Block[];
}

export interface DeviceSet {
    members: number[];
    /** The members in the order of the process: row by row of a mesh. */
    ordered: number[];
    rows: number;
    columns: number;
    opened: number;
    closed: number;
    label: number;
}

/** What a process held at one moment. */
export class State {
    readonly slots = new Map<number, Held>();
    readonly devices = new Map<number, DataView>();
    readonly sets = new Map<number, DeviceSet>();
    /** By entry of the table. */
    readonly failures = new Map<number, RecordedFailure>();
    /** By number. */
    readonly marks = new Map<number, { time: number; name: number }>();
    private readonly names = new Map<number, { parent: number; text: string }>();
    isLossy = false;

    constructor(private readonly started: bigint, private readonly at: number) {}

    add(entries: readonly TableEntry[]): void {
        for (const { table, index, bytes } of entries) {
            if (table === TABLE.devices) this.devices.set(index, objectOf(bytes, 248));
            else if (table === TABLE.sets) this.addSet(index, objectOf(bytes, 120));
            else if (table === TABLE.names) {
                const from = new ByteReader(bytes);
                this.names.set(index, { parent: from.number(), text: from.rest() });
            } else if (table === TABLE.failures) {
                const failure = failureOf(objectOf(bytes, 184), this.started);
                if (failure.time <= this.at) this.failures.set(index, failure);
            } else if (table === TABLE.marks) {
                const view = objectOf(new ByteReader(bytes).slice(), 24);
                const time = Number(view.getBigUint64(8, true) - this.started);
                if (time <= this.at) this.marks.set(index, { time, name: view.getUint32(16, true) });
            }
        }
    }

    /** A set counts from when it was opened. */
    private addSet(index: number, view: DataView): void {
        const time = (offset: number): number => {
            const ticks = view.getBigUint64(offset, true);
            return ticks === 0n ? Infinity : Number(ticks - this.started);
        };
        const opened = time(8);
        if (opened > this.at && this.sets.has(index)) return;
        const mask = view.getBigUint64(0, true);
        const members: number[] = [];
        for (let i = 0; i < 64; ++i) {
            if ((mask >> BigInt(i)) & 1n) members.push(i);
        }
        const ordered = members.map((_, i) => view.getUint8(56 + i));
        this.sets.set(index, { members, ordered, rows: view.getUint32(36, true), columns: view.getUint32(32, true), opened, closed: time(16), label: Number(view.getBigUint64(24, true)) });
    }

    /** The set of an allocation if it is open. */
    openSet(index: number): DeviceSet | null {
        const set = this.sets.get(index);
        return set === undefined || set.closed <= this.at || set.opened > this.at ? null : set;
    }

    nameOf(index: number): string | null {
        const parts: string[] = [];
        for (let at = index, steps = 0; at !== 0 && steps < 64; ++steps) {
            const name = this.names.get(at);
            if (name === undefined) break;
            parts.unshift(name.text);
            at = name.parent;
        }
        return parts.length === 0 ? null : parts.join("/");
    }

    apply(event: RecordedEvent): void {
        if (event.isLate) return;
        if (event.type === EVENT.allocate && event.held !== null) this.slots.set(event.slot, event.held);
        else if (event.type === EVENT.free) this.slots.delete(event.slot);
    }
}

export interface RecordedHost {
    host: string;
    /** Number by key. */
    numbers: Map<bigint, number>;
}

export class Recording {
    readonly processes: RecordedProcess[] = [];
    readonly problems: string[] = [];
    readonly started: bigint;
    readonly startedEpoch: number;
    first = Infinity;
    last = 0;
    host: RecordedHost = { host: "", numbers: new Map() };

    constructor(readonly name: string, bytes: Uint8Array) {
        const file = readBlocks(name, bytes);
        this.started = file.started;
        this.startedEpoch = file.startedEpoch;
        let isFinished = false;
        for (const block of file.blocks) {
            this.first = Math.min(this.first, block.first);
            this.last = Math.max(this.last, block.last);
            isFinished = block.type === BLOCK.finish;
            this.addBlock(block);
        }
        if (!isFinished) this.problems.push("the recording was not ended: its last second may lack events");
        const hidden = this.processes.filter((one) => one.hasOnlyTotals).length;
        if (hidden > 0) this.problems.push(`processes of other users, of which only totals are recorded: not shown (${hidden})`);
        if (file.cutBytes > 0) this.problems.push(`the recording was cut: its last block lacks its end (${counted(file.cutBytes)})`);
        if (file.damagedBytes > 0) this.problems.push(`${counted(file.damagedBytes)} inside the recording ${file.damagedBytes === 1 ? "is" : "are"} damaged`);
    }

    /** The number of a device; if it was not recorded, the one that its process uses, or else the lowest free one. */
    idOf(facts: { asic: bigint; logical: number }): number {
        const key = keyOf(facts);
        const known = this.host.numbers.get(key);
        if (known !== undefined) return known;
        const taken = new Set(this.host.numbers.values());
        let id = facts.logical;
        if (taken.has(id)) id = 0;
        while (taken.has(id)) ++id;
        this.host.numbers.set(key, id);
        return id;
    }

    private addBlock(block: Block): void {
        const process = this.processes.find((one) => one.number === block.process);
        if (block.type === BLOCK.ledger || block.type === BLOCK.events) process?.blocks.push(block);
        else if (block.type === BLOCK.end && process !== undefined) process.ended = block.last;
        else if (block.type === BLOCK.host || block.type === BLOCK.process) {
            const payload = block.payload();
            if (payload === null) return;
            const from = new ByteReader(payload);
            if (block.type === BLOCK.host) this.host = readHost(from);
            else if (process === undefined) this.processes.push(readProcess(from, block));
        }
    }

    /** Null if it is not known what the process held then, or it was not there. */
    stateOf(process: RecordedProcess, at: number): State | null {
        if (process.first > at || (process.ended !== null && process.ended <= at)) return null;
        let ledger = -1;
        process.blocks.forEach((block, i) => {
            if (block.type === BLOCK.ledger && block.last <= at) ledger = i;
        });
        if (ledger < 0 && !process.isFromStart) return null;
        const state = new State(this.started, at);
        for (const block of process.blocks.slice(Math.max(ledger, 0))) {
            if (block.type === BLOCK.events && block.first > at) break;
            const isBase = block.type === BLOCK.ledger && block === process.blocks[ledger];
            if (block.type === BLOCK.ledger && !isBase) continue;
            this.replay(state, block, at);
        }
        return state;
    }

    private replay(state: State, block: Block, at: number): void {
        if (block.lost > 0) state.isLossy = true;
        const payload = block.payload();
        if (payload === null) {
            state.isLossy = true;
            return;
        }
        const from = new ByteReader(payload);
        state.add(readTables(from));
        for (const event of readEvents(from, block.first)) {
            if (block.type === BLOCK.events && event.time > at) break;
            state.apply(event);
        }
    }

    /** Every event of a process in order, for what is shown over time. */
    *eventsOf(process: RecordedProcess): Generator<RecordedEvent> {
        for (const block of process.blocks) {
            const payload = block.type === BLOCK.events ? block.payload() : null;
            if (payload === null) continue;
            const from = new ByteReader(payload);
            readTables(from);
            yield* readEvents(from, block.first);
        }
    }
}

/** The ASIC id, or a negative number for a device without one, which is known by what its process calls it. */
const keyOf = ({ asic, logical }: { asic: bigint; logical: number }): bigint => (asic !== 0n ? asic : -1n - BigInt(logical));

const counted = (bytes: number): string => (bytes === 1 ? "1 byte" : `${bytes} bytes`);

function readHost(from: ByteReader): RecordedHost {
    const host = from.text();
    from.slice();
    from.number();
    const numbers = new Map<bigint, number>();
    for (let count = from.number(); count > 0; --count) {
        const type = from.number();
        const value = from.big();
        const id = from.number();
        if (type < 2) numbers.set(type === 0 ? value : keyOf({ asic: 0n, logical: Number(value) }), id);
    }
    return { host, numbers };
}

function readProcess(from: ByteReader, block: Block): RecordedProcess {
    const pid = from.number();
    from.number();
    from.number();
    const startEpoch = from.number();
    const uid = from.number();
    const user = from.text();
    const command = from.text();
    from.number();
    const flags = from.number();
    return {
        number: block.process, pid, hasOnlyTotals: (flags & ONLY_TOTALS) !== 0, startEpoch, uid, user, command, isFromStart: (flags & FROM_START) !== 0, first: block.first, ended: null, blocks: [],
    };
}
