// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, connection, get, isSaved, round } from "../model/source";

export interface Answer<T> {
    data: T | null;
    error: string;
    isDenied: boolean;
    isLoading: boolean;
}

const LEAST_MS = 1500;
const MOST_MS = 30_000;
// An answer that takes long is asked for less often, so that a page costs the daemon at most a fiftieth of a processor.
const SHARE = 50;

/** The answer of an address; null: nothing is asked. It is asked again when the host changes, while the tab is visible. */
export function useAnswer<T>(address: string | null): Answer<T> {
    const [answer, setAnswer] = useState<Answer<T> & { of: string | null }>(
        { data: null, error: "", isDenied: false, isLoading: true, of: null });
    const next = useRef(0);
    useEffect(() => {
        if (address === null) return;
        const abort = new AbortController();
        let isRunning = false;
        let timer = 0;
        const ask = async (): Promise<void> => {
            isRunning = true;
            const start = performance.now();
            try {
                const data = await get<T>(address, abort.signal);
                if (abort.signal.aborted) return;
                setAnswer({ data, error: "", isDenied: false, isLoading: false, of: address });
            } catch (error) {
                if (abort.signal.aborted) return;
                const isDenied = error instanceof ApiError && (error.status === 403 || error.status === 401);
                const text = error instanceof ApiError ? error.message : "The daemon does not answer.";
                setAnswer((old) => ({
                    data: old.of === address ? old.data : null, error: text, isDenied, isLoading: false, of: address,
                }));
            }
            isRunning = false;
            const took = performance.now() - start;
            next.current = performance.now() + (isSaved() ? 0 : Math.min(Math.max(took * SHARE, LEAST_MS), MOST_MS));
        };
        void ask();
        const stop = round.subscribe(() => {
            if (isRunning || timer !== 0 || document.hidden || connection.value === "saved") return;
            timer = window.setTimeout(() => {
                timer = 0;
                if (!document.hidden && !isRunning) void ask();
            }, Math.max(next.current - performance.now(), 0));
        });
        return () => {
            abort.abort();
            stop();
            clearTimeout(timer);
        };
    }, [address]);
    return answer.of === address ? answer : { data: null, error: "", isDenied: false, isLoading: true };
}

/** The width of an element in CSS pixels, as it changes. */
export function useWidth(): [{ current: HTMLDivElement | null }, number] {
    const ref = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(0);
    useEffect(() => {
        const element = ref.current;
        if (element === null) return;
        setWidth(element.clientWidth);
        const observer = new ResizeObserver(() => setWidth(element.clientWidth));
        observer.observe(element);
        return () => observer.disconnect();
    }, []);
    return [ref, width];
}

/** The time, every second, while the tab is visible. */
export function useNow(): number {
    const [now, setNow] = useState(Date.now());
    useEffect(() => {
        const timer = setInterval(() => {
            if (!document.hidden) setNow(Date.now());
        }, 1000);
        return () => clearInterval(timer);
    }, []);
    return now;
}
