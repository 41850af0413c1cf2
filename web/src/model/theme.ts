// SPDX-License-Identifier: Apache-2.0
import { signal } from "@preact/signals";
import { options } from "preact";

export type Theme = "dark" | "light";
const KEY = "ttmem-theme";

function stored(): Theme | null {
    try {
        const value = localStorage.getItem(KEY);
        return value === "dark" || value === "light" ? value : null;
    } catch {
        return null;
    }
}

export const theme = signal<Theme>("dark");

function show(chosen: Theme): void {
    document.documentElement.dataset.theme = chosen;
    theme.value = chosen;
}

/** The user's choice, else that of the system, as it changes. */
export function startTheme(): void {
    const system = matchMedia("(prefers-color-scheme: light)");
    const follow = (): void => show(stored() ?? (system.matches ? "light" : "dark"));
    system.addEventListener("change", follow);
    follow();
}

/** Paper is light. What is drawn follows before the page is printed. */
export function startPrinting(): void {
    let before: Theme = "dark";
    addEventListener("beforeprint", () => {
        before = theme.value;
        atOnce(() => show("light"));
    });
    addEventListener("afterprint", () => show(before));
}

/** Parts that depend on what changes are drawn before this returns. */
function atOnce(change: () => void): void {
    const { debounceRendering, requestAnimationFrame } = options;
    options.debounceRendering = (draw): void => draw();
    options.requestAnimationFrame = (run): void => run();
    change();
    Object.assign(options, { debounceRendering, requestAnimationFrame });
}

export function toggleTheme(): void {
    const next = theme.value === "dark" ? "light" : "dark";
    try {
        localStorage.setItem(KEY, next);
    } catch {
        // No storage: for this page only.
    }
    show(next);
}

/** Colours of kinds, which people with any colour vision can tell apart (web/test/colors.test.ts). page.css has the same. */
export const KIND_COLORS: Record<string, string> = {
    dram: "#3f93e0", l1: "#d88801", l1_small: "#ffbd00", trace: "#ea53a5", cb: "#016e5f", kernel: "#b79888", system_memory: "#bf4300",
};

// White text is readable on each of them, and on the light theme dark text on their mix with white.
const NAME_COLORS: readonly [number, number, number][] = [
    [47, 109, 179], [168, 96, 28], [31, 127, 106], [154, 74, 134], [91, 86, 184],
    [93, 122, 31], [172, 72, 61], [39, 118, 143], [122, 79, 168], [134, 106, 18],
];

/** The part of a name that says what it is: "mlp" of "model/decoder.3/mlp", "decoder" of "model/decoder.3". */
export function roleOf(name: string): string {
    const last = name.slice(name.lastIndexOf("/") + 1);
    return last.replace(/[.\d]+$/, "");
}

/** A colour of a name: names with the same role have the same colour everywhere. */
export function nameColor(name: string | null, mode: Theme): [number, number, number] {
    if (name === null) return mode === "dark" ? [84, 94, 106] : [176, 185, 195];
    const role = roleOf(name);
    let hash = 2166136261;
    for (let i = 0; i < role.length; ++i) hash = Math.imul(hash ^ role.charCodeAt(i), 16777619);
    hash ^= hash >>> 15;
    const color = NAME_COLORS[(hash >>> 0) % NAME_COLORS.length] ?? [84, 94, 106];
    if (mode === "dark") return [color[0], color[1], color[2]];
    return [lighter(color[0]), lighter(color[1]), lighter(color[2])];
}

const lighter = (value: number): number => Math.round(value + (255 - value) * 0.45);
