// SPDX-License-Identifier: Apache-2.0
// The addresses of a bank: used blocks by the colour of their name, gaps, and the largest free block. Zoomable to one allocation.

import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawStrip, firstAfter, stripColors } from "../draw/strip";
import { blockAt, pan, zoom } from "../model/layout";
import type { Window } from "../model/layout";
import { theme } from "../model/theme";
import type { MapBlock } from "../model/types";
import { address, age, bytes, nameOf, percent } from "../model/units";
import { save } from "../parts/basics";
import { useWidth } from "../parts/hooks";

const OVERVIEW = 16;
const GAP = 6;
const STRIP = 78;
const HEIGHT = OVERVIEW + GAP + STRIP;
// Bytes around an address whose block is not known yet.
const AROUND = 65_536;

function describe(block: MapBlock): string {
    const end = block.address + block.bytes;
    const place = `${address(block.address)} to ${address(end)}, ${bytes(block.bytes)} per bank`;
    if (block.is_free) return `free: ${place}`;
    const buffers = block.circular_buffers > 0 ? `${block.circular_buffers} circular buffers, ` : "";
    return `${buffers}${nameOf(block.name)}: ${place}${block.age_ns === null ? "" : `, ${age(block.age_ns)} old`}`;
}

function drawLabels(context: CanvasRenderingContext2D, blocks: readonly MapBlock[], window: Window, width: number, ratio: number): void {
    const scale = width / (window.to - window.from);
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    let left = 60;
    for (let i = firstAfter(blocks, window.from); i < blocks.length && left > 0; ++i) {
        const block = blocks[i] as MapBlock;
        if (block.address >= window.to) break;
        const from = Math.max((block.address - window.from) * scale, 0);
        const to = Math.min((block.address + block.bytes - window.from) * scale, width);
        if (to - from < 56 * ratio) continue;
        --left;
        context.save();
        context.beginPath();
        context.rect(from, (OVERVIEW + GAP) * ratio, to - from - 6 * ratio, STRIP * ratio);
        context.clip();
        context.fillStyle = block.is_free ? (theme.value === "dark" ? "#93a1b1" : "#566270") : theme.value === "dark" ? "#ffffff" : "#10151b";
        const middle = (OVERVIEW + GAP + STRIP / 2) * ratio;
        context.fillText(block.is_free ? "free" : nameOf(block.name), from + 7 * ratio, middle - 9 * ratio);
        context.globalAlpha = 0.85;
        context.fillText(bytes(block.bytes), from + 7 * ratio, middle + 9 * ratio);
        context.restore();
    }
}

/** What a link says of a map: the addresses that it shows, and the block that is chosen. */
export interface MapPlace {
    window: Window | null;
    chosen: number | null;
}

const FETCH_MS = 150;
const LINK_MS = 300;

/** The blocks of a part of the bank, for a map that has more blocks than one answer. */
interface Part {
    window: Window;
    blocks: readonly MapBlock[];
}

/** The blocks around the window: all, or those of a part that is asked for when it is not there. */
function useBlocks(blocks: readonly MapBlock[], window: Window, whole: Window, more: ((window: Window) => Promise<MapBlock[]>) | null): readonly MapBlock[] {
    const [part, setPart] = useState<Part | null>(null);
    const of = useRef(blocks);
    const end = blocks[blocks.length - 1];
    const isCovered = more === null || (end !== undefined && window.to <= end.address + end.bytes);
    const isWhole = window.from <= whole.from && window.to >= whole.to;
    const isInPart = part !== null && part.window.from <= window.from && part.window.to >= window.to;
    useEffect(() => {
        // What was asked for before is asked for again with each new answer of the whole.
        if (more === null || isCovered || isWhole || (isInPart && of.current === blocks)) return;
        of.current = blocks;
        let isGone = false;
        const timer = setTimeout(() => {
            const length = window.to - window.from;
            const wanted = { from: Math.max(Math.floor(window.from - length), whole.from), to: Math.min(Math.ceil(window.to + length), whole.to) };
            more(wanted).then((found) => {
                if (!isGone) setPart({ window: wanted, blocks: found });
            }, () => undefined);  // What is there stays; the next answer of the whole asks again.
        }, FETCH_MS);
        return () => {
            isGone = true;
            clearTimeout(timer);
        };
    }, [blocks, isCovered || isInPart || isWhole ? "" : `${window.from} ${window.to}`]);
    return !isCovered && part !== null && part.window.from <= window.to && part.window.to >= window.from ? part.blocks : blocks;
}

