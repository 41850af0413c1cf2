// SPDX-License-Identifier: Apache-2.0
// Processes that live, those that died, and one of either.

import type { VNode } from "preact";
import { addressOf } from "../model/router";
import { hasDetails, status } from "../model/source";
import { KINDS } from "../model/types";
import type { Group, Groups, Peaks, PostMortem, PostMortemDetails, PostMortems, Process } from "../model/types";
import { age, bytes, clock, count, ids, nameOf, number } from "../model/units";
import { Empty, HistoryNote, HowToSeeMore, Kind, Link, Panel, Show } from "../parts/basics";
import { useAnswer, useNow } from "../parts/hooks";
import { failureTitle } from "./failures";
import { ProcessTable } from "./host";

const SIGNALS: Record<number, string> = { 6: "SIGABRT", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM", 2: "SIGINT", 7: "SIGBUS" };

export function ending(one: PostMortem): string {
    if (one.ending === "signal") return SIGNALS[one.signal ?? 0] ?? `signal ${one.signal ?? "?"}`;
    if (one.ending === "exit") return `exit ${one.exit_code ?? "?"}`;
    return one.ending === "exec" ? "executed another program" : "not known";
}

function Deaths({ data }: { data: PostMortems }): VNode {
    const now = useNow() * 1e6;
    if (data.post_mortems.length === 0) {
        return <Empty title="No process has died while the daemon ran">
            {data.hidden_post_mortems > 0 ? <p>{count(data.hidden_post_mortems, "process", "processes")} of other users did.</p> : null}
        </Empty>;
    }
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="post-mortems">
            <table>
                <thead><tr><th class="num">pid</th><th>command</th><th>user</th><th>ended</th><th>died</th>
                    <th class="num">live then</th><th class="num">dram</th><th class="num">l1</th><th class="num">failures</th></tr></thead>
                <tbody>{data.post_mortems.map((one) => (
                    <tr key={`${one.process.pid} ${one.died_ns}`}>
                        <td class="num"><Link href={`/post-mortem/${one.process.pid}`}>{one.process.pid}</Link></td>
                        <td class="grow">{one.process.comm}</td><td>{one.process.user}</td>
                        <td class={one.ending === "signal" ? "up" : ""}>{ending(one)}</td>
                        <td title={clock(one.died_ns)}>{age(Math.max(now - one.died_ns, 0))} ago</td>
                        <td class="num">{number(one.allocation_count)}</td>
                        <td class="num">{bytes(sum(one.process, "dram"))}</td><td class="num">{bytes(sum(one.process, "l1"))}</td>
                        <td class="num">{number(one.failure_count)}</td>
                    </tr>))}</tbody>
            </table>
        </div>
    );
}

function sum(process: Process, kind: (typeof KINDS)[number]): number | null {
    return process.devices.reduce<number | null>((all, one) => {
        const used = one.memory[kind].used;
        return used === null ? all : (all ?? 0) + used;
    }, null);
}

export function ProcessesView(): VNode {
    const view = status.value;
    const answer = useAnswer<PostMortems>(hasDetails.value ? "/v1/post-mortems?limit=100" : null);
    return (
        <>
            <Panel title="Processes">
                {view === null ? <div class="skeleton" role="status" aria-label="loading" /> : <ProcessTable processes={view.processes} />}
            </Panel>
            <Panel title="Post-mortems">
                {hasDetails.value ? <Show answer={answer}>{(data) => <><HistoryNote of={data} /><Deaths data={data} /></>}</Show> : <HowToSeeMore />}
            </Panel>
        </>
    );
}

export function Names({ groups, link }: { groups: readonly Group[]; link?: (group: Group) => string }): VNode {
    const kinds = KINDS.filter((kind) => groups.some((group) => group.memory[kind].used > 0));
    if (groups.length === 0) return <p class="quiet">Nothing.</p>;
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="names">
            <table>
                <thead><tr><th>name</th>{kinds.map((kind) => <th key={kind} class="num">{kind}</th>)}<th class="num">count</th></tr></thead>
                <tbody>{groups.map((group) => (
                    <tr key={group.key ?? ""}>
                        <td class="grow name">{link === undefined ? nameOf(group.key) : <Link href={link(group)}>{nameOf(group.key)}</Link>}</td>
                        {kinds.map((kind) => <td key={kind} class="num">{group.memory[kind].used === 0 ? "" : bytes(group.memory[kind].used)}</td>)}
                        <td class="num">{number(group.count)}</td>
                    </tr>))}</tbody>
            </table>
        </div>
    );
}

