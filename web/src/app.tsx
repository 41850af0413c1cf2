// SPDX-License-Identifier: Apache-2.0
// The frame around every view: where one is, whether it is live, and the keys.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { go, route } from "./model/router";
import { connection, hasDetails, isSaved, lastMessage, problem, status } from "./model/source";
import { theme, toggleTheme } from "./model/theme";
import { age, clock } from "./model/units";
import { Empty, Exactness, Link } from "./parts/basics";
import { useNow } from "./parts/hooks";
import { OpenButton, RecordingBar, useDrop } from "./parts/recording_bar";
import { ChipView } from "./views/chip";
import { CompareView } from "./views/compare";
import { FailuresView } from "./views/failures";
import { HostView } from "./views/host";
import { MemoryView } from "./views/memory";
import { PostMortemView, ProcessesView, ProcessView } from "./views/processes";
import { saveAsHtml } from "./views/save";

const PLACES = [
    { path: "/", text: "Host", key: "h", also: ["chip"] },
    { path: "/memory", text: "Memory", key: "m", also: [] },
    { path: "/processes", text: "Processes", key: "p", also: ["process", "post-mortem"] },
    { path: "/failures", text: "Failures", key: "f", also: [] },
    { path: "/compare", text: "Compare", key: "c", also: [] },
] as const;

const KEYS: [string, string][] = [
    ...PLACES.map((place): [string, string] => [place.key, place.text]),
    ["0-9", "a chip by its number"], ["/", "search names"], ["t", "dark or light"], ["s", "save this host as one HTML file"],
    ["?", "these keys"], ["Esc", "close, or back to the host"],
];

function View(): VNode {
    const [first, second] = route.value.parts;
    switch (first) {
        case undefined: return <HostView />;
        case "chip": return <ChipView key={second ?? ""} id={second ?? ""} />;
        case "memory": return <MemoryView />;
        case "processes": return <ProcessesView />;
        case "process": return <ProcessView key={second ?? ""} pid={second ?? ""} />;
        case "post-mortem": return <PostMortemView key={second ?? ""} pid={second ?? ""} />;
        case "failures": return <FailuresView />;
        case "compare": return <CompareView />;
        default: return <Empty title="There is no such view"><p><Link href="/">Go to the host</Link></p></Empty>;
    }
}

const STALE_MS = 25_000;

function State(): VNode {
    const now = useNow();
    const silent = now - lastMessage.value;
    if (connection.value === "saved") {
        return <span class="chip">saved {status.value === null ? "" : clock(status.value.time_ns)}</span>;
    }
    if (connection.value === "recording") return <span class="chip">recording</span>;
    if (connection.value === "live") {
        return silent > STALE_MS ? <span class="chip warn">no word for {age(silent * 1e6)}</span>
            : <span class="chip ok"><i class="dot" />live</span>;
    }
    const words = { connecting: "connecting", lost: "reconnecting", refused: "refused" }[connection.value];
    return <span class="chip warn">{words}</span>;
}

function Help({ onClose }: { onClose: () => void }): VNode {
    const box = useRef<HTMLDialogElement>(null);
    useEffect(() => box.current?.showModal(), []);
    return (
        <dialog ref={box} class="help" aria-label="keys" onClose={onClose} onClick={(event) => event.target === box.current && box.current?.close()}>
            <h2>Keys</h2>
            <dl>{KEYS.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
            <form method="dialog"><button type="submit">close</button></form>
        </dialog>
    );
}

function useKeys(setHelp: (isOpen: boolean) => void): void {
    useEffect(() => {
        const press = (event: KeyboardEvent): void => {
            const target = event.target as HTMLElement;
            if (event.ctrlKey || event.metaKey || event.altKey || target.closest("dialog") !== null) return;
            if (["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName)) {
                if (event.key === "Escape") target.blur();
                return;
            }
            const place = PLACES.find((one) => one.key === event.key);
            if (place !== undefined) go(place.path);
            else if (/^[0-9]$/.test(event.key)) go(`/chip/${event.key}`);
            else if (event.key === "t") toggleTheme();
            else if (event.key === "s") void saveAsHtml();
            else if (event.key === "?") setHelp(true);
            else if (event.key === "Escape") go("/");
            else if (event.key === "/") {
                if (route.value.parts[0] !== "memory") go("/memory?view=list");
                setTimeout(() => document.getElementById("search")?.focus(), 50);
            } else return;
            event.preventDefault();
        };
        addEventListener("keydown", press);
        return () => removeEventListener("keydown", press);
    }, []);
}

export function App(): VNode {
    const [isHelp, setHelp] = useState(false);
    useKeys(setHelp);
    useDrop();
    const view = status.value;
    const first = route.value.parts[0] ?? "";
    useEffect(() => {
        const place = PLACES.find((one) => one.path === `/${first}` || (one.also as readonly string[]).includes(first));
        const what = first === "" ? "" : `${route.value.parts.join(" ")} `;
        document.title = `${what || (place?.text ?? "")} · ${view?.host ?? "ttmem"}`;
    }, [route.value.path, view?.host]);
    return (
        <>
            <a class="skip" href="#main">to the content</a>
            <header class="top">
                <Link href="/" class="logo"><span class="logo-mark" aria-hidden="true" />ttmem</Link>
                <span class="host">{view?.host ?? ""}</span>
                <nav aria-label="views">{PLACES.map((place) => (
                    <Link key={place.path} href={place.path}
                        current={place.path === `/${first}` || (place.also as readonly string[]).includes(first)}>{place.text}</Link>))}</nav>
                <div class="state" aria-live="polite">
                    {view !== null && <Exactness of={view} />}
                    <State />
                    {connection.value !== "saved" && <OpenButton />}
                    {!isSaved() && <button type="button" class="quiet-button" onClick={() => void saveAsHtml()} title="Save this host as one HTML file (s)">save</button>}
                    <button type="button" class="quiet-button" onClick={toggleTheme} title="dark or light (t)">{theme.value === "dark" ? "light" : "dark"}</button>
                    <button type="button" class="quiet-button" onClick={() => setHelp(true)} aria-label="keys" title="keys (?)">?</button>
                </div>
            </header>
            <RecordingBar />
            {problem.value !== "" && <p class="banner" role="alert">{problem.value}</p>}
            {!hasDetails.value && problem.value === "" && (
                <p class="banner soft">Only totals are shown. Run <code>ttmem web</code> on the host to see your processes in detail.</p>)}
            <main id="main" tabIndex={-1} class={connection.value === "lost" ? "stale" : ""}><View /></main>
            {isHelp && <Help onClose={() => setHelp(false)} />}
        </>
    );
}
