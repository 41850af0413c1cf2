// SPDX-License-Identifier: Apache-2.0
// What failed and why: the card of a failure, with the map of its bank and who held it.

import type { VNode } from "preact";
import { addressOf, route } from "../model/router";
import type { Card, Failure, Failures } from "../model/types";
import { address, age, bytes, clock, count, ids, nameOf, number } from "../model/units";
import { Bar, Empty, HiddenNote, Kind, Link, Panel, Show } from "../parts/basics";
import { useAnswer } from "../parts/hooks";
import { AddressMap } from "./address_map";
import { Names } from "./processes";
import { Proposals } from "./proposals";

export function failureTitle(failure: Failure): string {
    const where = failure.devices.length === 0 ? "" : `on ${failure.devices.length === 1 ? "chip" : "chips"} ${ids(failure.devices)}`;
    if (failure.type === "cb_clash") {
        return `circular buffers reach ${bytes(failure.missing)} ${failure.l1_end === null ? "into an L1 buffer" : "beyond the end of L1"} ${where}`;
    }
    if (failure.type === "unknown_free") return `free of unknown address ${address(failure.address)} ${where}`;
    return `${failure.kind ?? ""} ${bytes(failure.requested)} ${where}: ${failure.verdict}`;
}

export function verdict(failure: Failure): string {
    const missing = bytes(failure.missing);
    switch (failure.verdict) {
        case "fragmented":
            return `Fragmented: ${bytes(failure.free)} per bank were free, but the largest block had only ${bytes(failure.largest_free)}. It was ${missing} short.`;
        case "not enough":
            return `Not enough: ${bytes(failure.free)} per bank were free and ${bytes(failure.needed)} were needed. It was ${missing} short.`;
        case "too big":
            return `Too big: the request needs ${bytes(failure.needed)} per bank, more than a bank has.`;
        case "clash":
            if (failure.l1_end !== null) {
                return `Clash: circular buffers end at ${address(failure.cb_end)}, ${missing} beyond the end of L1 at ${address(failure.l1_end)}.`;
            }
            return `Clash: circular buffers end at ${address(failure.cb_end)}, the lowest L1 buffer begins at ${address(failure.lowest_buffer)}. They overlap by ${missing}.`;
        case "unknown free":
            return `An address was freed that is not allocated: ${address(failure.address)}.`;
        default:
            return "The cause is not known.";
    }
}

const keyOf = (failure: Failure): string => `${failure.pid} ${failure.time_ns}`;

function Facts({ failure }: { failure: Failure }): VNode {
    const request = failure.card?.request;
    const facts: [string, string | null][] = [
        ["requested", failure.requested === null ? null : `${bytes(failure.requested)} per device`],
        ["needed", failure.needed === null ? null : `${bytes(failure.needed)} per bank`],
        ["free", failure.free === null ? null : `${bytes(failure.free)} per bank`],
        ["largest block", bytes(failure.largest_free)],
        ["short by", bytes(failure.missing)],
        ["page", request?.page === null || request === undefined ? null : bytes(request.page)],
        ["banks", request?.banks === null || request === undefined ? null : String(request.banks)],
        ["core", failure.core?.join(",") ?? null],
        ["where", failure.name],
        ["set", failure.set],
        ["process", String(failure.pid)],
        ["thread", String(failure.thread)],
        ["at", clock(failure.time_ns)],
    ];
    return (
        <dl class="facts">{facts.filter(([, value]) => value !== null && value !== "-").map(([name, value]) => (
            <div key={name}><dt>{name}</dt><dd>{value}</dd></div>))}</dl>
    );
}

