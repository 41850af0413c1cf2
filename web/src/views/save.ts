// SPDX-License-Identifier: Apache-2.0
// Saves the host as it is now in one HTML file: this page with its data inside. It needs no network and no daemon.

import { addressOf } from "../model/router";
import FORMS from "../model/saved_addresses.json";
import type { SavedAnswers } from "../model/saved";
import { get, hasDetails, isSaved, status } from "../model/source";
import type { Status } from "../model/types";
import { save } from "../parts/basics";

const MOST_DEVICES = 32;
const MOST_MAPPED_DEVICES = 8;

/** The addresses that the views ask for; 'ttmem export --format html' has the same list. */
export function addressesOf(view: Status): string[] {
    const formed = (of: string, values: Record<string, string | number> = {}): string[] => FORMS.filter((form) => form.of === of).map((form) => {
        const query = Object.entries(form.query as Record<string, string | number>).map(([name, value]) => [name, values[value] ?? value] as const);
        return addressOf(form.path, Object.fromEntries(query));
    });
    return [
        ...formed("host"),
        ...view.devices.slice(0, MOST_DEVICES).flatMap(({ id, l1_worst_core }, i) => [
            ...formed("device", { "{device}": id }),
            ...(i < MOST_MAPPED_DEVICES ? formed("mapped device", { "{device}": id }) : []),
            ...(l1_worst_core?.core ? formed("core", { "{device}": id, "{core}": l1_worst_core.core.join(",") }) : []),
        ]),
        ...view.processes.flatMap(({ pid }) => formed("process", { "{pid}": pid })),
    ];
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
