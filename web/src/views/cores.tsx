// SPDX-License-Identifier: Apache-2.0
// L1 of a chip: the cores as a heat map, and one of them as a column of circular buffers and buffers.

import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { addressOf, route, setQuery } from "../model/router";
import { nameColor, theme } from "../model/theme";
import type { BankMap, CoreFigures, Cores, MapBlock, Maps } from "../model/types";
import { address, bytes, count, nameOf, percent } from "../model/units";
import { Choice, Empty, HiddenNote, Panel, Show } from "../parts/basics";
import { useAnswer } from "../parts/hooks";
import { savePicture } from "../parts/picture";

const METRICS = [
    { value: "used", text: "fullest" }, { value: "cb_top", text: "CB top" }, { value: "headroom", text: "headroom" },
] as const;
type Metric = (typeof METRICS)[number]["value"];

/** 0 is empty and 1 is full, for every metric. */
export function heat(core: CoreFigures, metric: Metric, capacity: number | null, base: number, end: number): number | null {
    if (capacity === null || capacity === 0) return null;
    if (metric === "used") return core.used === null ? null : core.used / capacity;
    if (metric === "headroom") return core.headroom === null ? null : 1 - core.headroom / capacity;
    return core.cb_top === null ? null : (core.cb_top - base) / (end - base);
}

function text(core: CoreFigures, metric: Metric, capacity: number | null): string {
    if (metric === "used") return percent(core.used, capacity);
    if (metric === "headroom") return core.headroom === null ? "-" : bytes(core.headroom).replace(/\.\d/, "").replace(" ", "");
    return core.cb_top === null ? "-" : bytes(core.cb_top).replace(/\.\d/, "").replace(" ", "");
}

function Grid({ cores, metric, chosen, size, capacity }: {
    cores: readonly CoreFigures[]; metric: Metric; chosen: string | null; size: [number, number]; capacity: number | null;
}): VNode {
    const box = useRef<HTMLDivElement>(null);
    const tops = cores.map((core) => core.cb_top ?? 0);
    const end = Math.max(capacity ?? 0, ...tops);
    const move = (event: KeyboardEvent): void => {
        const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: size[0], ArrowUp: -size[0] }[event.key];
        if (by === undefined) return;
        const buttons = [...(box.current?.querySelectorAll("button") ?? [])];
        const next = buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + by];
        if (next === undefined) return;
        event.preventDefault();
        next.focus();
    };
    return (
        <div class="core-grid" ref={box} onKeyDown={move} role="group" aria-label={`cores, ${size[0]} by ${size[1]}`}
            style={{ gridTemplateColumns: `repeat(${size[0]}, minmax(0, 1fr))` }}>
            {cores.map((core, i) => {
                const key = core.core.join(",");
                const value = heat(core, metric, capacity, 0, end);
                const level = value === null ? "none" : String(Math.max(0, Math.min(9, Math.floor(value * 10))));
                const isClash = (core.headroom ?? 0) < 0;
                const shown = isClash ? "!" : text(core, metric, capacity);
                return (
                    <button key={key} type="button" class={`core heat-${level} ${isClash ? "clash" : ""}`} aria-pressed={key === chosen}
                        tabIndex={(chosen === null ? i === 0 : key === chosen) ? 0 : -1}
                        title={`core ${key}: ${bytes(core.used)} used, headroom ${bytes(core.headroom)}, CB top ${address(core.cb_top)}`}
                        aria-label={`${shown} core ${key}: ${bytes(core.used)} used, headroom ${bytes(core.headroom)}${isClash ? ", clash" : ""}`}
                        onClick={() => setQuery({ core: key })}>{shown}</button>
                );
            })}
        </div>
    );
}

export function CoreGrid({ device, chosen }: { device: number; chosen: string | null }): VNode {
    const answer = useAnswer<Cores>(addressOf("/v1/cores", { device }));
    const metric = (route.value.query.get("metric") ?? "used") as Metric;
    const box = useRef<HTMLDivElement>(null);
    return (
        <Panel title="Cores" actions={
            <>
                <Choice label="metric" value={metric} options={METRICS} onChange={(value) => setQuery({ metric: value })} />
                <button type="button" onClick={() => box.current !== null && savePicture(box.current, "ttmem-cores.png")}>picture</button>
            </>}>
            <Show answer={answer}>{(data) => data.cores.length === 0
                ? <Empty title="No core holds anything" />
                : <>
                    <div ref={box}><Grid cores={data.cores} metric={metric} chosen={chosen} capacity={data.capacity}
                        size={data.grid_size ?? [Math.max(...data.cores.map((one) => one.core[0])) + 1, 1]} /></div>
                    <div class="scale" aria-hidden="true"><span>empty</span>
                        {[...Array(10).keys()].map((i) => <i key={i} class={`heat-${i}`} />)}<span>full</span></div>
                    <p class="dim">{bytes(data.capacity)} of L1 per core. Circular buffers grow from below, buffers from above;
                        headroom is what is left between them.</p>
                    <HiddenNote of={data} />
                </>}
            </Show>
        </Panel>
    );
}

