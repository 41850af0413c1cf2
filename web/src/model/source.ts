// SPDX-License-Identifier: Apache-2.0
// Where the page gets its data: from the daemon, from a document that contains them (a page that was saved), or from a recording.

import { signal } from "@preact/signals";
import { EventParser } from "./event_parser";
import { savedAnswer } from "./saved";
import type { SavedAnswers } from "./saved";
import { apply } from "./status";
import type { Status, StatusChange } from "./types";

export class ApiError extends Error {
    constructor(readonly status: number, message: string) {
        super(message);
    }
}

export type Connection = "connecting" | "live" | "lost" | "refused" | "saved" | "recording";

export const status = signal<Status | null>(null);
export const connection = signal<Connection>("connecting");
/** What the user should know about the connection: why it is lost or refused. */
export const problem = signal("");
/** Counts the messages of the stream; what depends on the host is asked for again when it rises. */
export const round = signal(0);
export const lastMessage = signal(0);
/** False over TCP without a token: only totals are shown. */
export const hasDetails = signal(true);

const TOKEN_KEY = "ttmem-token";
const INTERVAL_MS = 500;

/** Answers without a daemon; undefined if there is none. */
type Provider = (address: string) => unknown;
let provider: Provider | null = null;
let notThere = "This was not saved with the page.";
let stream: Stream | null = null;
let token: string | null = null;

/** The fragment is removed at once, so that it is in no history and no shared link. The token stays in this tab. */
function takeToken(): void {
    const match = /^#token=([0-9A-Za-z_.~-]+)$/.exec(location.hash);
    if (match?.[1] === undefined) {
        token = storedToken();
        return;
    }
    token = match[1];
    // It is stored after the first picture, because the first use of the storage waits for another process; or before if the tab leaves the page.
    addEventListener("pagehide", storeToken);
    history.replaceState(null, "", location.pathname + location.search);
}

function storedToken(): string | null {
    try {
        return sessionStorage.getItem(TOKEN_KEY);
    } catch {
        return null;
    }
}

function storeToken(): void {
    try {
        if (token !== null) sessionStorage.setItem(TOKEN_KEY, token);
    } catch {
        // No storage: for this page only.
    }
}

export function isSaved(): boolean {
    return provider !== null;
}

function headers(): Record<string, string> {
    return token === null ? {} : { Authorization: `Bearer ${token}` };
}

async function errorOf(response: Response): Promise<ApiError> {
    let text = `the daemon answered ${response.status}`;
    try {
        const body = (await response.json()) as { error?: string };
        text = body.error ?? text;
    } catch {
        // Not JSON: something else answers there.
    }
    return new ApiError(response.status, text);
}

export async function get<T>(address: string, abort?: AbortSignal): Promise<T> {
    if (provider !== null) {
        const answer = provider(address);
        if (answer === undefined) throw new ApiError(404, notThere);
        return answer as T;
    }
    const response = await fetch(address, { headers: headers(), signal: abort ?? null, cache: "no-store" });
    if (!response.ok) throw await errorOf(response);
    return (await response.json()) as T;
}

/** A token that the daemon does not know any more is forgotten, and the totals are shown. */
function forgetToken(): void {
    token = null;
    try {
        sessionStorage.removeItem(TOKEN_KEY);
    } catch {
        // No storage: it was in memory only.
    }
}

class Stream {
    private abort: AbortController | null = null;
    private lastId = "";
    private pending: { event: string; data: string }[] = [];
    private frame = 0;
    private retryMs = 250;
    private timer = 0;
    private isEnded = false;

    /** For good: something else is shown. */
    end(): void {
        this.isEnded = true;
        this.stop();
    }

    start(): void {
        document.addEventListener("visibilitychange", () => {
            if (document.hidden) this.stop();
            else this.open();
        });
        this.open();
    }

    private stop(): void {
        clearTimeout(this.timer);
        this.abort?.abort();
        this.abort = null;
    }

    private open(): void {
        if (this.abort !== null || document.hidden || this.isEnded) return;
        this.abort = new AbortController();
        void this.read(this.abort);
    }

