// SPDX-License-Identifier: Apache-2.0
// The blocks of a recording (docs/RECORDING_FORMAT.md). The messages are those of the command line.

import { decompress } from "fzstd";
import { checksum } from "./byte_reader";

const FILE_MAGIC = 0x4345524d454d5454n;
const BLOCK_MAGIC = 0x4b424d54;
const VERSION = 1;
const HEADER_BYTES = 64;
const LARGEST_PAYLOAD = 1 << 28;

export const BLOCK = { host: 1, process: 2, ledger: 3, events: 4, end: 5, finish: 6 } as const;

export interface Block {
    type: number;
    process: number;
    events: number;
    lost: number;
    /** In nanoseconds since the recording began. */
    first: number;
    last: number;
    /** Null if it is damaged. */
    payload: () => Uint8Array | null;
}

export interface BlockFile {
    /** When the recording began: on the host's monotonic clock, and since the epoch. */
    started: bigint;
    startedEpoch: number;
    blocks: Block[];
    cutBytes: number;
    damagedBytes: number;
}

function blockAt(bytes: Uint8Array, view: DataView, at: number, started: bigint): { block: Block; next: number } | null {
    if (at + HEADER_BYTES > bytes.length || view.getUint32(at, true) !== BLOCK_MAGIC) return null;
    if (checksum(bytes.subarray(at + 8, at + HEADER_BYTES)) !== view.getUint32(at + 4, true)) return null;
    const stored = view.getUint32(at + 24, true);
    const raw = view.getUint32(at + 28, true);
    const next = at + HEADER_BYTES + stored;
    if (next > bytes.length) return null;
    const payload = (): Uint8Array | null => {
        const content = bytes.subarray(at + HEADER_BYTES, next);
        if (checksum(content) !== view.getUint32(at + 8, true) || raw > LARGEST_PAYLOAD) return null;
        if (view.getUint8(at + 13) === 0) return content;
        try {
            const plain = decompress(content, new Uint8Array(raw));
            return plain.length === raw ? plain : null;
        } catch {
            return null;
        }
    };
    const time = (offset: number): number => Number(view.getBigUint64(at + offset, true) - started);
    return {
        block: {
            type: view.getUint8(at + 12), process: view.getUint32(at + 16, true), events: Number(view.getBigUint64(at + 48, true)),
            lost: Number(view.getBigUint64(at + 56, true)), first: time(32), last: time(40), payload,
        },
        next,
    };
}

/** Throws an error with the command line's message if it is no recording. */
export function readBlocks(name: string, bytes: Uint8Array): BlockFile {
    if (bytes.length === 0) throw new Error(`${name} is not a recording: it is empty`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    if (bytes.length < 8 || view.getBigUint64(0, true) !== FILE_MAGIC) {
        throw new Error(`${name} is not a recording (make one with 'ttmem record -o FILE')`);
    }
    if (bytes.length < HEADER_BYTES) throw new Error(`${name} is a recording that was cut before its first block`);
    const version = view.getUint32(8, true);
    if (version !== VERSION) throw new Error(`${name} has version ${version}, this page reads ${VERSION}: upgrade ttmem`);
    if (checksum(bytes.subarray(0, 60)) !== view.getUint32(60, true)) throw new Error(`${name} is a damaged recording: its header is wrong`);
    const started = view.getBigUint64(40, true);
    const file: BlockFile = {
        started, startedEpoch: Number(BigInt.asUintN(64, started + view.getBigUint64(48, true))), blocks: [], cutBytes: 0, damagedBytes: 0,
    };
    let at = view.getUint32(12, true);
    while (at < bytes.length) {
        const found = blockAt(bytes, view, at, started);
        if (found !== null) {
            file.blocks.push(found.block);
            at = found.next;
            continue;
        }
        let next = at + 1;
        while (next < bytes.length && blockAt(bytes, view, next, started) === null) ++next;
        if (next >= bytes.length) file.cutBytes = bytes.length - at;
        else file.damagedBytes += next - at;
        at = next;
    }
    if (file.blocks.length === 0) throw new Error(`${name} is a recording that was cut before its first block`);
    return file;
}
