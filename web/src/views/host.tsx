// SPDX-License-Identifier: Apache-2.0
// Every chip as a cell, the processes, and what fails or grows now.

import type { VNode } from "preact";
import { addressOf } from "../model/router";
import { hasDetails, status } from "../model/source";
import { held, holders, hostGrid, total } from "../model/status";
import { KINDS } from "../model/types";
import type { Device, Failures, Growth, Process, Status } from "../model/types";
import { age, bytes, change, count, ids, nameOf, number, percent } from "../model/units";
import { Bar, Empty, HiddenNote, Kind, Link, memo, Panel, Show } from "../parts/basics";
import { useAnswer } from "../parts/hooks";
import { failureTitle } from "./failures";

/** The chip whose fullest core has least room. */
function tightest(devices: readonly Device[]): Device | null {
    let found: Device | null = null;
    for (const device of devices) {
        const room = device.l1_worst_core?.headroom ?? null;
        if (room !== null && (found === null || room < (found.l1_worst_core?.headroom ?? Infinity))) found = device;
    }
    return found;
}

function Figure({ title, value, note, children }: {
    title: string; value: string; note?: string; children?: VNode | null;
}): VNode {
    return (
        <div class="figure">
            <div class="figure-title">{title}</div>
            <div class="figure-value">{value}</div>
            {children}
            {note !== undefined && <div class="figure-note">{note}</div>}
        </div>
    );
}

function Summary({ view }: { view: Status }): VNode {
    const dram = total(view.devices, "dram");
    const l1 = total(view.devices, "l1");
    const tight = tightest(view.devices);
    const core = tight?.l1_worst_core ?? null;
    const untracked = view.processes.filter((one) => one.state === "untracked").length;
    return (
        <div class="figures">
            <Figure title={`DRAM of ${count(view.devices.length, "chip", "chips")}`} value={bytes(dram.used)}
                note={`of ${bytes(dram.capacity)}, ${percent(dram.used, dram.capacity)} used`}>
                <Bar used={dram.used} capacity={dram.capacity} label="DRAM of all chips" />
            </Figure>
            <Figure title="L1 buffers" value={bytes(l1.used)}
                note={`of ${bytes(l1.capacity)}, ${percent(l1.used, l1.capacity)} used`}>
                <Bar used={l1.used} capacity={l1.capacity} label="L1 buffers of all chips" tone="tone-l1" />
            </Figure>
            <Figure title="Least headroom in L1" value={core === null ? "-" : bytes(core.headroom)}
                note={tight === null || core === null ? "no core reports"
                    : `chip ${tight.id}${core.core === null ? "" : `, core ${core.core.join(",")}`}: ${percent(core.used, core.capacity)} full`}>
                {core === null ? null
                    : <Bar used={core.used} capacity={core.capacity} label="fullest core" tone="tone-cb" />}
            </Figure>
            <Figure title="Processes" value={String(view.processes.length)}
                note={untracked > 0 ? `${untracked} untracked` : view.processes.length === 0 ? "nobody uses the chips" : "all report"} />
        </div>
    );
}

const Chip = memo(function Chip({ device, names, isSmall }: { device: Device; names: string; isSmall: boolean }): VNode {
    const dram = device.memory.dram;
    const core = device.l1_worst_core;
    const share = dram.used !== null && dram.capacity ? dram.used / dram.capacity : 0;
    const { temperature_c, temperature_max_c, power_w } = device.telemetry;
    const isHot = temperature_c !== null && temperature_max_c !== null && temperature_c >= temperature_max_c - 5;
    const isClash = core !== null && (core.headroom ?? 1) < 0;
    return (
        <Link href={`/chip/${device.id}`} class={`chip-cell ${isSmall ? "small" : ""} ${isClash ? "bad" : ""}`}
            title={`chip ${device.id}: ${device.board ?? "unknown board"} ${device.asic_id ?? ""}`}>
            <span class="chip-head">
                <b>{device.id}</b>
                {!isSmall && <span class="dim">{device.board ?? device.arch ?? ""}{device.remote === true ? " remote" : ""}</span>}
                <span class="chip-percent">{percent(dram.used, dram.capacity)}</span>
            </span>
            <Bar used={dram.used} capacity={dram.capacity} label={`DRAM of chip ${device.id}`} />
            {!isSmall && <span class="chip-line"><span>DRAM</span><span>{bytes(dram.used)} / {bytes(dram.capacity)}</span></span>}
            <Bar used={core?.used ?? null} capacity={core?.capacity ?? null} label={`fullest core of chip ${device.id}`} tone="tone-cb" />
            <span class="chip-line">
                <span>{isSmall ? "core" : "fullest core"}</span>
                <span>{core === null ? "-" : isClash ? "clash" : `${bytes(core.headroom)} free`}</span>
            </span>
            <span class="chip-line dim">
                <span class="holder" data-share={share}>{names === "" ? "free" : names}</span>
                <span class={isHot ? "hot" : ""}>
                    {temperature_c !== null && `${temperature_c.toFixed(0)} °C`}
                    {!isSmall && power_w !== null && ` ${power_w.toFixed(0)} W`}
                </span>
            </span>
        </Link>
    );
});

