// SPDX-License-Identifier: Apache-2.0
// Allocations one by one. Only the rows on the screen are in the document; pages are fetched as the user comes near their end.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { addressOf, go, route, setQuery } from "../model/router";
import { ApiError, get, hasDetails, isSaved, round } from "../model/source";
import type { Allocation, AllocationPage } from "../model/types";
import { address, age, bytes, count, ids, nameOf, number } from "../model/units";
import { Empty, HiddenNote, HowToSeeMore, Kind, memo, Panel, save } from "../parts/basics";
import { useNow } from "../parts/hooks";
import type { Filters } from "./memory";

const ROW = 28;
const FIRST_PAGE = 1000;
const PAGE = 10_000;
const AHEAD = 60;
const SETTLE_MS = 200;

const COLUMNS = [
    { key: "name", text: "name", sort: "name" }, { key: "kind", text: "kind", sort: null },
    { key: "used", text: "used", sort: "used" }, { key: "requested", text: "requested", sort: "requested" },
    { key: "pid", text: "pid", sort: null }, { key: "chips", text: "chips", sort: null },
    { key: "address", text: "address", sort: "address" }, { key: "age", text: "age", sort: "age" },
] as const;

interface Loaded {
    rows: Allocation[];
    first: AllocationPage | null;
    next: string | null;
    error: string;
    at: number;
}

const NOTHING: Loaded = { rows: [], first: null, next: null, error: "", at: 0 };

function useRows(query: Record<string, string>): { loaded: Loaded; more: () => void; reload: () => void; all: () => Promise<Allocation[] | null> } {
    const [loaded, setLoaded] = useState<Loaded>(NOTHING);
    const [version, setVersion] = useState(0);
    const busy = useRef(false);
    const key = JSON.stringify(query);
    const latest = useRef(key);
    latest.current = key;
    useEffect(() => {
        const abort = new AbortController();
        const timer = setTimeout(() => {
            const limit = isSaved() ? PAGE : FIRST_PAGE;
            get<AllocationPage>(addressOf("/v1/allocations", { ...query, limit }), abort.signal).then(
                (page) => setLoaded({ rows: page.allocations, first: page, next: page.next, error: "", at: Date.now() }),
                (error: unknown) => {
                    if (!abort.signal.aborted) setLoaded({ ...NOTHING, error: error instanceof ApiError ? error.message : "The daemon does not answer." });
                });
        }, loaded.first === null ? 0 : SETTLE_MS);
        return () => {
            abort.abort();
            clearTimeout(timer);
        };
    }, [key, version, isSaved() ? round.value : 0]);
    const more = (): void => {
        const cursor = loaded.next;
        if (busy.current || cursor === null) return;
        busy.current = true;
        get<AllocationPage>(addressOf("/v1/allocations", { ...query, limit: PAGE, cursor })).then(
            (page) => setLoaded((old) => (old.next === cursor
                ? { ...old, rows: old.rows.concat(page.allocations), next: page.next } : old)),
            (error: unknown) => setLoaded((old) => ({ ...old, next: null, error: error instanceof Error ? error.message : "" })),
        ).finally(() => (busy.current = false));
    };
    /** Reads on to the end; null if it fails, which is shown, or if another list is shown meanwhile. */
    const all = async (): Promise<Allocation[] | null> => {
        let { rows, next } = loaded;
        busy.current = true;
        try {
            while (next !== null) {
                const page: AllocationPage = await get<AllocationPage>(addressOf("/v1/allocations", { ...query, limit: PAGE, cursor: next }));
                rows = rows.concat(page.allocations);
                next = page.next;
                if (latest.current !== key) return null;
                setLoaded((old) => ({ ...old, rows, next }));
            }
            return rows;
        } catch (error) {
            setLoaded((old) => ({ ...old, error: error instanceof Error ? error.message : "" }));
            return null;
        } finally {
            busy.current = false;
        }
    };
    return { loaded, more, reload: () => setVersion(version + 1), all };
}

const Row = memo(function Row({ one, index, isChosen, sinceNs }: {
    one: Allocation; index: number; isChosen: boolean; sinceNs: number;
}): VNode {
    return (
        <div class={`row ${isChosen ? "chosen" : ""}`} role="row" id={`row-${index}`} aria-rowindex={index + 2} aria-selected={isChosen}
            style={{ transform: `translateY(${index * ROW}px)` }} data-index={index}>
            <span role="gridcell" class="name">{nameOf(one.name)}{typeOf(one)}{one.is_planned && <i class="dim"> planned</i>}{one.view && <i class="dim"> view</i>}</span>
            <span role="gridcell"><Kind kind={one.kind} /></span>
            <span role="gridcell" class="num">{one.reserved_known ? "" : "~"}{bytes(one.used)}</span>
            <span role="gridcell" class="num">{bytes(one.requested)}</span>
            <span role="gridcell" class="num">{one.pid}</span>
            <span role="gridcell">{ids(one.devices)}</span>
            <span role="gridcell" class="num mono">{address(one.address)}</span>
            <span role="gridcell" class="num">{age(one.age_ns + sinceNs)}</span>
        </div>
    );
});

/** A circular buffer is said to be another sort only if it is one. */
function typeOf(one: Allocation): string {
    const type = one.kernel_type ?? (one.cb_type === "circular" ? null : one.cb_type);
    return type === null ? "" : ` (${type})`;
}

export function csv(rows: readonly Allocation[]): string {
    // A leading sign would make a spreadsheet compute a name.
    const text = (value: string): string => `"${(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`;
    const lines = rows.map((one) => [text(one.name ?? ""), one.kind, one.used, one.requested, one.pid, text(one.devices.join(" ")),
        one.address ?? "", one.age_ns].join(","));
    return ["name,kind,used,requested,pid,devices,address,age_ns", ...lines].join("\n");
}