const HEIGHT = 420;
const LEAST = 16;

/** Heights of blocks in a column: to scale, but never too small for a name. */
export function heights(blocks: readonly MapBlock[], height: number): number[] {
    const least = Math.min(LEAST, height / Math.max(blocks.length, 1));
    const total = blocks.reduce((sum, block) => sum + block.bytes, 0);
    const rest = height - least * blocks.length;
    return blocks.map((block) => least + (total > 0 ? (rest * block.bytes) / total : 0));
}

function Column({ map, title }: { map: BankMap; title: string }): VNode {
    const blocks = [...map.blocks].reverse();
    const rows = heights(blocks, HEIGHT);
    return (
        <figure class="column">
            <figcaption>{title}</figcaption>
            <ol>
                {blocks.map((block, i) => (
                    <li key={block.address} class={block.is_free ? "free" : ""}
                        style={{
                            height: `${rows[i]}px`,
                            background: block.is_free ? undefined : `rgb(${nameColor(block.name, theme.value).join(" ")})`,
                        }}
                        title={`${address(block.address)}: ${bytes(block.bytes)} ${block.is_free ? "free" : nameOf(block.name)}`}>
                        <span class="block-name">{block.is_free ? "free"
                            : block.circular_buffers > 0 ? `${count(block.circular_buffers, "CB", "CBs")} ${nameOf(block.name)}`
                                : nameOf(block.name)}</span>
                        <span>{bytes(block.bytes)}</span>
                    </li>
                ))}
            </ol>
            {map.left_out > 0 && <p class="dim">{count(map.left_out, "block", "blocks")} not shown</p>}
        </figure>
    );
}

const MOST_ALLOCATORS = 3;
const MOST_PROGRAMS = 4;

function notShown(allocators: number, programs: number): string {
    const parts = [allocators > 0 ? count(allocators, "allocator", "allocators") : "", programs > 0 ? count(programs, "program", "programs") : ""];
    const text = parts.filter((one) => one !== "").join(" and ");
    return text === "" ? "" : `Not shown: ${text}.`;
}

export function CoreColumn({ device, core, isChosen }: { device: number; core: string | null; isChosen: boolean }): VNode {
    const l1 = useAnswer<Maps>(core === null ? null : addressOf("/v1/map", { device, kind: "l1", core, limit: 60 }));
    const cb = useAnswer<Maps>(core === null ? null : addressOf("/v1/map", { device, kind: "cb", core, limit: 8 }));
    const box = useRef<HTMLDivElement>(null);
    const programs = (cb.data?.maps ?? []).filter((map) => map.blocks.some((block) => !block.is_free));
    if (core === null) return <Panel title="Core"><Empty title="No core holds circular buffers" /></Panel>;
    const isAnything = (l1.data?.maps.length ?? 0) > 0;
    return (
        <Panel title={`Core ${core}${isChosen ? "" : ", the fullest"}`} actions={isAnything
            && <button type="button" onClick={() => box.current !== null && savePicture(box.current, "ttmem-core.png")}>picture</button>}>
            <Show answer={l1}>{(data) => data.maps.length === 0
                ? <Empty title="Nothing is in L1 of this core" />
                : <><div class="column-row" ref={box} tabIndex={0} role="region" aria-label={`columns of core ${core}`}>
                    {data.maps.slice(0, MOST_ALLOCATORS).map((map) => (
                        <Column key={`l1 ${map.pid} ${map.set ?? ""}`} map={map} title={`L1 of process ${map.pid}`} />))}
                    {programs.slice(0, MOST_PROGRAMS).map((map, i) => (
                        <Column key={`cb ${map.pid} ${i}`} map={map}
                            title={`circular buffers: ${nameOf(map.shown_core?.programs[0]?.name ?? map.set ?? null)}`} />))}
                </div>
                <p class="dim">{notShown(data.maps.length - MOST_ALLOCATORS, Math.max(programs.length - MOST_PROGRAMS, 0) + (cb.data?.left_out ?? 0))}</p></>}
            </Show>
        </Panel>
    );
}
