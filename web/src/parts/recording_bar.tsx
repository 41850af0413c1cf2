// SPDX-License-Identifier: Apache-2.0
// Opens recordings, and chooses the moment of one that is shown.

import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { moveTo, opened, openRecording, refusal } from "../model/recorded";
import { age, clock } from "../model/units";
import { status } from "../model/source";

const MS = 1e6;

/** A file that is dropped anywhere on the page is opened. */
export function useDrop(): void {
    useEffect(() => {
        const over = (event: DragEvent): void => event.preventDefault();
        const drop = (event: DragEvent): void => {
            event.preventDefault();
            const file = event.dataTransfer?.files[0];
            if (file !== undefined) void openRecording(file);
        };
        addEventListener("dragover", over);
        addEventListener("drop", drop);
        return () => {
            removeEventListener("dragover", over);
            removeEventListener("drop", drop);
        };
    }, []);
}

export function OpenButton(): VNode {
    return (
        <label class="open-button" title="Open a recording of 'ttmem record', or drop it on the page. It stays in this browser.">open
            <input type="file" aria-label="open a recording" onChange={(event) => {
                const file = event.currentTarget.files?.[0];
                if (file !== undefined) void openRecording(file);
                event.currentTarget.value = "";
            }} />
        </label>
    );
}

export function RecordingBar(): VNode | null {
    const recording = opened.value;
    if (refusal.value !== "") {
        return <p class="banner" role="alert">{refusal.value} <button type="button" onClick={() => (refusal.value = "")}>close</button></p>;
    }
    if (recording === null) return null;
    const { first, last, at, moments, problems } = recording;
    const text = `+${((at - first) / 1e9).toFixed(3)}s`;
    return (
        <section class="recording" aria-label="recording">
            <div class="recording-line">
                <b class="name">{recording.name}</b>
                <input type="range" min={0} max={Math.ceil((last - first) / MS)} value={Math.round((at - first) / MS)} aria-label="moment" aria-valuetext={text}
                    onInput={(event) => moveTo(Math.min(first + Number(event.currentTarget.value) * MS, last))} />
                <output>{text} of {age(last - first)}{status.value !== null && `, ${clock(status.value.time_ns)}`}</output>
                <button type="button" onClick={() => location.assign("/")}>back to live</button>
            </div>
            {moments.length > 0 && (
                <div class="recording-moments" role="group" aria-label="moments">{moments.map((moment) => (
                    <button key={moment.title} type="button" aria-pressed={moment.at === at} onClick={() => moveTo(moment.at)}>{moment.title}</button>))}</div>
            )}
            {problems.map((problem) => <p key={problem} class="notice">{problem}</p>)}
        </section>
    );
}