function Holdings({ process }: { process: Process }): VNode {
    const kinds = KINDS.filter((kind) => process.devices.some((one) => (one.memory[kind].used ?? 0) > 0));
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="by chip">
            <table>
                <thead><tr><th>chip</th>{kinds.map((kind) => <th key={kind} class="num">{kind}</th>)}</tr></thead>
                <tbody>{process.devices.map((one) => (
                    <tr key={one.id}><td><Link href={`/chip/${one.id}`}>{one.id}</Link>
                        {one.logical_id !== one.id && <span class="dim"> it calls it {one.logical_id}</span>}</td>
                    {kinds.map((kind) => <td key={kind} class="num">{bytes(one.memory[kind].used)}</td>)}</tr>))}</tbody>
            </table>
        </div>
    );
}

export function ProcessView({ pid }: { pid: string }): VNode {
    const process = status.value?.processes.find((one) => String(one.pid) === pid);
    const isListed = process !== undefined && hasDetails.value && process.state !== "untracked";
    const names = useAnswer<Groups>(isListed ? addressOf("/v1/allocations", { group: "name", pid, limit: 50 }) : null);
    const peaks = useAnswer<Peaks>(isListed ? addressOf("/v1/peak", { pid, limit: 10 }) : null);
    const now = useNow() * 1e6;
    if (status.value === null) return <div class="skeleton tall" role="status" aria-label="loading" />;
    if (process === undefined) {
        return <Empty title={`Process ${pid} does not use a chip`}>
            <p>It may have ended: <Link href={`/post-mortem/${pid}`}>post-mortem of {pid}</Link>.</p></Empty>;
    }
    return (
        <>
            <div class="title-row"><h1>{process.comm} <span class="dim">{process.pid}</span></h1>
                <span class="dim">of {process.user}, for {age(Math.max(now - process.start_time_ns, 0))}, chips {ids(process.devices.map((one) => one.id))}
                    {process.container !== null && <>, in {process.container.runtime ?? "a container"} {process.container.id.slice(0, 12)}</>}</span>
                <span class="pager"><Link href={addressOf("/memory", { pid })}>its memory</Link></span></div>
            {process.state === "untracked" && <p class="notice">It has chips open and reports nothing. Start it with 'ttmem run'.</p>}
            <div class="columns">
                <Panel title="By chip"><Holdings process={process} /></Panel>
                <Panel title="Peak of DRAM">
                    {!hasDetails.value ? <HowToSeeMore /> : <Show answer={peaks}>{(data) => {
                        const peak = data.peaks[0];
                        if (peak === undefined) return <p class="quiet">It has held no DRAM.</p>;
                        return (
                            <>
                                <p>{bytes(peak.requested)} requested at {clock(peak.time_ns)}, now {bytes(peak.requested_now)}.
                                    {peak.may_lie_earlier && " The peak may lie earlier: older records are overwritten."}</p>
                                <table><tbody>{peak.by_name.map((one) => (
                                    <tr key={one.name ?? ""}><td class="grow name">{nameOf(one.name)}</td><td class="num">{bytes(one.requested)}</td></tr>))}</tbody></table>
                            </>
                        );
                    }}</Show>}
                </Panel>
            </div>
            <Panel title="By name">
                {!hasDetails.value ? <HowToSeeMore /> : <Show answer={names}>{(data) => (
                    <><p class="dim">Bytes {data.bytes_are}.</p>
                        <Names groups={data.groups} link={(group) => addressOf("/memory", { view: "list", pid, name: group.key })} /></>)}</Show>}
            </Panel>
        </>
    );
}

export function PostMortemView({ pid }: { pid: string }): VNode {
    const answer = useAnswer<PostMortemDetails>(addressOf("/v1/post-mortems", { pid, limit: 50 }));
    return (
        <Show answer={answer}>{({ post_mortem: dead }) => (
            <>
                <div class="title-row"><h1>{dead.summary.process.comm} <span class="dim">{dead.summary.process.pid}</span></h1>
                    <span class="dim">of {dead.summary.process.user}, ended: {ending(dead.summary)} at {clock(dead.summary.died_ns)}</span></div>
                {dead.summary.in_flight_count > 0 && <p class="notice">
                    {count(dead.summary.in_flight_count, "thread", "threads")} were recording an event when it died; these are in doubt.</p>}
                <div class="columns">
                    <Panel title="It held">
                        <table><tbody>{dead.by_kind.map((group) => KINDS.filter((kind) => group.memory[kind].count > 0).map((kind) => (
                            <tr key={kind}><td><Kind kind={kind} /></td><td class="num">{bytes(group.memory[kind].used)}</td>
                                <td class="num">{number(group.memory[kind].count)}</td></tr>)))}</tbody></table>
                    </Panel>
                    <Panel title="Its failures">{dead.failures.length === 0 ? <p class="quiet">None.</p>
                        : <ul class="plain">{dead.failures.map((one) => <li key={one.time_ns}>{failureTitle(one)}</li>)}</ul>}</Panel>
                </div>
                <Panel title="By name"><Names groups={dead.by_name} /></Panel>
            </>)}
        </Show>
    );
}
