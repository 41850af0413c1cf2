// SPDX-License-Identifier: Apache-2.0
// A recording over time: what each chip held, when it was most, and when something failed.

import type { AnyKind, HistorySeries, Kind } from "../model/types";
import { KINDS } from "../model/types";
import { EVENT, TIME_UNIT_NS } from "./columns";
import type { Held } from "./columns";
import { deviceOf, KIND_NAMES } from "./facts";
import type { RecordedProcess, Recording } from "./recording";

const MOST_SAMPLES = 1000;
const MOST_BUTTONS = 20;
const ADDS_NOTHING = 3;

export interface NotableMoment {
    title: string;
    at: number;
}

export interface Timeline {
    series: HistorySeries[];
    /** Peaks, failures, and the first mark of each name. */
    moments: NotableMoment[];
    marks: (NotableMoment & { pid: number; name: string })[];
}

interface Change {
    time: number;
    ids: number[];
    kind: AnyKind;
    bytes: number;
}

/** What the process took and gave back, in order. It begins with what it held when it was first seen, and ends with nothing. */
function* changesOf(recording: Recording, process: RecordedProcess): Generator<Change> {
    const last = recording.stateOf(process, endOf(recording, process));
    if (last === null) return;
    const numbers = new Map([...last.devices].map(([entry, view]) => [entry, recording.idOf(deviceOf(view))]));
    const live = new Map<number, Held>();
    const change = (held: Held, time: number, sign: number): Change => ({
        time, kind: KIND_NAMES[held.kind] ?? "kernel", bytes: held.flags & ADDS_NOTHING ? 0 : sign * held.reserved,
        ids: (last.sets.get(held.set)?.members ?? []).flatMap((entry) => numbers.get(entry) ?? []),
    });
    const start = process.isFromStart ? process.first : (process.blocks.find((block) => block.type === 3)?.last ?? process.first);
    const before = recording.stateOf(process, start);
    for (const [slot, held] of before?.slots ?? []) {
        live.set(slot, held);
        yield change(held, start, 1);
    }
    for (const event of recording.eventsOf(process)) {
        if (event.time <= start || event.isLate) continue;
        const old = live.get(event.slot);
        if ((event.type === EVENT.allocate || event.type === EVENT.free) && old !== undefined) {
            live.delete(event.slot);
            yield change(old, event.time, -1);
        }
        if (event.held !== null) {
            live.set(event.slot, event.held);
            yield change(event.held, event.time, 1);
        }
    }
    if (process.ended !== null) {
        for (const held of live.values()) yield change(held, process.ended, -1);
    }
}

/** The time of an event is rounded down, that of the failure itself is not; `ttmem why --at failure:1` allows for it as much. */
function failureMoments(recording: Recording, process: RecordedProcess): number[] {
    const failures = [...recording.eventsOf(process)].filter((event) => event.type === EVENT.failure);
    return failures.map((event) => Math.min(event.time + 4 * TIME_UNIT_NS, recording.last));
}

/** The changes of all processes by time. */
function* merged(sources: Generator<Change>[]): Generator<Change> {
    const heads = sources.flatMap((source) => {
        const first = source.next();
        return first.done === true ? [] : [{ source, head: first.value }];
    });
    while (heads.length > 0) {
        let least = 0;
        for (let i = 1; i < heads.length; ++i) {
            if ((heads[i]?.head.time ?? 0) < (heads[least]?.head.time ?? 0)) least = i;
        }
        const chosen = heads[least] as { source: Generator<Change>; head: Change };
        yield chosen.head;
        const next = chosen.source.next();
        if (next.done === true) heads.splice(least, 1);
        else chosen.head = next.value;
    }
}

export function timelineOf(recording: Recording): Timeline {
    const step = Math.max((recording.last - recording.first) / MOST_SAMPLES, 1);
    const series = new Map<string, HistorySeries & { now: number; next: number }>();
    const sums = Object.fromEntries(KINDS.map((kind) => [kind, { now: 0, most: 0, at: recording.first }])) as Record<Kind, { now: number; most: number; at: number }>;
    const epoch = (time: number): number => recording.startedEpoch + time;
    for (const { time, ids, kind, bytes } of merged(recording.processes.map((process) => changesOf(recording, process)))) {
        for (const device of ids) {
            const key = `${device} ${kind}`;
            const one = series.get(key) ?? { device, kind, samples: [], now: 0, next: 0 };
            series.set(key, one);
            one.now += bytes;
            const sample = { time_ns: epoch(time), used: one.now };
            // Within one step the highest stays, so that no peak is lost.
            const last = one.samples[one.samples.length - 1];
            if (last === undefined || time >= one.next) {
                one.samples.push(sample);
                one.next = time + step;
            } else if (sample.used > last.used) one.samples[one.samples.length - 1] = sample;
        }
        const sum = sums[kind as Kind];
        if (sum === undefined) continue;
        sum.now += bytes * ids.length;
        if (sum.now > sum.most) Object.assign(sum, { most: sum.now, at: time });
    }
    for (const one of series.values()) one.samples.push({ time_ns: epoch(recording.last), used: one.now });
    const moments = KINDS.filter((kind) => sums[kind].most > 0).map((kind) => ({ title: `peak ${kind}`, at: sums[kind].at }));
    const ends = recording.processes.map((process) => ({ process, state: recording.stateOf(process, endOf(recording, process)) }));
    const failures = recording.processes.flatMap((process) => failureMoments(recording, process));
    const marks = ends.flatMap(({ process, state }) => [...(state?.marks.values() ?? [])].map((mark) => ({
        title: `mark ${state?.nameOf(mark.name) ?? ""}`, name: state?.nameOf(mark.name) ?? "", at: mark.time, pid: process.pid,
    }))).sort((a, b) => a.at - b.at);
    // A process may have made marks before it was recorded.
    const known = marks.filter((mark) => recording.processes.some((process) => process.pid === mark.pid && recording.stateOf(process, mark.at) !== null));
    return {
        series: [...series.values()], marks,
        moments: [
            ...moments,
            ...failures.sort((a, b) => a - b).slice(0, MOST_BUTTONS).map((at, i) => ({ title: `failure ${i + 1}`, at })),
            ...known.filter((mark, i) => known.findIndex((other) => other.title === mark.title) === i).slice(0, MOST_BUTTONS),
        ],
    };
}

/** The last moment at which the process was there. */
const endOf = (recording: Recording, process: RecordedProcess): number => (process.ended === null ? recording.last : process.ended - 1);
