// SPDX-License-Identifier: Apache-2.0
// Two moments compared: moments that this tab marked (with names), moments of the history (per chip and kind), and now.

import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { differences, momentAt, momentOf } from "../model/moments";
import type { Difference, Moment } from "../model/moments";
import { addressOf, route, setQuery } from "../model/router";
import { get, hasDetails, isSaved, status } from "../model/source";
import type { Groups, History } from "../model/types";
import { bytes, change, clock, count } from "../model/units";
import { Empty, Kind, Panel, save } from "../parts/basics";
import { useAnswer } from "../parts/hooks";

const NAMES = "/v1/allocations?group=name&limit=10000";
// Samples older than an hour are a minute apart.
const BEFORE_MS = 120_000;
const RANGE_STEP_S = 600;
const SLOW_MS = 60_000;
const marks = signal<Moment[]>([]);

/** Keeps this moment in the tab. */
export async function mark(): Promise<string> {
    const now = status.value;
    const title = `mark ${marks.value.length + 1}`;
    if (now === null) return title;
    const groups = hasDetails.value ? (await get<Groups>(NAMES)).groups : null;
    marks.value = [...marks.value, momentOf(title, { ...now, time_ns: Date.now() * 1e6 }, groups)];
    return title;
}

function Rows({ rows, limit }: { rows: readonly Difference[]; limit: number }): VNode {
    const largest = Math.max(...rows.map((row) => Math.abs(row.grown)), 1);
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="differences">
            <table>
                <thead><tr><th>what</th><th>kind</th><th class="num">A</th><th class="num">B</th><th class="num">change</th><th class="wide" /></tr></thead>
                <tbody>{rows.slice(0, limit).map((row) => (
                    <tr key={row.key}>
                        <td class="grow name">{row.label}</td><td><Kind kind={row.kind} /></td>
                        <td class="num">{bytes(row.before)}</td><td class="num">{bytes(row.after)}</td>
                        <td class={`num ${row.grown > 0 ? "up" : "down"}`}>{change(row.grown)}</td>
                        <td class="wide"><div class="delta"><i class={row.grown > 0 ? "up" : "down"}
                            style={{ width: `${(Math.abs(row.grown) / largest) * 50}%` }} /></div></td>
                    </tr>))}</tbody>
            </table>
        </div>
    );
}

function Picker({ label, value, series, onChange }: {
    label: string; value: string; series: History | null; onChange: (value: string) => void;
}): VNode {
    const samples = series?.series[0]?.samples ?? [];
    const first = (samples[0]?.time_ns ?? 0) / 1e6;
    const last = Math.max((samples[samples.length - 1]?.time_ns ?? 0) / 1e6, first + 1);
    const isTime = /^\d+$/.test(value);
    return (
        <fieldset class="picker">
            <legend>{label}</legend>
            <select aria-label={`moment ${label}`} value={isTime ? "time" : value}
                onChange={(event) => onChange(event.currentTarget.value === "time" ? String(Math.round((first + last) / 2)) : event.currentTarget.value)}>
                <option value="now">now</option>
                {marks.value.map((one) => <option key={one.title} value={one.title}>{one.title}, {clock(one.time_ns)}</option>)}
                <option value="time" disabled={samples.length === 0}>a time of the history</option>
            </select>
            {isTime && (
                <label class="slider"><input type="range" min={first} max={last} step={1000} value={value} aria-label={`time of ${label}`}
                    onInput={(event) => onChange(event.currentTarget.value)} /> {clock(Number(value) * 1e6)}</label>
            )}
        </fieldset>
    );
}

/** A series of the history, for the times that it has; a saved page has the whole. */
function useRange(): History | null {
    const device = status.value?.devices[0]?.id ?? null;
    const address = isSaved() ? "/v1/history" : addressOf("/v1/history", { device, kind: "dram", step: RANGE_STEP_S });
    return useAnswer<History>(address, { leastMs: SLOW_MS }).data;
}

/** What the chips held at a time of the history, if the moment is one. */
function useTime(name: string): { data: History | null; isLoading: boolean } {
    const isTime = /^\d+$/.test(name);
    const part = { since: `${Math.max(Number(name) - BEFORE_MS, 0)}000000`, until: `${name}000000` };
    const answer = useAnswer<History>(isTime ? addressOf("/v1/history", isSaved() ? {} : part) : null, { leastMs: SLOW_MS });
    return { data: answer.data, isLoading: isTime && answer.isLoading };
}

export function CompareView(): VNode {
    const { query } = route.value;
    const a = query.get("a") ?? marks.value[0]?.title ?? "now";
    const b = query.get("b") ?? "now";
    const range = useRange();
    const [ofA, ofB] = [useTime(a), useTime(b)];
    const groups = useAnswer<Groups>(hasDetails.value ? NAMES : null).data;
    const now = status.value;
    const moment = (name: string, of: History | null): Moment | null => {
        if (name === "now") return now === null ? null : momentOf("now", now, groups?.groups ?? null);
        if (/^\d+$/.test(name)) return of === null ? null : momentAt(of.series, Number(name) * 1e6);
        return marks.value.find((one) => one.title === name) ?? null;
    };
    const before = useMemo(() => moment(a, ofA.data), [a, now, groups, ofA.data, marks.value]);
    const after = useMemo(() => moment(b, ofB.data), [b, now, groups, ofB.data, marks.value]);
    const pools = before === null || after === null ? [] : differences(before.pools, after.pools);
    const names = before?.names && after?.names ? differences(before.names, after.names) : null;
    return (
        <>
            <div class="title-row">
                <h1>Two moments</h1>
                <span class="pager"><button type="button" class="primary" onClick={() => void mark().then((title) => route.value.query.has("a") ? undefined : setQuery({ a: title }))}>mark this moment</button>
                    <button type="button" disabled={before === null || after === null}
                        onClick={() => save("ttmem-comparison.json", JSON.stringify({ before, after }), "application/json")}>JSON</button></span>
            </div>
            <div class="columns">
                <Picker label="A" value={a} series={range} onChange={(value) => setQuery({ a: value })} />
                <Picker label="B" value={b} series={range} onChange={(value) => setQuery({ b: value })} />
            </div>
            {(ofA.isLoading || ofB.isLoading) ? <div class="skeleton" role="status" aria-label="loading" /> : (before === null || after === null) && (
                <Empty title="That moment is not in this tab"><p>Marks are kept in the tab that made them. Times of the history work in every tab.</p></Empty>)}
            {before !== null && after !== null && (
                <>
                    <Panel title="By chip and kind">{pools.length === 0
                        ? <p class="quiet">{a === b ? "A and B are the same moment. Mark one, or choose a time of the history." : "Nothing changed."}</p>
                        : <Rows rows={pools} limit={64} />}</Panel>
                    <Panel title="By name">{names === null
                        ? <p class="quiet">Names are known for marks and for now. The history has counters only.</p>
                        : names.length === 0 ? <p class="quiet">Nothing changed.</p>
                            : <><p class="dim">{count(names.length, "name", "names")} changed.</p><Rows rows={names} limit={200} /></>}</Panel>
                </>
            )}
        </>
    );
}
