// SPDX-License-Identifier: Apache-2.0
// The addresses of a bank as pixels. Rectangles would take a hundred times as long: 100,000 blocks are 2 ms of pixels.

import type { Window } from "../model/layout";
import { nameColor } from "../model/theme";
import type { Theme } from "../model/theme";
import type { MapBlock } from "../model/types";

const pack = ([red, green, blue]: readonly [number, number, number]): number =>
    (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;

/** The first block that ends after the address. */
export function firstAfter(blocks: readonly MapBlock[], address: number): number {
    let low = 0;
    let high = blocks.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        const block = blocks[middle] as MapBlock;
        if (block.address + block.bytes > address) high = middle;
        else low = middle + 1;
    }
    return low;
}

/** Colours of one row of pixels; 0 where nothing is known to be. A used block is at least one pixel wide. */
export function stripColors(blocks: readonly MapBlock[], window: Window, width: number, mode: Theme): Uint32Array {
    const row = new Uint32Array(width);
    const scale = width / (window.to - window.from);
    const free = pack(mode === "dark" ? [26, 32, 40] : [236, 240, 244]);
    const edge = pack(mode === "dark" ? [12, 15, 19] : [255, 255, 255]);
    const colors = new Map<string | null, number>();
    for (let i = firstAfter(blocks, window.from); i < blocks.length; ++i) {
        const block = blocks[i] as MapBlock;
        if (block.address >= window.to) break;
        const from = Math.max(Math.floor((block.address - window.from) * scale), 0);
        const to = Math.min(Math.max(Math.ceil((block.address + block.bytes - window.from) * scale), from + 1), width);
        if (block.is_free) {
            for (let x = from; x < to; ++x) if (row[x] === 0) row[x] = free;
            continue;
        }
        let color = colors.get(block.name);
        if (color === undefined) {
            color = pack(nameColor(block.name, mode));
            colors.set(block.name, color);
        }
        row.fill(color, from, to);
        if (to - from > 4) row[to - 1] = edge;
    }
    return row;
}

export function drawStrip(context: CanvasRenderingContext2D, row: Uint32Array, top: number, height: number): void {
    const image = context.createImageData(row.length, height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let y = 0; y < height; ++y) pixels.set(row, y * row.length);
    context.putImageData(image, 0, top);
}
