// SPDX-License-Identifier: Apache-2.0
// One chip: its pools over time, its cores as a heat map, and one core as a column.

import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { stepOf } from "../model/pace";
import { addressOf, route, setQuery } from "../model/router";
import { hasDetails, isSaved, status } from "../model/source";
import { holders } from "../model/status";
import { KIND_COLORS } from "../model/theme";
import { timelineMarks } from "../model/timeline_marks";
import type { Mark } from "../model/timeline_marks";
import { KINDS } from "../model/types";
import type { Device, Failures, History, Kind as KindName, Marks, PostMortems, Status } from "../model/types";
import { bytes, number, percent } from "../model/units";
import { Bar, Choice, Empty, HistoryNote, HowToSeeMore, Kind, KIND_WORDS, Link, Panel, Show } from "../parts/basics";
import { Chart } from "../parts/chart";
import type { Gap } from "../parts/chart";
import { useAnswer } from "../parts/hooks";
import { CoreColumn, CoreGrid } from "./cores";

function Facts({ device, view }: { device: Device; view: Status }): VNode {
    const { temperature_c, power_w, aiclk_mhz, fan_rpm } = device.telemetry;
    const facts: [string, string | null][] = [
        ["board", device.board], ["architecture", device.arch], ["ASIC", device.asic_id], ["PCI", device.bdf],
        ["firmware", device.driver?.firmware ?? null], ["serial", device.driver?.serial ?? null],
        ["temperature", temperature_c === null ? null : `${temperature_c.toFixed(1)} °C`],
        ["power", power_w === null ? null : `${power_w.toFixed(1)} W`],
        ["clock", aiclk_mhz === null ? null : `${aiclk_mhz} MHz`],
        ["fan", fan_rpm === null ? null : `${fan_rpm} rpm`],
    ];
    return (
        <dl class="facts">
            {facts.filter(([, value]) => value !== null).map(([name, value]) => (
                <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
            ))}
            <div><dt>held by</dt><dd>{holders(view, device.id).map((one, i) => (
                <span key={one.pid}>{i > 0 && ", "}<Link href={`/process/${one.pid}`}>{one.comm} {one.pid}</Link></span>
            ))}{holders(view, device.id).length === 0 && "nobody"}</dd></div>
        </dl>
    );
}

function Pools({ device }: { device: Device }): VNode {
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="pools">
            <table>
                <thead><tr><th>kind</th><th class="wide">used</th><th class="num">used</th><th class="num">requested</th>
                    <th class="num">capacity</th><th class="num">peak</th><th class="num">largest free / bank</th><th class="num">count</th></tr></thead>
                <tbody>{KINDS.map((kind) => {
                    const pool = device.memory[kind];
                    return (
                        <tr key={kind}>
                            <td><Link href={addressOf("/memory", { device: device.id, kind })}><Kind kind={kind} /></Link></td>
                            <td class="wide">{pool.capacity !== null && <Bar used={pool.used} capacity={pool.capacity} label={kind} tone={`tone-${kind}`} />}</td>
                            <td class="num">{bytes(pool.used)}</td><td class="num">{bytes(pool.requested)}</td>
                            <td class="num">{bytes(pool.capacity)}</td>
                            <td class="num" title={pool.peak_exact ? "" : "a lower bound"}>{pool.peak_exact || pool.peak === null ? "" : ">="}{bytes(pool.peak)}</td>
                            <td class="num">{bytes(pool.largest_free)}</td><td class="num">{number(pool.count)}</td>
                        </tr>
                    );
                })}</tbody>
            </table>
        </div>
    );
}

const SPANS = [{ value: "300", text: "5 min" }, { value: "3600", text: "1 hour" }, { value: "86400", text: "1 day" }] as const;

/** Starts, marks, failures and ends of the processes of a chip, also of those that have ended; the last first. */
function useMarks(device: number, view: Status, past: History | null): Mark[] {
    const failures = useAnswer<Failures>(hasDetails.value ? addressOf("/v1/failures", { device, limit: 100 }) : null).data;
    const deaths = useAnswer<PostMortems>(hasDetails.value ? addressOf("/v1/post-mortems", { device, limit: 100 }) : null).data;
    const marks = useAnswer<Marks>(hasDetails.value ? "/v1/marks?limit=200" : null).data;
    const live = holders(view, device);
    const started = live.map((one) => one.pid).join();
    return useMemo(() => timelineMarks({
        live, failures: failures?.failures ?? [], kept: failures?.kept ?? [], deaths: deaths?.post_mortems ?? [], marks: marks?.moments ?? [],
        past: past?.moments ?? [], isSaved: isSaved(),
    }), [failures, deaths, marks, started, past]);
}

// Older samples are a minute apart: the line goes on beyond both ends.
const AROUND_S = 120;

