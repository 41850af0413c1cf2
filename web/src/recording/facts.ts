// SPDX-License-Identifier: Apache-2.0
// Objects of a recording's tables (docs/SEGMENT_FORMAT.md), read from byte 8 on.

import type { AnyKind, Kind } from "../model/types";

/** Kinds by number; the three kinds of kernels are one. */
export const KIND_NAMES: readonly AnyKind[] = ["dram", "l1", "system_memory", "l1_small", "trace", "cb", "kernel", "kernel", "kernel"];
const ARCHITECTURES = [null, "grayskull", "wormhole_b0", "blackhole", "quasar"] as const;
const FAILURES = ["out_of_memory", "cb_clash", "unknown_free"] as const;
const NO_VALUE = -1;
const UNKNOWN_CORE = 255;

export interface MemoryFacts {
    base: number;
    size: number;
    capacity: number;
    banks: number;
}

export interface DeviceFacts {
    asic: bigint;
    logical: number;
    arch: string | null;
    board: string | null;
    memory: Partial<Record<Kind, MemoryFacts>>;
}

export function deviceOf(view: DataView): DeviceFacts {
    const board = new TextDecoder().decode(new Uint8Array(view.buffer, 24, 16)).replace(/\0.*$/s, "");
    const memory: Partial<Record<Kind, MemoryFacts>> = {};
    (["dram", "l1", null, "l1_small", "trace"] as const).forEach((kind, i) => {
        const at = 40 + 40 * i;
        const big = (offset: number): number => Number(view.getBigUint64(at + offset, true));
        if (kind !== null) memory[kind] = { base: big(0), size: big(8), capacity: big(16), banks: view.getUint32(at + 24, true) };
    });
    return {
        asic: view.getBigUint64(0, true), logical: view.getUint32(8, true), arch: ARCHITECTURES[view.getUint32(12, true)] ?? null,
        board: board === "" ? null : board, memory,
    };
}

export interface RecordedFailure {
    time: number;
    type: (typeof FAILURES)[number];
    kind: AnyKind | null;
    set: number;
    name: number;
    thread: number;
    requested: number;
    needed: number;
    free: number;
    largestFree: number;
    cbEnd: number;
    /** 0: none is in the way. */
    lowestBuffer: number;
    /** Where the circular buffers reach beyond it; else 0. */
    l1End: number;
    core: [number, number] | null;
    address: number;
    members: bigint;
    device: number;
}

export function failureOf(view: DataView, started: bigint): RecordedFailure {
    const big = (offset: number): number => Number(view.getBigUint64(offset, true));
    return {
        time: Number(view.getBigUint64(0, true) - started), type: FAILURES[view.getUint8(8)] ?? "out_of_memory",
        kind: KIND_NAMES[view.getUint8(9)] ?? null, set: view.getUint8(10), core: view.getUint8(11) === UNKNOWN_CORE ? null : [view.getUint8(11), view.getUint8(12)],
        requested: big(16), needed: big(24), free: big(32), largestFree: big(40), members: view.getBigUint64(56, true),
        name: view.getUint32(64, true), thread: view.getUint32(68, true), address: big(72),
        device: view.getUint8(15) === 0 ? NO_VALUE : view.getInt32(116, true), cbEnd: big(120), lowestBuffer: big(128), l1End: big(152),
    };
}
