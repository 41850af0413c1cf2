// SPDX-License-Identifier: Apache-2.0
// Answers of a saved page. What was saved as such is given as it is; lists are also filtered and ordered here.

import type { Allocation, AllocationPage } from "./types";

/** Answers by address. */
export type SavedAnswers = Record<string, unknown>;

export const ALL_ALLOCATIONS = "/v1/allocations?sort=used&limit=10000";

/** As the daemon does: a part of the name, a glob of the whole name, or a regular expression between slashes. */
export function matches(name: string | null, pattern: string): boolean {
    if (pattern === "") return true;
    const text = name ?? "";
    if (pattern.length > 1 && pattern.startsWith("/") && pattern.endsWith("/")) {
        try {
            return new RegExp(pattern.slice(1, -1)).test(text);
        } catch {
            return false;
        }
    }
    if (!/[*?]/.test(pattern)) return text.includes(pattern);
    const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
    return new RegExp(`^${escaped}$`, "s").test(text);
}

const ORDERS: Record<string, (a: Allocation, b: Allocation) => number> = {
    used: (a, b) => b.used - a.used,
    requested: (a, b) => b.requested - a.requested,
    age: (a, b) => b.age_ns - a.age_ns,
    address: (a, b) => (a.address ?? Infinity) - (b.address ?? Infinity),
    name: (a, b) => ((a.name ?? "") < (b.name ?? "") ? -1 : (a.name ?? "") > (b.name ?? "") ? 1 : 0),
};

function filtered(page: AllocationPage, query: URLSearchParams): AllocationPage {
    const kind = query.get("kind");
    const pid = query.get("pid");
    const device = query.get("device");
    const rows = page.allocations.filter((one) => (kind === null || one.kind === kind) && (pid === null || String(one.pid) === pid)
        && (device === null || one.devices.includes(Number(device))) && matches(one.name, query.get("name") ?? ""));
    rows.sort(ORDERS[query.get("sort") ?? "used"]);
    if (query.get("reverse") === "true") rows.reverse();
    return { ...page, total: rows.length, allocations: rows };
}

/** Undefined if the page does not have it. A list that was not saved whole is not filtered: the result could lack rows. */
export function savedAnswer(saved: SavedAnswers, address: string): unknown {
    const exact = saved[address];
    if (exact !== undefined) return exact;
    const [path, text] = address.split("?");
    const query = new URLSearchParams(text ?? "");
    const all = saved[ALL_ALLOCATIONS] as AllocationPage | undefined;
    if (path !== "/v1/allocations" || query.has("group") || query.has("cursor") || all === undefined || all.left_out > 0) return undefined;
    return filtered(all, query);
}
