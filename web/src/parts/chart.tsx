// SPDX-License-Identifier: Apache-2.0
// A pool over time (uPlot): its capacity, and marks where something failed or a process came or went. Drag to zoom.

import { useEffect, useRef } from "preact/hooks";
import type { VNode } from "preact";
import type uPlot from "uplot";
import { isSaved } from "../model/source";
import { theme } from "../model/theme";
import type { Mark } from "../model/timeline_marks";
import { bytes, clock } from "../model/units";
import { save } from "./basics";
import { useWidth } from "./hooks";

// Evaluated with the first chart: uPlot asks for time zones and number formats when it is loaded, which takes longer than a first picture may.
const loadPlot = async (): Promise<typeof uPlot> => (await import("uplot")).default;

export interface Line {
    label: string;
    color: string;
    values: (number | null)[];
}

/** From and to in seconds: nothing is known of it. */
export type Gap = [number, number];

// Powers of two, so that the axis has round numbers of MiB and GiB.
const STEPS = Array.from({ length: 46 }, (_one, i) => 2 ** i);

/** "12:05", "12:05:10", "12:05:10.25" */
function shortClock(seconds: number): string {
    if (seconds % 60 === 0) return clock(seconds * 1e9).slice(0, 5);
    const part = Math.round((seconds % 1) * 1000) / 1000;
    return clock(seconds * 1e9) + (part > 0 && part < 1 ? String(part).slice(1) : "");
}

/** In seconds. What is live begins with one sample; a recording may take milliseconds. */
const shortestSpan = (): number => (isSaved() ? 0.001 : 10);

const style = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function drawGaps(chart: uPlot, gaps: readonly Gap[]): void {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.fillStyle = style("--track");
    for (const gap of gaps) {
        const [from, to] = gap.map((time) => Math.min(Math.max(chart.valToPos(time, "x", true), bbox.left), bbox.left + bbox.width)) as Gap;
        if (to > from) ctx.fillRect(from, bbox.top, Math.max(to - from, 1), bbox.height);
    }
    ctx.restore();
}

function drawMarks(chart: uPlot, marks: readonly Mark[]): void {
    const { ctx, bbox } = chart;
    ctx.save();
    for (const mark of marks) {
        const x = chart.valToPos(mark.time, "x", true);
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        ctx.strokeStyle = style(mark.isBad ? "--bad" : "--mark");
        ctx.setLineDash(mark.isBad ? [] : [4, 4]);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
    }
    ctx.restore();
}

function drawCapacity(chart: uPlot, capacity: number | null): void {
    if (capacity === null) return;
    const { ctx, bbox } = chart;
    const y = chart.valToPos(capacity, "y", true);
    if (y < bbox.top - 1 || y > bbox.top + bbox.height) return;
    ctx.save();
    ctx.strokeStyle = style("--bad");
    ctx.globalAlpha = 0.7;
    ctx.setLineDash([6, 4]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
}

interface Content {
    data: uPlot.AlignedData;
    lines: Line[];
    marks: Mark[];
    gaps: Gap[];
    capacity: number | null;
    range: [number, number] | null;
    isWhole: boolean;
    onZoom: (range: [number, number] | null) => void;
}

/** The chart reads what it shows from `latest`, which changes while it lives. */
function optionsOf(latest: { current: Content }, width: number, height: number): uPlot.Options {
    const axis = { stroke: style("--dim"), grid: { stroke: style("--line"), width: 1 }, ticks: { show: false } };
    return {
        width, height,
        legend: { show: false },
        cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
        scales: {
            x: { time: true, range: (_u, low, high) => latest.current.range ?? [low, Math.max(high, low + shortestSpan())] },
            y: { range: (_u, _low, high) => [0, Math.max(high, latest.current.isWhole ? latest.current.capacity ?? 0 : 0, 1024) * 1.08] },
        },
        axes: [
            { ...axis, space: 96, values: (_u, ticks) => ticks.map((tick) => shortClock(tick)) },
            { ...axis, size: 76, incrs: STEPS, values: (_u, ticks) => ticks.map((tick) => bytes(tick)) },
        ],
        series: [{}, ...latest.current.lines.map((line) => ({
            label: line.label, stroke: line.color, width: 2, fill: `${line.color}2e`, points: { show: false },
        }))],
        hooks: {
            drawClear: [(u) => drawGaps(u, latest.current.gaps)],
            draw: [(u) => {
                drawCapacity(u, latest.current.capacity);
                drawMarks(u, latest.current.marks);
            }],
            setSelect: [(u) => {
                if (u.select.width < 4) return;
                const from = u.posToVal(u.select.left, "x");
                const to = u.posToVal(u.select.left + u.select.width, "x");
                u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                latest.current.onZoom([from, to]);
            }],
        },
    };
}

export function Chart({ times, lines, capacity, marks, gaps, height, label, range, isWhole, onZoom }: {
    times: number[]; lines: Line[]; capacity: number | null; marks: Mark[]; gaps: Gap[]; height: number; label: string;
    range: [number, number] | null; isWhole: boolean; onZoom: (range: [number, number] | null) => void;
}): VNode {
    const [box, width] = useWidth();
    const chart = useRef<uPlot | null>(null);
    const content: Content = { data: [times, ...lines.map((line) => line.values)], lines, marks, gaps, capacity, range, isWhole, onZoom };
    const latest = useRef(content);
    latest.current = content;
    const names = lines.map((line) => line.label).join("|");
    const mode = theme.value;
    useEffect(() => {
        if (width === 0) return;
        let isGone = false;
        void loadPlot().then((Plot) => {
            if (isGone || box.current === null) return;
            chart.current = new Plot(optionsOf(latest, width, height), latest.current.data, box.current);
        });
        return () => {
            isGone = true;
            chart.current?.destroy();
            chart.current = null;
        };
    }, [width, height, names, mode]);
    useEffect(() => {
        chart.current?.setData(latest.current.data);
    }, [times, lines, range, marks, gaps, isWhole]);
    const key = (event: KeyboardEvent): void => {
        const [from, to] = range ?? [times[0] ?? 0, times[times.length - 1] ?? 0];
        const length = to - from;
        const show = (low: number, high: number): void => onZoom([low, Math.max(high, low + 0.01)]);
        const actions: Record<string, () => void> = {
            "+": () => show(from + length / 4, to - length / 4), "=": () => show(from + length / 4, to - length / 4),
            "-": () => show(from - length / 2, to + length / 2), "0": () => onZoom(null),
            ArrowLeft: () => show(from - length / 8, to - length / 8), ArrowRight: () => show(from + length / 8, to + length / 8),
        };
        const action = actions[event.key];
        if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        action();
    };
    const savePlot = (): void => {
        box.current?.querySelector("canvas")?.toBlob((blob) => blob !== null && save("ttmem-time-line.png", blob));
    };
    const last = lines.map((line) => `${line.label} ${bytes(line.values[line.values.length - 1] ?? null)}`).join(", ");
    return (
        <>
            <div class="chart" ref={box} tabIndex={0} role="img" onDblClick={() => onZoom(null)} onKeyDown={key}
                aria-label={`${label}: now ${last}. Keys: plus and minus zoom, arrows move, 0 the whole.`} />
            <div class="map-tools"><button type="button" onClick={savePlot}>picture</button></div>
        </>
    );
}
