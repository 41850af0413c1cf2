// SPDX-License-Identifier: Apache-2.0
// The banks of a device at a moment of a recording: blocks by address, with the gaps between them.

import type { AnyKind, BankMap, MapBlock } from "../model/types";
import type { Held } from "./columns";
import { KIND_NAMES } from "./facts";
import type { DeviceFacts, MemoryFacts } from "./facts";
import type { RecordedProcess, State } from "./recording";

const ADDS_NOTHING = 3;
export const MAPPED_KINDS: readonly AnyKind[] = ["dram", "l1", "l1_small", "trace"];

/** What one process holds; devices are by entry of its table. */
export interface MappedProcess {
    process: RecordedProcess;
    state: State;
    devices: Map<number, DeviceFacts & { id: number }>;
}

const kindOf = (held: Held): AnyKind => KIND_NAMES[held.kind] ?? "kernel";
const inOneBank = (bytes: number, banks: number): number => Math.ceil(bytes / Math.max(banks, 1));

function blockOf(held: Held, banks: number, state: State, at: number): MapBlock {
    return {
        address: held.address, bytes: inOneBank(held.reserved, banks), is_free: false, circular_buffers: 0, requested: held.requested, used: held.reserved,
        age_ns: at - held.time, name: state.nameOf(held.name),
    };
}

const gap = (from: number, to: number): MapBlock => ({
    address: from, bytes: to - from, is_free: true, circular_buffers: 0, requested: null, used: null, age_ns: null, name: null,
});

/** Whether the blocks lie in the bank one after the other. If they do not, the allocator follows other rules, and gaps are unknown. */
function fitInto(bank: MemoryFacts, blocks: readonly MapBlock[]): boolean {
    let end = bank.base;
    for (const block of blocks) {
        if (block.address < end) return false;
        end = block.address + block.bytes;
    }
    return bank.banks > 0 && end <= bank.base + bank.size;
}

function withGaps(bank: MemoryFacts, blocks: readonly MapBlock[]): MapBlock[] {
    const all: MapBlock[] = [];
    let from = bank.base;
    for (const block of [...blocks, gap(bank.base + bank.size, bank.base + bank.size)]) {
        if (block.address > from) all.push(gap(from, block.address));
        if (block.bytes > 0) all.push(block);
        from = block.address + block.bytes;
    }
    return all;
}

/** Null if it is not shown: L1 beside circular buffers, which lie core by core. */
export function mapsOf({ process, state, devices }: MappedProcess, device: number, kinds: readonly AnyKind[], at: number): BankMap[] | null {
    const maps: BankMap[] = [];
    const sets = [...state.sets.keys()].sort((a, b) => a - b).map((index) => {
        const facts = (state.openSet(index)?.members ?? []).flatMap((entry) => devices.get(entry) ?? []);
        const live = [...state.slots.values()].filter((held) => held.set === index && (held.flags & ADDS_NOTHING) === 0);
        return { index, facts, live, shown: facts.find((one) => one.id === device) };
    });
    if (kinds.includes("l1") && sets.some(({ shown, live }) => shown !== undefined && live.some((held) => kindOf(held) === "cb"))) return null;
    for (const { index, facts, live, shown } of sets) {
        if (shown === undefined) continue;
        for (const kind of MAPPED_KINDS.filter((one) => kinds.includes(one))) {
            const bank = shown.memory[kind as "dram"] ?? { base: 0, size: 0, capacity: 0, banks: 0 };
            const blocks = live.filter((held) => kindOf(held) === kind).map((held) => blockOf(held, bank.banks, state, at)).sort((a, b) => a.address - b.address);
            const isKnown = fitInto(bank, blocks);
            const all = isKnown ? withGaps(bank, blocks) : blocks;
            const gaps = all.filter((block) => block.is_free).map((block) => block.bytes);
            const known = (value: number): number | null => (bank.banks === 0 ? null : value);
            maps.push({
                device, pid: process.pid, set: state.nameOf(state.sets.get(index)?.label ?? 0), devices: facts.map((one) => one.id).sort((a, b) => a - b), kind,
                bank: { base: known(bank.base), size: known(bank.size), banks: known(bank.banks) }, shown_core: null,
                used: blocks.reduce((sum, block) => sum + block.bytes, 0), free: isKnown ? gaps.reduce((sum, bytes) => sum + bytes, 0) : null,
                largest_free: isKnown ? Math.max(0, ...gaps) : null, left_out: 0, blocks: all,
            });
        }
    }
    return maps;
}