function OverTime({ device, view }: { device: Device; view: Status }): VNode {
    const { query } = route.value;
    const kind = (query.get("kind") ?? "dram") as KindName;
    const span = query.get("span") ?? "3600";
    const capacity = device.memory[kind]?.capacity ?? null;
    const isWhole = query.get("scale") === "capacity";
    const from = Number(query.get("from"));
    const to = Number(query.get("to"));
    const zoomed: [number, number] | null = from > 0 && to > from ? [from, to] : null;
    // What was saved has the whole.
    const address = isSaved() ? addressOf("/v1/history", { device: device.id })
        : addressOf("/v1/history", { device: device.id, kind, step: stepOf(zoomed === null ? Number(span) : to - from) || null });
    const answer = useAnswer<History>(address + (zoomed === null || isSaved() ? "" : `&since=${Math.floor(from) - AROUND_S}000000000&until=${Math.ceil(to) + AROUND_S}000000000`),
        { keepsOld: true, now: () => (isSaved() || zoomed !== null ? "" : `&since=${Math.floor(Date.now() / 1e3 - Number(span))}000000000`) });
    const marks = useMarks(device.id, view, answer.data);
    const samples = answer.data?.series.find((one) => one.kind === kind)?.samples;
    const { times, lines } = useMemo(() => {
        // What was saved or recorded ends with its last sample.
        const end = isSaved() ? (samples?.[samples.length - 1]?.time_ns ?? 0) / 1e9 : Date.now() / 1e3;
        const shown = (samples ?? []).filter((one) => zoomed !== null || one.time_ns / 1e9 > end - Number(span));
        return {
            times: shown.map((one) => one.time_ns / 1e9),
            lines: [{ label: kind, color: KIND_COLORS[kind] ?? "#888888", values: shown.map((one) => one.used) }],
        };
    }, [samples, kind, span, zoomed === null]);
    const gaps = useMemo(() => (answer.data?.downtimes ?? []).map((one): Gap => [one.from_ns / 1e9, one.to_ns / 1e9]), [answer.data]);
    return (
        <Panel title={`${KIND_WORDS[kind]} over time`} actions={
            <>
                <Choice label="kind" value={kind} options={KINDS.map((one) => ({ value: one, text: one }))}
                    onChange={(value) => setQuery({ kind: value })} />
                <Choice label="span" value={zoomed === null ? span : ""} options={SPANS}
                    onChange={(value) => setQuery({ span: value, from: null, to: null })} />
                {capacity !== null && <button type="button" aria-pressed={isWhole} onClick={() => setQuery({ scale: isWhole ? null : "capacity" })}>
                    {isWhole ? "fit" : `up to ${bytes(capacity)}`}</button>}
                {zoomed !== null && <button type="button" onClick={() => setQuery({ from: null, to: null })}>whole</button>}
            </>}>
            {answer.data && <HistoryNote of={answer.data} />}
            <Show answer={answer}>{() => times.length === 0 ? answer.isLoading ? <div class="skeleton" role="status" aria-label="loading" />
                : <Empty title="No samples yet"><p>The daemon takes one every second while a process uses the chip.</p></Empty>
                : <Chart times={times} lines={lines} capacity={capacity} marks={marks} gaps={gaps} height={220}
                    label={`${kind} of chip ${device.id} over time`} range={zoomed} isWhole={isWhole}
                    onZoom={(range) => setQuery(range === null ? { from: null, to: null }
                        : { from: range[0].toFixed(3), to: range[1].toFixed(3) })} />}
            </Show>
            {marks.length > 0 && (
                <ul class="marks">{marks.slice(0, 6).map((mark) => (
                    <li key={mark.text} class={mark.isBad ? "bad" : ""}>{mark.text}</li>))}</ul>
            )}
        </Panel>
    );
}

export function ChipView({ id }: { id: string }): VNode {
    const view = status.value;
    if (view === null) return <div class="skeleton tall" role="status" aria-label="loading" />;
    const device = view.devices.find((one) => String(one.id) === id);
    if (device === undefined) {
        return (
            <Empty title={`There is no chip ${id} on ${view.host}`}>
                <p>{view.devices.length === 0 ? "No chip is known." : <>Known are {view.devices.map((one) => (
                    <Link key={one.id} href={`/chip/${one.id}`} class="space">{one.id}</Link>))}</>}</p>
            </Empty>
        );
    }
    const core = device.l1_worst_core;
    const shown = route.value.query.get("core");
    const at = view.devices.indexOf(device);
    return (
        <>
            <div class="title-row">
                <h1>Chip {device.id}</h1>
                <span class="dim">{percent(device.memory.dram.used, device.memory.dram.capacity)} of DRAM used
                    {core !== null && <>, fullest core {percent(core.used, core.capacity)}, headroom {bytes(core.headroom)}</>}</span>
                <span class="pager">
                    {at > 0 && <Link href={`/chip/${view.devices[at - 1]?.id}`}>previous</Link>}
                    {at + 1 < view.devices.length && <Link href={`/chip/${view.devices[at + 1]?.id}`}>next</Link>}
                </span>
            </div>
            <Facts device={device} view={view} />
            <OverTime device={device} view={view} />
            <Panel title="Pools"><Pools device={device} /></Panel>
            {hasDetails.value ? (
                <div class="columns cores">
                    <CoreGrid device={device.id} chosen={shown} />
                    <CoreColumn device={device.id} core={shown ?? core?.core?.join(",") ?? null} isChosen={shown !== null} />
                </div>
            ) : <Panel title="Cores"><HowToSeeMore /></Panel>}
        </>
    );
}