function chooseSort(sort: string): void {
    const { query } = route.value;
    const isSame = (query.get("sort") ?? "used") === sort;
    setQuery({ sort, reverse: isSame && query.get("reverse") !== "true" ? "true" : null });
}

export function AllocationList({ filters }: { filters: Filters }): VNode {
    const { query } = route.value;
    const sort = query.get("sort") ?? "used";
    const isReverse = query.get("reverse") === "true";
    const { device, pid, name } = filters;
    const kind = query.get("kind") ?? "";
    const { loaded, more, reload, all } = useRows({ device, pid, kind, name, sort, reverse: isReverse ? "true" : "" });
    const box = useRef<HTMLDivElement>(null);
    const [top, setTop] = useState(0);
    const [height, setHeight] = useState(480);
    const [chosen, setChosen] = useState(0);
    const [isReading, setReading] = useState(false);
    const now = useNow();
    const total = loaded.first === null ? 0 : loaded.next === null ? loaded.rows.length : loaded.first.total;
    const first = Math.max(Math.floor(top / ROW) - 4, 0);
    const last = Math.min(first + Math.ceil(height / ROW) + 8, loaded.rows.length);
    useEffect(() => {
        if (first + height / ROW + AHEAD > loaded.rows.length) more();
    });
    useEffect(() => {
        const element = box.current;
        if (element === null) return;
        const observer = new ResizeObserver(() => setHeight(element.clientHeight));
        observer.observe(element);
        return () => observer.disconnect();
    }, [loaded.first === null]);

    const choose = (index: number): void => {
        const wanted = Math.max(0, Math.min(index, total - 1));
        setChosen(wanted);
        const element = box.current;
        if (element === null) return;
        if (wanted * ROW < element.scrollTop) element.scrollTop = wanted * ROW;
        else if ((wanted + 2) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (wanted + 2) * ROW - element.clientHeight;
    };
    const open = (index: number): void => {
        const one = loaded.rows[index];
        if (one === undefined || one.address === null) return;
        go(addressOf("/memory", { view: "map", kind: one.kind, device: one.devices[0] ?? null, pid: one.pid, address: one.address }));
    };
    const key = (event: KeyboardEvent): void => {
        const page = Math.floor(height / ROW) - 1;
        const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, PageDown: chosen + page, PageUp: chosen - page, Home: 0, End: total - 1 }[event.key];
        if (to !== undefined) {
            event.preventDefault();
            choose(to);
        } else if (event.key === "Enter") open(chosen);
    };

    const saveAll = async (form: "csv" | "json"): Promise<void> => {
        setReading(true);
        const rows = await all();
        setReading(false);
        if (rows === null) return;
        if (form === "csv") save("ttmem-allocations.csv", csv(rows), "text/csv");
        else save("ttmem-allocations.json", JSON.stringify(rows), "application/json");
    };

    if (loaded.error !== "" && loaded.first === null) {
        return hasDetails.value ? <Empty title="No list"><p>{loaded.error}</p></Empty> : <HowToSeeMore />;
    }
    const page = loaded.first;
    return (
        <Panel title={page === null ? "Allocations" : count(page.total, "allocation", "allocations")} actions={
            <>
                <span class="dim">{loaded.at > 0 && !isSaved() && `read ${age((now - loaded.at) * 1e6)} ago`}</span>
                <button type="button" onClick={reload}>read again</button>
                <button type="button" disabled={isReading} onClick={() => void saveAll("csv")}>CSV</button>
                <button type="button" disabled={isReading} onClick={() => void saveAll("json")}>JSON</button>
            </>}>
            {page === null ? <div class="skeleton tall" role="status" aria-label="loading" />
                : page.total === 0 ? <Empty title="No allocation matches" />
                    : <div class="grid">
                        <div class="row head" role="row" id="list-head" aria-rowindex={1}>{COLUMNS.map((column) => (
                            <span key={column.key} role="columnheader" aria-sort={column.sort === sort ? (isReverse ? "ascending" : "descending") : "none"}>
                                {column.sort === null ? column.text
                                    : <button type="button" class="link" onClick={() => chooseSort(column.sort)}>
                                        {column.text}{column.sort === sort ? (isReverse ? " ▲" : " ▼") : ""}</button>}
                            </span>))}</div>
                        <div class="rows" ref={box} tabIndex={0} role="grid" aria-label="allocations" aria-owns="list-head" onKeyDown={key}
                            aria-rowcount={total + 1} aria-colcount={COLUMNS.length}
                            aria-activedescendant={chosen >= first && chosen < last ? `row-${chosen}` : undefined}
                            onScroll={(event) => setTop(event.currentTarget.scrollTop)}
                            onClick={(event) => {
                                const row = (event.target as HTMLElement).closest<HTMLElement>("[data-index]");
                                if (row !== null) setChosen(Number(row.dataset.index));
                            }}
                            onDblClick={() => open(chosen)}>
                            <div class="rows-all" role="presentation" style={{ height: `${total * ROW}px` }}>
                                {loaded.rows.slice(first, last).map((one, i) => (
                                    <Row key={first + i} one={one} index={first + i} isChosen={first + i === chosen} sinceNs={0} />))}
                            </div>
                        </div>
                        {loaded.error !== "" && <p class="notice" role="status">{loaded.error}</p>}
                        <p class="only-print">The rows on the screen are printed. The CSV file has all {number(page.total)}.</p>
                        <p class="dim no-print">{number(loaded.rows.length)} of {number(page.total)} are here; more come as you scroll.
                            Enter shows an allocation in the address map.</p>
                    </div>}
            {page !== null && <HiddenNote of={page} />}
        </Panel>
    );
}
