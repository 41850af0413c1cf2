// SPDX-License-Identifier: Apache-2.0
// A recording that the user opened in the page. It is read here; nothing of it leaves the browser.

import { signal } from "@preact/signals";
import type { Recording } from "../recording/recording";
import type { NotableMoment, Timeline } from "../recording/timeline";
import { go } from "./router";
import { showRecorded } from "./source";
import type { History, Marks } from "./types";

export interface OpenRecording {
    name: string;
    first: number;
    last: number;
    at: number;
    problems: string[];
    moments: NotableMoment[];
}

export const opened = signal<OpenRecording | null>(null);
/** Why a file could not be opened. */
export const refusal = signal("");

const NOT_THERE = "The page does not show this of a recording. The command line does, with --recording FILE.";

let show: ((at: number) => void) | null = null;

export async function openRecording(file: File): Promise<void> {
    try {
        const { Recording } = await import("../recording/recording");
        const { timelineOf } = await import("../recording/timeline");
        const { Moment } = await import("../recording/answers");
        const recording = new Recording(file.name, new Uint8Array(await file.arrayBuffer()));
        const timeline = timelineOf(recording);
        show = (at) => {
            const moment = new Moment(recording, at);
            // The time line has the whole recording, whatever the moment.
            const answer = (address: string): unknown => {
                if (address.startsWith("/v1/history")) return historyOf(recording, timeline, address);
                return address.startsWith("/v1/marks") ? marksOf(recording, timeline) : moment.answer(address);
            };
            showRecorded(moment.status, answer, NOT_THERE);
        };
        const { first, last, problems } = recording;
        refusal.value = "";
        moveTo(last, { name: file.name, first, last, at: last, problems, moments: timeline.moments });
        go("/");
    } catch (error) {
        refusal.value = error instanceof Error ? error.message : String(error);
    }
}

/** Shows the recording as it was at this time. */
export function moveTo(at: number, recording: OpenRecording | null = opened.value): void {
    if (recording === null) return;
    opened.value = { ...recording, at };
    show?.(at);
}

function marksOf(recording: Recording, timeline: Timeline): Marks {
    const marks = timeline.marks.map((mark) => ({ pid: mark.pid, name: mark.name, time_ns: recording.startedEpoch + mark.at }));
    return { moments: marks.reverse() };
}

function historyOf(recording: Recording, timeline: Timeline, address: string): History {
    const device = new URLSearchParams(address.split("?")[1] ?? "").get("device");
    return {
        schema: 1, host: recording.host.host, time_ns: recording.startedEpoch + recording.last, source: "recording", exact: true, inexact: [],
        series: timeline.series.filter((one) => device === null || String(one.device) === device),
    };
}