export function AddressMap({ label, base, size, blocks: known, largestFree, largestAt = null, more = null, place = null, onPlace }: {
    label: string; base: number; size: number; blocks: readonly MapBlock[]; largestFree: number | null; largestAt?: number | null;
    more?: ((window: Window) => Promise<MapBlock[]>) | null; place?: MapPlace | null; onPlace?: (place: MapPlace) => void;
}): VNode {
    const whole: Window = { from: base, to: base + size };
    const [box, width] = useWidth();
    const canvas = useRef<HTMLCanvasElement>(null);
    const [window_, setWindow] = useState<Window>(place?.window ? pan(place.window, whole, 0) : whole);
    const blocks = useBlocks(known, window_, whole, more);
    const [shownAt, setShownAt] = useState<number | null>(null);
    const shown = shownAt === null ? -1 : blockAt(blocks, shownAt);
    const drag = useRef<{ x: number; window: Window; isOverview: boolean } | null>(null);
    const state = useRef({ window: window_, width, shownAt });
    state.current = { window: window_, width, shownAt };
    // An address to open when the blocks around it are there.
    const wanted = useRef<number | null>(null);
    const link = useRef(0);
    const gapAt = useMemo(() => largestAt ?? blocks.find((block) => block.is_free && block.bytes === largestFree)?.address ?? null,
        [blocks, largestAt, largestFree]);
    const largest = gapAt === null ? -1 : blockAt(blocks, gapAt);

    /** A link to this view shows the same. */
    const tell = (next: Window, chosen: number | null): void => {
        clearTimeout(link.current);
        if (onPlace === undefined) return;
        const isWhole = next.from <= whole.from && next.to >= whole.to;
        link.current = window.setTimeout(() => onPlace({ window: isWhole ? null : next, chosen }), LINK_MS);
    };
    const moveTo = (next: Window, chosen: number | null = state.current.shownAt): void => {
        setWindow(next);
        tell(next, chosen);
    };
    const openAt = (at: number): void => {
        const found = blockAt(blocks, at);
        if (found >= 0) {
            open(found);
            return;
        }
        if (more === null) return;
        wanted.current = at;
        setWindow(pan({ from: at - AROUND / 2, to: at + AROUND / 2 }, whole, 0));
    };
    const bank = `${base} ${size}`;
    const lastBank = useRef(bank);
    useEffect(() => {
        if (lastBank.current !== bank) setWindow(whole);
        lastBank.current = bank;
    }, [bank]);
    useEffect(() => {
        if (place?.chosen === null || place?.chosen === undefined || place.chosen === shownAt) return;
        if (place.window === null) openAt(place.chosen);
        else setShownAt(place.chosen);
    }, [place?.chosen, known.length > 0]);
    useEffect(() => {
        if (wanted.current === null) return;
        const found = blockAt(blocks, wanted.current);
        if (found < 0) return;
        wanted.current = null;
        open(found);
    }, [blocks]);
    useEffect(() => () => clearTimeout(link.current), []);

    useEffect(() => {
        const element = canvas.current;
        const context = element?.getContext("2d");
        if (!element || !context || width === 0) return;
        const ratio = devicePixelRatio || 1;
        const pixels = Math.round(width * ratio);
        element.width = pixels;
        element.height = Math.round(HEIGHT * ratio);
        drawStrip(context, stripColors(known, whole, pixels, theme.value), 0, Math.round(OVERVIEW * ratio));
        drawStrip(context, stripColors(blocks, window_, pixels, theme.value), Math.round((OVERVIEW + GAP) * ratio), Math.round(STRIP * ratio));
        drawLabels(context, blocks, window_, pixels, ratio);
        const at = (value: number): number => ((value - base) / size) * pixels;
        context.strokeStyle = theme.value === "dark" ? "#ffffff" : "#000000";
        context.lineWidth = 1.5 * ratio;
        context.strokeRect(at(window_.from) + 1, 1, Math.max(at(window_.to) - at(window_.from) - 2, 2), OVERVIEW * ratio - 2);
        const inWindow = (value: number): number => ((value - window_.from) / (window_.to - window_.from)) * pixels;
        const frame = (index: number, dash: number[]): void => {
            const block = blocks[index];
            if (block === undefined) return;
            const from = inWindow(block.address);
            context.setLineDash(dash);
            context.strokeRect(from + 1, (OVERVIEW + GAP) * ratio + 1, Math.max(inWindow(block.address + block.bytes) - from - 2, 2), STRIP * ratio - 2);
        };
        frame(largest, [5 * ratio, 4 * ratio]);
        frame(shown, []);
    }, [known, blocks, window_, width, shown, largest, theme.value]);

    function open(index: number): void {
        const block = blocks[index];
        if (block === undefined) return;
        setShownAt(block.address);
        const length = Math.min(Math.max(block.bytes * 3, 64), size);
        moveTo(pan({ from: block.address - (length - block.bytes) / 2, to: block.address + (length + block.bytes) / 2 }, whole, 0), block.address);
    }
    /** The block behind or before the chosen one, also if it is not here yet. */
    function next(by: 1 | -1): void {
        const index = Math.max(shown + by, 0);
        const last = blocks[blocks.length - 1];
        const first = blocks[0];
        if (index >= blocks.length && last !== undefined && more !== null) openAt(last.address + last.bytes);
        else if (shown === 0 && by < 0 && first !== undefined && more !== null && first.address > base) openAt(first.address - 1);
        else open(Math.min(index, blocks.length - 1));
    }
    const addressAt = (x: number): number => {
        const { window: now, width: room } = state.current;
        return now.from + (x / Math.max(room, 1)) * (now.to - now.from);
    };

    useEffect(() => {
        const element = canvas.current;
        if (element === null) return;
        const wheel = (event: WheelEvent): void => {
            if (!event.ctrlKey && !event.shiftKey && document.activeElement !== element) return;
            event.preventDefault();
            const now = state.current.window;
            moveTo(Math.abs(event.deltaX) > Math.abs(event.deltaY)
                ? pan(now, whole, (event.deltaX / Math.max(state.current.width, 1)) * (now.to - now.from))
                : zoom(now, whole, addressAt(event.offsetX), event.deltaY > 0 ? 1.25 : 0.8));
        };
        element.addEventListener("wheel", wheel, { passive: false });
        return () => element.removeEventListener("wheel", wheel);
    }, [base, size]);

    const hover = (x: number): void => setShownAt(blocks[blockAt(blocks, addressAt(x))]?.address ?? null);
    const key = (event: KeyboardEvent): void => {
        const length = window_.to - window_.from;
        const middle = window_.from + length / 2;
        const actions: Record<string, () => void> = {
            "+": () => moveTo(zoom(window_, whole, middle, 0.5)), "=": () => moveTo(zoom(window_, whole, middle, 0.5)),
            "-": () => moveTo(zoom(window_, whole, middle, 2)), "0": () => moveTo(whole),
            ArrowLeft: () => moveTo(pan(window_, whole, -length / 8)), ArrowRight: () => moveTo(pan(window_, whole, length / 8)),
            n: () => next(1), N: () => next(-1),
            g: () => gapAt !== null && openAt(gapAt),
        };
        const action = actions[event.key];
        if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        action();
    };
    const block = blocks[shown];
    return (
        <div class="address-map" ref={box}>
            <canvas ref={canvas} tabIndex={0} role="img" style={{ height: `${HEIGHT}px` }}
                aria-label={`${label}, ${blocks.filter((one) => !one.is_free).length} blocks. Keys: plus and minus zoom, arrows move, n and N choose a block, g the largest gap, 0 the whole.`}
                onKeyDown={key}
                onDblClick={(event) => open(blockAt(blocks, addressAt(event.offsetX)))}
                onPointerDown={(event) => {
                    canvas.current?.setPointerCapture(event.pointerId);
                    drag.current = { x: event.offsetX, window: window_, isOverview: event.offsetY < OVERVIEW };
                    if (event.offsetY >= OVERVIEW) hover(event.offsetX);
                }}
                onPointerMove={(event) => {
                    const from = drag.current;
                    if (from === null) {
                        if (event.offsetY > OVERVIEW) hover(event.offsetX);
                        return;
                    }
                    const by = ((event.offsetX - from.x) / Math.max(width, 1)) * (from.isOverview ? size : -(from.window.to - from.window.from));
                    moveTo(pan(from.window, whole, by));
                }}
                onPointerUp={() => (drag.current = null)} />
            <div class="map-line">
                <span aria-live="polite">{block === undefined
                    ? `${address(window_.from)} to ${address(window_.to)}: ${bytes(window_.to - window_.from)} of ${bytes(size)}`
                    : describe(block)}</span>
                <span class="map-tools">
                    {gapAt !== null && <button type="button" onClick={() => openAt(gapAt)}>largest gap {bytes(largestFree)}, {percent(largestFree, size)}</button>}
                    <button type="button" aria-label="zoom in" onClick={() => moveTo(zoom(window_, whole, (window_.from + window_.to) / 2, 0.5))}>+</button>
                    <button type="button" aria-label="zoom out" onClick={() => moveTo(zoom(window_, whole, (window_.from + window_.to) / 2, 2))}>-</button>
                    <button type="button" onClick={() => moveTo(whole)}>whole</button>
                    <button type="button" onClick={() => canvas.current?.toBlob((blob) => blob !== null && save("ttmem-map.png", blob))}>picture</button>
                </span>
            </div>
        </div>
    );
}
