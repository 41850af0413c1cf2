// SPDX-License-Identifier: Apache-2.0
// Saves the host as it is now in one HTML file: this page with its data inside. It needs no network and no daemon.

import { addressOf } from "../model/router";
import { ALL_ALLOCATIONS } from "../model/saved";
import type { SavedAnswers } from "../model/saved";
import { get, hasDetails, isSaved, status } from "../model/source";
import { KINDS } from "../model/types";
import type { Status } from "../model/types";
import { save } from "../parts/basics";

const MOST_DEVICES = 32;

/** The addresses that the views ask for. */
export function addressesOf(view: Status): string[] {
    const list = ["/v1/failures?limit=5", "/v1/failures?limit=200", "/v1/growth?limit=6", "/v1/history", "/v1/post-mortems?limit=100",
        "/v1/allocations?group=name&limit=10000"];
    for (const kind of KINDS) {
        list.push(addressOf("/v1/allocations", { group: "name", kind, limit: 10_000 }));
    }
    list.push(ALL_ALLOCATIONS);
    for (const device of view.devices.slice(0, MOST_DEVICES)) {
        const core = device.l1_worst_core?.core?.join(",") ?? null;
        list.push(addressOf("/v1/history", { device: device.id }), addressOf("/v1/failures", { device: device.id, limit: 100 }),
            addressOf("/v1/post-mortems", { device: device.id, limit: 100 }), addressOf("/v1/cores", { device: device.id }));
        if (core !== null) {
            list.push(addressOf("/v1/map", { device: device.id, kind: "l1", core, limit: 60 }),
                addressOf("/v1/map", { device: device.id, kind: "cb", core, limit: 8 }));
        }
    }
    const first = view.devices[0];
    if (first !== undefined) {
        for (const kind of ["dram", "l1", "l1_small", "trace"]) {
            list.push(addressOf("/v1/map", { device: first.id, kind, limit: 10_000 }));
        }
    }
    for (const process of view.processes) {
        list.push(addressOf("/v1/allocations", { group: "name", pid: process.pid, limit: 50 }), addressOf("/v1/peak", { pid: process.pid, limit: 10 }));
    }
    return list;
}

/** JSON inside a script element: no character of it can end the element. */
export function embed(answers: SavedAnswers): string {
    return JSON.stringify(answers).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** This document as it was sent, with the data in place of the request for them. */
function documentWith(answers: SavedAnswers): string {
    const copy = document.documentElement.cloneNode(true) as HTMLElement;
    copy.querySelector("#app")?.replaceChildren();
    const data = `<script type="application/json" id="ttmem-data">${embed(answers)}</script>`;
    // eslint-disable-next-line no-restricted-properties -- read, not written
    return `<!doctype html>\n${copy.outerHTML.replace(/<link rel="preload"[^>]*>/, () => data)}\n`;
}

export async function saveAsHtml(): Promise<void> {
    const view = status.value;
    if (view === null || isSaved()) return;
    const answers: SavedAnswers = { "/v1/status": view };
    if (hasDetails.value) {
        for (const address of addressesOf(view)) {
            try {
                answers[address] = await get(address);
            } catch {
                // The view says that it was not saved.
            }
        }
    }
    save(`ttmem-${view.host}.html`, documentWith(answers), "text/html");
}
