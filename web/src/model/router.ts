// SPDX-License-Identifier: Apache-2.0
// Addresses of views. A saved page is a file, so its views are in the fragment.

import { signal } from "@preact/signals";
import { isSaved } from "./source";

export interface Route {
    path: string;
    parts: string[];
    query: URLSearchParams;
}

function read(): Route {
    const text = isSaved() ? location.hash.slice(1) || "/" : location.pathname + location.search;
    const mark = text.indexOf("?");
    const path = mark < 0 ? text : text.slice(0, mark);
    return {
        path,
        parts: path.split("/").filter((part) => part !== "").map(decode),
        query: new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)),
    };
}

function decode(part: string): string {
    try {
        return decodeURIComponent(part);
    } catch {
        return part;
    }
}

export const route = signal<Route>({ path: "/", parts: [], query: new URLSearchParams() });

export function startRouter(): void {
    route.value = read();
    addEventListener("popstate", () => (route.value = read()));
    addEventListener("hashchange", () => (route.value = read()));
}

export function go(address: string, how: "push" | "replace" = "push"): void {
    const target = isSaved() ? `#${address}` : address;
    if (how === "push") history.pushState(null, "", target);
    else history.replaceState(null, "", target);
    route.value = read();
    if (how === "push") window.scrollTo(0, 0);
}

/** The address of a view with these parameters; empty ones are left out. */
export function addressOf(path: string, query: Record<string, string | number | null | undefined> = {}): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
        if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
    }
    const text = search.toString();
    return text === "" ? path : `${path}?${text}`;
}

/** Changes parameters of this view; null removes one. */
export function setQuery(changes: Record<string, string | number | null>, how: "push" | "replace" = "replace"): void {
    const query = new URLSearchParams(route.value.query);
    for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === "") query.delete(name);
        else query.set(name, String(value));
    }
    const text = query.toString();
    go(text === "" ? route.value.path : `${route.value.path}?${text}`, how);
}
