// SPDX-License-Identifier: Apache-2.0
// What two moments held, and the difference.

import { KINDS } from "./types";
import type { AnyKind, Group, HistorySeries, Kind, Status } from "./types";

export interface Moment {
    title: string;
    time_ns: number;
    /** "device kind" to bytes */
    pools: Record<string, number>;
    /** "kind name" to bytes; null where only counters are known */
    names: Record<string, number> | null;
}

export const poolKey = (device: number, kind: AnyKind): string => `${device} ${kind}`;

export function momentOf(title: string, status: Status, groups: readonly Group[] | null): Moment {
    const pools: Record<string, number> = {};
    for (const device of status.devices) {
        for (const kind of KINDS) {
            const used = device.memory[kind].used;
            if (used !== null) pools[poolKey(device.id, kind)] = used;
        }
    }
    return { title, time_ns: status.time_ns, pools, names: groups === null ? null : namesOf(groups) };
}

function namesOf(groups: readonly Group[]): Record<string, number> {
    const names: Record<string, number> = {};
    for (const group of groups) {
        for (const kind of KINDS) {
            const used = group.memory[kind].used;
            if (used > 0) names[`${kind} ${group.key ?? "(no name)"}`] = used;
        }
    }
    return names;
}

/** The last sample at or before the time, of each series. */
export function momentAt(series: readonly HistorySeries[], time_ns: number): Moment {
    const pools: Record<string, number> = {};
    for (const one of series) {
        let found: number | null = null;
        for (const sample of one.samples) {
            if (sample.time_ns > time_ns) break;
            found = sample.used;
        }
        if (found !== null) pools[poolKey(one.device, one.kind)] = found;
    }
    return { title: "", time_ns, pools, names: null };
}

export interface Difference {
    key: string;
    kind: Kind;
    label: string;
    before: number;
    after: number;
    grown: number;
}

/** What is different, the largest change first. A key that one side lacks was 0 there. */
export function differences(before: Record<string, number>, after: Record<string, number>): Difference[] {
    const result: Difference[] = [];
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
        const a = before[key] ?? 0;
        const b = after[key] ?? 0;
        if (a === b) continue;
        const space = key.indexOf(" ");
        const isPool = /^\d+$/.test(key.slice(0, space));
        const kind = (isPool ? key.slice(space + 1) : key.slice(0, space)) as Kind;
        const label = isPool ? `chip ${key.slice(0, space)}` : key.slice(space + 1);
        result.push({ key, kind, label, before: a, after: b, grown: b - a });
    }
    return result.sort((x, y) => Math.abs(y.grown) - Math.abs(x.grown));
}
