// SPDX-License-Identifier: Apache-2.0
// What happened to the processes of a chip, as marks of its time line.

import type { Failure, Failures, Marks, PastMoment, PostMortem, Process } from "./types";
import { bytes, clock } from "./units";

export interface Mark {
    time: number;
    text: string;
    isBad: boolean;
}

export interface Sources {
    live: readonly Process[];
    failures: readonly Failure[];
    /** Failures of processes that have ended. */
    kept: NonNullable<Failures["kept"]>;
    deaths: readonly PostMortem[];
    marks: Marks["moments"];
    past: readonly PastMoment[];
    /** All marks count: those of a saved page or a recording are of its processes. */
    isSaved: boolean;
}

const FAILURE_WORDS: Record<Failure["type"], string> = { out_of_memory: "out of memory", cb_clash: "clash", unknown_free: "unknown free" };

/** The last first. The past has no chips, so of it counts what is of a process that uses or used the chip. */
export function timelineMarks({ live, failures, kept, deaths, marks, past, isSaved }: Sources): Mark[] {
    const found = new Map<string, Mark>();
    const add = (type: string, pid: number, time_ns: number, text: string, isBad: boolean): void => {
        // The same from two sources is one mark. Marks have names, and many may be made at once.
        const key = `${type} ${pid} ${Math.round(time_ns / 1e6)} ${type === "mark" ? text : ""}`;
        if (!found.has(key)) found.set(key, { time: time_ns / 1e9, text: `${clock(time_ns)} process ${pid}${text}`, isBad });
    };
    const pids = new Set([...live.map((one) => one.pid), ...deaths.map((one) => one.process.pid), ...kept.map((one) => one.pid)]);
    for (const one of failures) add("failure", one.pid, one.time_ns, `: ${one.verdict}`, true);
    for (const { pid, failure } of kept) add("failure", pid, failure.time_ns, `: ${failure.verdict}`, true);
    for (const one of deaths) add("death", one.process.pid, one.died_ns, " ended", one.ending === "signal");
    for (const one of marks) {
        if (isSaved || pids.has(one.pid)) add("mark", one.pid, one.time_ns, `: mark ${one.name}`, false);
    }
    for (const one of past) {
        if (!pids.has(one.pid)) continue;
        if (one.type === "mark") add("mark", one.pid, one.time_ns, `: mark ${one.name ?? ""}`, false);
        else if (one.type === "death") add("death", one.pid, one.time_ns, " ended", one.ending === "signal");
        else {
            const what = one.failure_type === null ? "failure" : FAILURE_WORDS[one.failure_type];
            add("failure", one.pid, one.time_ns, `: ${what}${one.requested === null ? "" : `, ${bytes(one.requested)}`}`, true);
        }
    }
    for (const one of live) add("start", one.pid, one.start_time_ns, " started", false);
    return [...found.values()].sort((a, b) => b.time - a.time);
}