function CardParts({ card, failure }: { card: Card; failure: Failure }): VNode {
    const { base, size } = card.bank;
    const clash = card.clash ?? null;
    return (
        <>
            <Proposals card={card} failure={failure} />
            {clash !== null && clash.buffers.length > 0 && (
                <Panel title={`Circular buffers of ${nameOf(clash.name)}${clash.core === null ? "" : ` on core ${clash.core.join(",")}`}`}>
                    <table>
                        <thead><tr><th>name</th><th class="num">from</th><th class="num">to</th><th class="num">bytes</th></tr></thead>
                        <tbody>{[...clash.buffers].reverse().map((one) => (
                            <tr key={one.address}><td class="grow name">{nameOf(one.name)}</td><td class="num mono">{address(one.address)}</td>
                                <td class="num mono">{address(one.address + one.bytes)}</td><td class="num">{bytes(one.bytes)}</td></tr>))}</tbody>
                    </table>
                </Panel>
            )}
            {base !== null && size !== null && card.blocks.length > 0 && (
                <Panel title="The bank as it was">
                    <AddressMap label="bank at the failure" base={base} size={size} blocks={card.blocks} largestFree={card.bank.largest_free} />
                    {!card.complete && <p class="notice">The bank had too many blocks for one card: {count(card.blocks_left_out, "block is", "blocks are")} not shown.</p>}
                </Panel>
            )}
            <div class="columns">
                <Panel title="Who held most then">
                    <table><tbody>{card.holders.map((one) => (
                        <tr key={one.name ?? ""}><td class="grow name">{nameOf(one.name)}</td><td class="num">{bytes(one.used)}</td>
                            <td class="num">{number(one.count)}</td></tr>))}</tbody></table>
                </Panel>
                <Panel title="The youngest then">
                    <table><tbody>{card.youngest.map((one) => (
                        <tr key={one.address}><td class="grow name">{nameOf(one.name)}</td><td class="num">{bytes(one.used)}</td>
                            <td class="num">{one.age_ns === null ? "" : age(one.age_ns)}</td></tr>))}</tbody></table>
                </Panel>
            </div>
            {card.events.length > 0 && (
                <Panel title={`Before it, in thread ${failure.thread}`}>
                    <table><tbody>{card.events.slice(-12).reverse().map((one, i) => (
                        <tr key={i}><td class="num">{age(one.age_ns)} before</td><td>{one.what}</td><td>{one.kind !== null && <Kind kind={one.kind} />}</td>
                            <td class="num">{bytes(one.requested)}</td><td class="grow name">{nameOf(one.name)}</td></tr>))}</tbody></table>
                </Panel>
            )}
        </>
    );
}

function Detail({ failure, data }: { failure: Failure; data: Failures }): VNode {
    const now = data.holders.find((one) => one.device === failure.devices[0] && one.kind === failure.kind);
    const used = failure.card?.bank.used ?? null;
    return (
        <article class="failure-card">
            <div class="title-row"><h1>{failureTitle(failure)}</h1><span class="dim">{age(failure.age_ns)} ago</span></div>
            <p class="verdict">{verdict(failure)}</p>
            {failure.free !== null && failure.needed !== null && (
                <div class="needs">
                    <div><span class="dim">needed in one bank</span> {bytes(failure.needed)}</div>
                    <Bar used={failure.largest_free} capacity={Math.max(failure.needed, failure.largest_free ?? 0)} label="largest block, of what was needed" tone="tone-cb" />
                    <div><span class="dim">largest free block</span> {bytes(failure.largest_free)}{used !== null && <>, {bytes(used)} in use</>}</div>
                </div>
            )}
            <Facts failure={failure} />
            {failure.blocker !== null && (
                <p class="notice">In the way: {nameOf(failure.blocker.name)}, {bytes(failure.blocker.used)} at {address(failure.blocker.address)}.</p>
            )}
            {failure.card ? <CardParts card={failure.card} failure={failure} /> : null}
            {failure.no_card ? <p class="dim">There is no card of it: {failure.no_card}</p> : null}
            {now !== undefined && <Panel title="Who holds most now"><Names groups={now.by_name} /></Panel>}
        </article>
    );
}

export function FailuresView(): VNode {
    const { query } = route.value;
    const answer = useAnswer<Failures>("/v1/failures?limit=200");
    return (
        <Show answer={answer}>{(data) => {
            const all = [...data.failures, ...(data.kept ?? []).map((one) => one.failure)];
            if (all.length === 0) return <><Empty title="Nothing has failed"><p>Out-of-memory failures and clashes of circular buffers show here, with what held the memory.</p></Empty><HiddenNote of={data} /></>;
            const wanted = `${query.get("pid") ?? ""} ${query.get("time") ?? ""}`;
            const shown = all.find((one) => keyOf(one) === wanted) ?? (all[0] as Failure);
            return (
                <div class="master">
                    <nav class="list" aria-label="failures">
                        {all.map((one) => (
                            <Link key={keyOf(one)} href={addressOf("/failures", { pid: one.pid, time: one.time_ns })}
                                current={one === shown}>
                                <b>{failureTitle(one)}</b>
                                <span class="dim">{clock(one.time_ns)}, process {one.pid}{one.name === null ? "" : `, ${one.name}`}</span>
                            </Link>))}
                        <HiddenNote of={data} />
                    </nav>
                    <Detail failure={shown} data={data} />
                </div>
            );
        }}</Show>
    );
}
