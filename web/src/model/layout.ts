// SPDX-License-Identifier: Apache-2.0
// Where things are drawn: pure functions, tested without a browser.

import type { Scope } from "./tree";

export interface Box {
    x: number;
    y: number;
    width: number;
    height: number;
    scope: Scope;
    isLeaf: boolean;
}

const TITLE = 18;
const LEAST = 3;

/** A squarified treemap of the scope. Scopes with room for it have a title line above their children. */
export function treemap(root: Scope, width: number, height: number, depth = 3): Box[] {
    const boxes: Box[] = [];
    place(root.children, { x: 0, y: 0, width, height }, depth, boxes);
    return boxes;
}

interface Area {
    x: number;
    y: number;
    width: number;
    height: number;
}

function place(scopes: readonly Scope[], area: Area, depth: number, boxes: Box[]): void {
    const list = scopes.filter((one) => one.bytes > 0);
    const total = list.reduce((sum, one) => sum + one.bytes, 0);
    if (total <= 0 || area.width < LEAST || area.height < LEAST) return;
    const scale = (area.width * area.height) / total;
    let { x, y, width, height } = area;
    for (let start = 0; start < list.length;) {
        const side = Math.min(width, height);
        if (side < 1) return;
        let end = start;
        let sum = 0;
        let worst = Infinity;
        while (end < list.length) {
            const next = sum + (list[end]?.bytes ?? 0) * scale;
            const ratio = aspect(list, start, end, next, side, scale);
            if (ratio > worst) break;
            worst = ratio;
            sum = next;
            ++end;
        }
        const thick = sum / side;
        let offset = 0;
        for (let i = start; i < end; ++i) {
            const one = list[i] as Scope;
            const long = (one.bytes * scale) / thick;
            add(one, width >= height
                ? { x, y: y + offset, width: thick, height: long }
                : { x: x + offset, y, width: long, height: thick }, depth, boxes);
            offset += long;
        }
        if (width >= height) {
            x += thick;
            width -= thick;
        } else {
            y += thick;
            height -= thick;
        }
        start = end;
    }
}

function aspect(list: readonly Scope[], start: number, end: number, sum: number, side: number, scale: number): number {
    const largest = (list[start]?.bytes ?? 0) * scale;
    const smallest = (list[end]?.bytes ?? 0) * scale;
    return Math.max((side * side * largest) / (sum * sum), (sum * sum) / (side * side * Math.max(smallest, 1e-9)));
}

function add(scope: Scope, area: Area, depth: number, boxes: Box[]): void {
    const hasRoom = area.width > 44 && area.height > TITLE + 22;
    const isLeaf = scope.children.length === 0 || depth <= 1 || !hasRoom;
    boxes.push({ ...area, scope, isLeaf });
    if (!isLeaf) {
        place(scope.children, {
            x: area.x + 2, y: area.y + TITLE, width: area.width - 4, height: area.height - TITLE - 2,
        }, depth - 1, boxes);
    }
}

/** Rows of a flame graph, the root on top. Scopes narrower than half a pixel are left out. */
export function flame(root: Scope, width: number, rowHeight: number): Box[] {
    const boxes: Box[] = [];
    const walk = (scope: Scope, x: number, room: number): void => {
        if (room < 0.5) return;
        boxes.push({
            x, y: (scope.depth - root.depth) * rowHeight, width: room, height: rowHeight - 1,
            scope, isLeaf: scope.children.length === 0,
        });
        let at = x;
        for (const child of scope.children) {
            const share = scope.bytes > 0 ? (room * child.bytes) / scope.bytes : 0;
            walk(child, at, share);
            at += share;
        }
    };
    if (root.bytes > 0) walk(root, 0, width);
    return boxes;
}

/** The innermost box at a point. */
export function boxAt(boxes: readonly Box[], x: number, y: number): Box | null {
    for (let i = boxes.length - 1; i >= 0; --i) {
        const box = boxes[i] as Box;
        if (x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height) return box;
    }
    return null;
}

export interface Window {
    from: number;
    to: number;
}

/** The part of a bank that is shown, after a zoom by `factor` around `at`. It stays in the bank and is at least 64 bytes long. */
export function zoom(window: Window, whole: Window, at: number, factor: number): Window {
    const length = Math.min(Math.max((window.to - window.from) * factor, 64), whole.to - whole.from);
    const share = (at - window.from) / (window.to - window.from);
    return clamp({ from: at - share * length, to: at + (1 - share) * length }, whole);
}

export function pan(window: Window, whole: Window, by: number): Window {
    return clamp({ from: window.from + by, to: window.to + by }, whole);
}

function clamp(window: Window, whole: Window): Window {
    const length = Math.min(window.to - window.from, whole.to - whole.from);
    const from = Math.min(Math.max(window.from, whole.from), whole.to - length);
    return { from, to: from + length };
}

/** The index of the block that contains the address; -1 if none does. Blocks are ascending. */
export function blockAt(blocks: readonly { address: number; bytes: number }[], address: number): number {
    let low = 0;
    let high = blocks.length - 1;
    while (low <= high) {
        const middle = (low + high) >> 1;
        const block = blocks[middle] as { address: number; bytes: number };
        if (address < block.address) high = middle - 1;
        else if (address >= block.address + block.bytes) low = middle + 1;
        else return middle;
    }
    return -1;
}