function Chips({ view }: { view: Status }): VNode {
    const { devices, columns } = hostGrid(view);
    const isSmall = devices.length > 12;
    const shape = columns === null ? "" : columns > 4 ? "mesh wide" : "mesh";
    return (
        <div class={`chips ${isSmall ? "small" : ""} ${shape}`} style={columns === null ? {} : { "--columns": columns }}>
            {devices.map((device) => (
                <Chip key={device.id} device={device} isSmall={isSmall}
                    names={holders(view, device.id).map((one) => `${one.comm} ${one.pid}`).join(", ")} />
            ))}
        </div>
    );
}

export const ProcessRow = memo(function ProcessRow({ process }: { process: Process }): VNode {
    return (
        <tr>
            <td class="num"><Link href={`/process/${process.pid}`}>{process.pid}</Link></td>
            <td class="grow">{process.comm}{process.state === "untracked" && <span class="chip warn">untracked</span>}</td>
            <td>{process.user}</td>
            <td>{ids(process.devices.map((one) => one.id))}</td>
            {KINDS.map((kind) => <td key={kind} class="num">{bytes(held(process, kind))}</td>)}
            <td class="num">{process.events.per_second === null ? "-" : number(process.events.per_second)}</td>
        </tr>
    );
});

export function ProcessTable({ processes }: { processes: readonly Process[] }): VNode {
    if (processes.length === 0) {
        return (
            <Empty title="No process uses a chip">
                <p>Start one that reports: an unmodified tt-metal program with</p>
                <pre>ttmem run -- python3 model.py</pre>
                <p>or, without an accelerator, <code>ttmem sim transformer-dp4</code>.</p>
            </Empty>
        );
    }
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="processes">
            <table>
                <thead>
                    <tr><th class="num">pid</th><th>command</th><th>user</th><th>chips</th>
                        {KINDS.map((kind) => <th key={kind} class="num">{kind}</th>)}<th class="num">events/s</th></tr>
                </thead>
                <tbody>{processes.map((process) => <ProcessRow key={process.pid} process={process} />)}</tbody>
            </table>
        </div>
    );
}

function Now(): VNode {
    const failures = useAnswer<Failures>(hasDetails.value ? "/v1/failures?limit=5" : null);
    const growth = useAnswer<Growth>(hasDetails.value ? "/v1/growth?limit=6" : null);
    return (
        <div class="columns">
            <Panel title="What fails" actions={<Link href="/failures">all</Link>}>
                <Show answer={failures}>{(data) => data.failures.length === 0
                    ? <p class="quiet">Nothing has failed.</p>
                    : <ul class="plain">{data.failures.map((failure) => (
                        <li key={`${failure.pid} ${failure.time_ns}`}>
                            <Link href={addressOf("/failures", { pid: failure.pid, time: failure.time_ns })}>
                                {failureTitle(failure)}
                            </Link> <span class="dim">{age(failure.age_ns)} ago, process {failure.pid}</span>
                        </li>))}
                    </ul>}
                </Show>
            </Panel>
            <Panel title="What grows" actions={<Link href="/compare">compare</Link>}>
                <Show answer={growth}>{(data) => {
                    const grown = data.growth.filter((one) => one.grown > 0);
                    return (
                        <>
                            {grown.length === 0
                                ? <p class="quiet">Nothing grew in the last {data.span_ns > 0 ? age(data.span_ns) : "minute"}.</p>
                                : <table><tbody>{grown.map((one) => (
                                    <tr key={`${one.kind} ${one.name ?? ""}`}>
                                        <td class="grow name">{nameOf(one.name)}</td><td><Kind kind={one.kind} /></td>
                                        <td class="num up">{change(one.grown)}</td>
                                    </tr>))}</tbody></table>}
                            <HiddenNote of={data} />
                        </>
                    );
                }}</Show>
            </Panel>
        </div>
    );
}

export function HostView(): VNode {
    const view = status.value;
    if (view === null) return <div class="skeleton tall" role="status" aria-label="loading" />;
    if (view.devices.length === 0 && view.processes.length === 0) {
        return (
            <Empty title="No accelerator is in use on this host">
                <p>The driver shows no chip, and no process reports one. To see the page at work without an accelerator:</p>
                <pre>ttmem sim transformer-dp4 --board t3000</pre>
            </Empty>
        );
    }
    return (
        <>
            <Summary view={view} />
            <Panel title="Chips"><Chips view={view} /></Panel>
            {hasDetails.value && <Now />}
            <Panel title="Processes"><ProcessTable processes={view.processes} /></Panel>
        </>
    );
}
