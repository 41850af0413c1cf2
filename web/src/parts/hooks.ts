// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { pauseMs } from "../model/pace";
import { ApiError, connection, get, isSaved, round } from "../model/source";

export interface Answer<T> {
    data: T | null;
    error: string;
    isDenied: boolean;
    isLoading: boolean;
}

const LEAST_MS = 1500;
// The answers that the view asks for repeatedly. All of them together cost the daemon at most a fiftieth of a processor.
let activeAnswers = 0;

export interface Asking {
    /** The least time between two requests. */
    leastMs?: number;
    /** What is added to the address when it is asked for, such as a time that moves on. */
    now?: () => string;
    /** The answer of the address before is shown until that of a new one is there. */
    keepsOld?: boolean;
}

/** The answer of an address; null: nothing is asked. It is asked again when the host changes, while the tab is visible. */
export function useAnswer<T>(address: string | null, { leastMs = LEAST_MS, now = (): string => "", keepsOld = false }: Asking = {}): Answer<T> {
    const [answer, setAnswer] = useState<Answer<T> & { of: string | null }>(
        { data: null, error: "", isDenied: false, isLoading: true, of: null });
    const addition = useRef(now);
    addition.current = now;
    useEffect(() => {
        if (address === null) return;
        const abort = new AbortController();
        let isRunning = false;
        let timer = 0;
        let lastMs = 0;
        const took: number[] = [];
        ++activeAnswers;
        const ask = async (): Promise<void> => {
            isRunning = true;
            const start = performance.now();
            try {
                const data = await get<T>(address + addition.current(), abort.signal);
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
            lastMs = performance.now();
            took.push(lastMs - start);
            if (took.length > 3) took.shift();
        };
        const waitMs = (): number => (isSaved() ? 0 : lastMs + pauseMs(took, activeAnswers, leastMs) - performance.now());
        void ask();
        const stop = round.subscribe(() => {
            if (isRunning || timer !== 0 || document.hidden || connection.value === "saved") return;
            timer = window.setTimeout(() => {
                timer = 0;
                if (!document.hidden && !isRunning) void ask();
            }, Math.max(waitMs(), 0));
        });
        return () => {
            --activeAnswers;
            abort.abort();
            stop();
            clearTimeout(timer);
        };
    }, [address]);
    if (answer.of === address) return answer;
    return keepsOld && answer.data !== null ? { ...answer, isLoading: true } : { data: null, error: "", isDenied: false, isLoading: true };
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
