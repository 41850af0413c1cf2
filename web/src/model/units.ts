// SPDX-License-Identifier: Apache-2.0
// Figures as text, the same as in the terminal (src/view/text/format.cpp).

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;

export const UNKNOWN = "-";

/** "14.1 MiB" */
export function bytes(value: number | null | undefined): string {
    if (value === null || value === undefined) return UNKNOWN;
    if (value < 0) return `-${bytes(-value)}`;
    if (value < 1000) return `${value} B`;
    let amount = value / 1024;
    let unit = 0;
    while (amount >= 999.95 && unit + 1 < UNITS.length) {
        amount /= 1024;
        ++unit;
    }
    // The terminal rounds a half to the even digit, toFixed() up. Of the halves that a number can have exactly, only a quarter differs.
    const isQuarter = (amount * 4) % 4 === 1;
    return `${(isQuarter ? amount - 0.05 : amount).toFixed(1)} ${UNITS[unit] ?? ""}`;
}

/** "+14.1 MiB", "-2.0 KiB", "0 B" */
export function change(value: number): string {
    return value > 0 ? `+${bytes(value)}` : bytes(value);
}

const two = (value: number): string => String(value).padStart(2, "0");

/** "350ms", "12s", "3m20s", "5h07m", "12d03h" */
export function age(ns: number): string {
    const seconds = Math.floor(ns / 1e9);
    if (seconds <= 0 && ns > 0) return ns < 1e6 ? "<1ms" : `${Math.floor(ns / 1e6)}ms`;
    if (seconds < 60) return `${Math.max(seconds, 0)}s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
    if (seconds < 86400) return `${Math.floor(seconds / 3600)}h${two(Math.floor(seconds / 60) % 60)}m`;
    return `${Math.floor(seconds / 86400)}d${two(Math.floor(seconds / 3600) % 24)}h`;
}

/** "45%", rounded down, so that only a full whole is 100%; "<1%" if above 0 */
export function percent(part: number | null, whole: number | null): string {
    if (part === null || whole === null || whole === 0) return UNKNOWN;
    const value = Math.floor((part * 100) / whole);
    return value === 0 && part > 0 ? "<1%" : `${value}%`;
}

/** "0-3,7" */
export function ids(numbers: readonly number[]): string {
    const parts: string[] = [];
    for (let i = 0; i < numbers.length;) {
        let end = i;
        while (end + 1 < numbers.length && numbers[end + 1] === (numbers[end] ?? 0) + 1) ++end;
        parts.push(end > i ? `${numbers[i]}-${numbers[end]}` : `${numbers[i]}`);
        i = end + 1;
    }
    return parts.length === 0 ? UNKNOWN : parts.join(",");
}

export function count(value: number, one: string, many: string): string {
    return `${number(value)} ${value === 1 ? one : many}`;
}

// Not by Intl: its first use loads the formats of all languages, which delays the first picture.
function grouped(value: number): string {
    const [whole = "", fraction] = String(Math.round(value * 1000) / 1000).split(".");
    const text = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return fraction === undefined ? text : `${text}.${fraction}`;
}

/** "12,345" */
export function number(value: number | null | undefined): string {
    return value === null || value === undefined ? UNKNOWN : grouped(value);
}

export function address(value: number | null | undefined): string {
    return value === null || value === undefined ? UNKNOWN : `0x${value.toString(16)}`;
}

export function clock(ns: number): string {
    const time = new Date(ns / 1e6);
    return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

/** What people see for a missing name. */
export function nameOf(name: string | null): string {
    return name ?? "(no name)";
}
