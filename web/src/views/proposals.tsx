// SPDX-License-Identifier: Apache-2.0
// What would have made a failed request fit, in the words of the terminal (src/view/text/ways_text.cpp).

import type { VNode } from "preact";
import type { Card, Fix, Failure, Release } from "../model/types";
import { address, age, bytes, count } from "../model/units";
import { Panel } from "../parts/basics";

interface Proposal {
    text: string;
    release: Release | null;
}

const only = (text: string): Proposal => ({ text, release: null });
const verb = (release: Release): string => (release.can_move ? "freeing or moving" : "freeing");
const amount = (release: Release): string => `${bytes(release.bytes)} per bank in ${count(release.count, "allocation", "allocations")}`;

function ofRequest(fix: Fix, failure: Failure, banks: number): Proposal[] {
    const proposals = fix.to_free.map((release, i): Proposal => ({
        release, text: `${i === 0 ? "would fit after" : "or after"} ${verb(release)} ${amount(release)}, at address ${address(release.address)}`,
    }));
    if (fix.fewest_names !== null) {
        const release = fix.fewest_names;
        proposals.push({ release, text: `or, with fewer names, after ${verb(release)} ${amount(release)}, at address ${address(release.address)}` });
    }
    proposals.push(only(fix.fits_after_compaction ? "would fit if what is live lay without gaps (compaction)" : "compaction would not suffice"));
    if (fix.with_cores !== null) proposals.push(only(`would fit over ${count(fix.with_cores, "core", "cores")}`));
    if (fix.with_page !== null) proposals.push(only(`would fit in pages of ${bytes(fix.with_page)}`));
    if (fix.dram_address !== null) proposals.push(only(`would fit in dram as it is now, interleaved, at address ${address(fix.dram_address)}`));
    if (fix.region_size !== null) {
        proposals.push(only(failure.kind === "l1_small" ? `l1_small_size ${fix.region_size} would hold it and what is live`
            : `trace_region_size ${fix.region_size} (of all banks) would hold it and what is live; a runtime that counts it per bank needs ${Math.floor(fix.region_size / Math.max(banks, 1))}`));
    }
    return proposals;
}

function ofClash(fix: Fix): Proposal[] {
    const proposals = [
        ...fix.to_shrink.map((one) => only(`would fit if the circular buffer at ${address(one.address)} (${bytes(one.bytes)}${one.name === null ? "" : `, ${one.name}`}) were ${bytes(one.by)} smaller`)),
        ...fix.to_free.map((release): Proposal => ({ release, text: `would fit after ${verb(release)} ${amount(release)}` })),
    ];
    if (fix.region_size !== null) proposals.push(only(`would fit with l1_small_size ${fix.region_size}: the L1 buffers then lie higher`));
    return proposals.length > 0 ? proposals : [only("no single change suffices: take from several circular buffers, or use more cores")];
}

function Blocks({ release }: { release: Release }): VNode {
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="allocations"><table><tbody>
            {release.blocks.map((block) => (
                <tr key={block.address}><td class="num mono">{address(block.address)}</td><td class="num">{bytes(block.bytes)}</td>
                    <td class="num">{age(block.age_ns)} old</td><td class="grow name">{block.name ?? `buffer ${block.owner}`}</td></tr>))}
            {release.count > release.blocks.length && <tr><td colSpan={4}>... and {release.count - release.blocks.length} more</td></tr>}
        </tbody></table></div>
    );
}

export function Proposals({ card, failure }: { card: Card; failure: Failure }): VNode | null {
    const fix = card.fix ?? null;
    if (fix === null) {
        return card.no_fix ? <Panel title="What would have made it fit"><p class="quiet">no proposal: {card.no_fix}</p></Panel> : null;
    }
    const proposals = failure.type === "cb_clash" ? ofClash(fix) : ofRequest(fix, failure, card.bank.banks ?? 1);
    return (
        <Panel title="What would have made it fit">
            <ul class="proposals">{proposals.map((one) => (
                <li key={one.text}>{one.text}{one.release !== null && <Blocks release={one.release} />}</li>))}</ul>
            {!card.complete && <p class="notice">This rests on part of the map: the bank had too many allocations.</p>}
        </Panel>
    );
}