    private async read(abort: AbortController): Promise<void> {
        try {
            const fields = headers();
            if (this.lastId !== "") fields["Last-Event-ID"] = this.lastId;
            const response = await fetch(`/v1/stream?interval_ms=${INTERVAL_MS}`, {
                headers: fields, signal: abort.signal, cache: "no-store",
            });
            if (!response.ok || response.body === null) throw await errorOf(response);
            await this.readBody(response.body);
            throw new Error("the daemon ended the stream");
        } catch (error) {
            if (abort.signal.aborted) return;
            this.abort = null;
            this.failed(error);
        }
    }

    private async readBody(body: ReadableStream<Uint8Array>): Promise<void> {
        const parser = new EventParser();
        const decoder = new TextDecoder();
        const reader = body.getReader();
        for (;;) {
            const { value, done } = await reader.read();
            if (done) return;
            lastMessage.value = Date.now();
            for (const event of parser.take(decoder.decode(value, { stream: true }))) {
                if (event.id !== null) this.lastId = event.id;
                this.pending.push(event);
            }
            if (this.pending.length > 0 && this.frame === 0) {
                this.frame = requestAnimationFrame(() => this.show());
            }
        }
    }

    /** Once per frame, whatever came. */
    private show(): void {
        this.frame = 0;
        if (this.isEnded) return;
        let now = status.value;
        for (const { event, data } of this.pending.splice(0)) {
            if (event === "view") now = JSON.parse(data) as Status;
            else if (event === "change" && now !== null) now = apply(now, JSON.parse(data) as StatusChange);
        }
        this.retryMs = 250;
        status.value = now;
        connection.value = "live";
        problem.value = "";
        round.value += 1;
    }

    private failed(error: unknown): void {
        if (error instanceof ApiError && error.status === 401) {
            forgetToken();
            this.lastId = "";
            hasDetails.value = false;
            problem.value = "The token of this page is not valid any more. Run 'ttmem web' for a new one.";
        } else {
            const isRefused = error instanceof ApiError;
            connection.value = isRefused ? "refused" : "lost";
            problem.value = isRefused ? error.message : "The daemon does not answer. Trying again.";
        }
        this.timer = window.setTimeout(() => this.open(), this.retryMs);
        this.retryMs = Math.min(this.retryMs * 2, 5000);
    }
}

async function findOutPermissions(): Promise<void> {
    try {
        await get("/v1/failures?limit=1");
        hasDetails.value = true;
    } catch (error) {
        if (error instanceof ApiError && (error.status === 403 || error.status === 401)) hasDetails.value = false;
    }
}

/** Counters come at once; the stream scans ledgers first. Everybody may see them, so no token is sent, and the document can preload them. */
async function getCounters(): Promise<void> {
    try {
        const response = await fetch("/v1/status?scan=false");
        if (response.ok) status.value = (await response.json()) as Status;
    } catch {
        // The stream says what is wrong.
    }
}

const untilPainted = async (): Promise<void> => {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
};

/** `show` draws the page. The document has asked for the counters before this script was there, so the first picture has them. Everything
 * else is asked for when it is painted, because the daemon's scan would compete with it. */
export async function start(answers: SavedAnswers | null, show: () => void): Promise<void> {
    if (answers !== null) {
        provider = (address) => savedAnswer(answers, address);
        status.value = answers["/v1/status"] as Status;
        connection.value = "saved";
        round.value = 1;
        show();
        return;
    }
    takeToken();
    await getCounters();
    show();
    await untilPainted();
    storeToken();
    if (isSaved()) return;
    stream = new Stream();
    stream.start();
    await findOutPermissions();
}

/** Shows a moment of a recording in place of the host. */
export function showRecorded(view: Status, answer: Provider, missing: string): void {
    stream?.end();
    provider = answer;
    notThere = missing;
    status.value = view;
    connection.value = "recording";
    problem.value = "";
    hasDetails.value = true;
    round.value += 1;
}
