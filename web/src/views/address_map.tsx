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

export function AddressMap({ label, base, size, blocks, largestFree, start }: {
    label: string; base: number; size: number; blocks: readonly MapBlock[]; largestFree: number | null; start?: number | null;
}): VNode {
    const whole: Window = { from: base, to: base + size };
    const [box, width] = useWidth();
    const canvas = useRef<HTMLCanvasElement>(null);
    const [window_, setWindow] = useState<Window>(whole);
    const [shown, setShown] = useState(-1);
    const drag = useRef<{ x: number; window: Window; isOverview: boolean } | null>(null);
    const state = useRef({ window: window_, width, shown });
    state.current = { window: window_, width, shown };
    const largest = useMemo(
        () => blocks.findIndex((block) => block.is_free && block.bytes === largestFree), [blocks, largestFree]);

    useEffect(() => setWindow(whole), [base, size]);
    useEffect(() => {
        if (start === null || start === undefined) return;
        const found = blockAt(blocks, start);
        if (found >= 0) open(found);
    }, [start, blocks.length > 0]);

    useEffect(() => {
        const element = canvas.current;
        const context = element?.getContext("2d");
        if (!element || !context || width === 0) return;
        const ratio = devicePixelRatio || 1;
        const pixels = Math.round(width * ratio);
        element.width = pixels;
        element.height = Math.round(HEIGHT * ratio);
        drawStrip(context, stripColors(blocks, whole, pixels, theme.value), 0, Math.round(OVERVIEW * ratio));
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
    }, [blocks, window_, width, shown, largest, theme.value]);

    function open(index: number): void {
        const block = blocks[index];
        if (block === undefined) return;
        setShown(index);
        const length = Math.min(Math.max(block.bytes * 3, 64), size);
        setWindow(pan({ from: block.address - (length - block.bytes) / 2, to: block.address + (length + block.bytes) / 2 }, whole, 0));
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
            setWindow(Math.abs(event.deltaX) > Math.abs(event.deltaY)
                ? pan(now, whole, (event.deltaX / Math.max(state.current.width, 1)) * (now.to - now.from))
                : zoom(now, whole, addressAt(event.offsetX), event.deltaY > 0 ? 1.25 : 0.8));
        };
        element.addEventListener("wheel", wheel, { passive: false });
        return () => element.removeEventListener("wheel", wheel);
    }, [base, size]);

    const key = (event: KeyboardEvent): void => {
        const length = window_.to - window_.from;
        const middle = window_.from + length / 2;
        const actions: Record<string, () => void> = {
            "+": () => setWindow(zoom(window_, whole, middle, 0.5)), "=": () => setWindow(zoom(window_, whole, middle, 0.5)),
            "-": () => setWindow(zoom(window_, whole, middle, 2)), "0": () => setWindow(whole),
            ArrowLeft: () => setWindow(pan(window_, whole, -length / 8)), ArrowRight: () => setWindow(pan(window_, whole, length / 8)),
            n: () => open(Math.min(shown + 1, blocks.length - 1)), N: () => open(Math.max(shown - 1, 0)),
            g: () => open(largest),
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
                    if (event.offsetY >= OVERVIEW) setShown(blockAt(blocks, addressAt(event.offsetX)));
                }}
                onPointerMove={(event) => {
                    const from = drag.current;
                    if (from === null) {
                        if (event.offsetY > OVERVIEW) setShown(blockAt(blocks, addressAt(event.offsetX)));
                        return;
                    }
                    const by = ((event.offsetX - from.x) / Math.max(width, 1)) * (from.isOverview ? size : -(from.window.to - from.window.from));
                    setWindow(pan(from.window, whole, by));
                }}
                onPointerUp={() => (drag.current = null)} />
            <div class="map-line">
                <span aria-live="polite">{block === undefined
                    ? `${address(window_.from)} to ${address(window_.to)}: ${bytes(window_.to - window_.from)} of ${bytes(size)}`
                    : describe(block)}</span>
                <span class="map-tools">
                    {largest >= 0 && <button type="button" onClick={() => open(largest)}>largest gap {bytes(largestFree)}, {percent(largestFree, size)}</button>}
                    <button type="button" aria-label="zoom in" onClick={() => setWindow(zoom(window_, whole, (window_.from + window_.to) / 2, 0.5))}>+</button>
                    <button type="button" aria-label="zoom out" onClick={() => setWindow(zoom(window_, whole, (window_.from + window_.to) / 2, 2))}>-</button>
                    <button type="button" onClick={() => setWindow(whole)}>whole</button>
                    <button type="button" onClick={() => canvas.current?.toBlob((blob) => blob !== null && save("ttmem-map.png", blob))}>picture</button>
                </span>
            </div>
        </div>
    );
}
