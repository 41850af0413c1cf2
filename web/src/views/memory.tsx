// SPDX-License-Identifier: Apache-2.0
// Memory by scope (treemap, flame graph), allocation by allocation (list) and by address (map), all with the same filters.

import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { flame, treemap } from "../model/layout";
import type { Box, Window } from "../model/layout";
import { addressOf, route, setQuery } from "../model/router";
import { get, hasDetails, isSaved, status } from "../model/source";
import { buildTree, find } from "../model/tree";
import type { Scope } from "../model/tree";
import { KINDS } from "../model/types";
import type { AnyKind, BankMap, Groups, Kind as KindName, MapBlock, Maps } from "../model/types";
import { bytes, count, ids, number, percent } from "../model/units";
import { Choice, Empty, HiddenNote, HowToSeeMore, KIND_WORDS, Link, Panel, Show } from "../parts/basics";
import { useAnswer } from "../parts/hooks";
import { ScopeCanvas } from "../parts/scope_canvas";
import { AddressMap } from "./address_map";
import type { MapPlace } from "./address_map";
import { AllocationList } from "./allocation_list";

const MOST_BLOCKS = 10_000;
const VIEWS = [
    { value: "treemap", text: "treemap" }, { value: "flame", text: "flame graph" },
    { value: "list", text: "list" }, { value: "map", text: "address map" },
] as const;
type ViewName = (typeof VIEWS)[number]["value"];

export interface Filters {
    device: string;
    pid: string;
    kind: KindName;
    name: string;
}

function readFilters(query: URLSearchParams): Filters {
    const kind = query.get("kind") as KindName;
    return {
        device: query.get("device") ?? "", pid: query.get("pid") ?? "", name: query.get("name") ?? "",
        kind: KINDS.includes(kind) ? kind : "dram",
    };
}

function FilterBar({ filters, view }: { filters: Filters; view: ViewName }): VNode {
    const now = status.value;
    return (
        <div class="filters">
            <Choice label="view" value={view} options={VIEWS} onChange={(value) => setQuery({ view: value }, "push")} />
            <Choice<string> label="kind" value={view === "list" ? route.value.query.get("kind") ?? "" : filters.kind}
                options={[...(view === "list" ? [{ value: "", text: "all" }] : []), ...KINDS.map((kind) => ({ value: kind, text: kind }))]}
                onChange={(value) => setQuery({ kind: value, path: null })} />
            <label>chip <select value={filters.device} onChange={(event) => setQuery({ device: event.currentTarget.value })}>
                <option value="">{view === "map" ? "first" : "all"}</option>
                {now?.devices.map((one) => <option key={one.id} value={String(one.id)}>{one.id}</option>)}
            </select></label>
            <label>process <select value={filters.pid} onChange={(event) => setQuery({ pid: event.currentTarget.value })}>
                <option value="">all</option>
                {now?.processes.map((one) => <option key={one.pid} value={String(one.pid)}>{one.comm} {one.pid}</option>)}
            </select></label>
            {view !== "map" && (
                <label class="search">name <input type="search" id="search" value={filters.name} placeholder="part of a name, *glob* or /regex/"
                    onInput={(event) => setQuery({ name: event.currentTarget.value })} /></label>
            )}
        </div>
    );
}

const treemapLayout = (root: Scope, width: number, height: number): Box[] => treemap(root, width, height);
const flameLayout = (root: Scope, width: number): Box[] => flame(root, width, 24);

function Crumbs({ path }: { path: string }): VNode {
    const parts = path.split("/").filter((part) => part !== "");
    return (
        <nav class="crumbs" aria-label="scope">
            <button type="button" disabled={parts.length === 0} onClick={() => setQuery({ path: null }, "push")}>all</button>
            {parts.map((part, i) => (
                <span key={i}> / <button type="button" disabled={i + 1 === parts.length}
                    onClick={() => setQuery({ path: parts.slice(0, i + 1).join("/") }, "push")}>{part}</button></span>
            ))}
        </nav>
    );
}

function ScopeTable({ scope, total }: { scope: Scope; total: number }): VNode {
    const { query } = route.value;
    return (
        <div class="table-scroll short" tabIndex={0} role="region" aria-label="scopes">
            <table>
                <thead><tr><th>scope</th><th class="num">bytes</th><th class="num">share</th><th class="num">count</th></tr></thead>
                <tbody>{scope.children.slice(0, 200).map((child) => (
                    <tr key={child.path}>
                        <td class="grow name">{child.children.length > 0
                            ? <button type="button" class="link" onClick={() => setQuery({ path: child.path }, "push")}>{child.name}/</button>
                            : <Link href={addressOf("/memory", { ...Object.fromEntries(query), view: "list", name: child.path })}>{child.name}</Link>}</td>
                        <td class="num">{bytes(child.bytes)}</td><td class="num">{percent(child.bytes, total)}</td><td class="num">{number(child.count)}</td>
                    </tr>))}</tbody>
            </table>
        </div>
    );
}

function Scopes({ filters, view }: { filters: Filters; view: "treemap" | "flame" }): VNode {
    const { device, pid, kind, name } = filters;
    const answer = useAnswer<Groups>(addressOf("/v1/allocations", { group: "name", device, pid, kind, name, limit: 10_000 }));
    const tree = useMemo(() => (answer.data === null ? null : buildTree(answer.data.groups, kind as AnyKind)), [answer.data, kind]);
    const path = route.value.query.get("path") ?? "";
    const shown = tree === null ? null : find(tree, path);
    const open = (scope: Scope): void => {
        setQuery({ path: scope.children.length > 0 ? scope.path : scope.path.split("/").slice(0, -1).join("/") || null }, "push");
    };
    return (
        <Panel title={`${KIND_WORDS[kind]} by scope`} actions={<Crumbs path={shown?.path ?? ""} />}>
            <Show answer={answer}>{(data) => tree === null || shown === null || tree.bytes === 0
                ? <><Empty title={`No ${KIND_WORDS[kind]} allocation`}>
                    <p>{name !== "" || device !== "" || pid !== "" ? "Nothing matches these filters." : "Nothing is allocated, or nothing that you may see."}</p></Empty>
                <HiddenNote of={data} /></>
                : <>
                    <ScopeCanvas root={shown} height={view === "treemap" ? Math.max(460, Math.round(innerHeight * 0.55)) : 120} label={`${kind} by scope`}
                        layout={view === "treemap" ? treemapLayout : flameLayout} onOpen={open} />
                    <p class="dim">Bytes {data.bytes_are}.{data.left_out > 0 && ` ${count(data.left_out, "name is", "names are")} not shown.`}</p>
                    <ScopeTable scope={shown} total={tree.bytes} />
                    <HiddenNote of={data} />
                </>}
            </Show>
        </Panel>
    );
}

const hasAddresses = (map: BankMap): boolean => map.bank.base !== null && map.bank.size !== null;

/** The blocks of a map in a window. The answer has the maps of its process alone, in the same order. */
async function blocksOf(map: BankMap, position: number, window: Window, maps: readonly BankMap[]): Promise<MapBlock[]> {
    const address = addressOf("/v1/map", { device: map.device, pid: map.pid, kind: map.kind, limit: MOST_BLOCKS, from: window.from, to: window.to });
    const before = maps.slice(0, position).filter((one) => one.pid === map.pid).length;
    return (await get<Maps>(address)).maps.filter(hasAddresses)[before]?.blocks ?? [];
}

function MapPanel({ filters }: { filters: Filters }): VNode {
    const device = filters.device === "" ? String(status.value?.devices[0]?.id ?? "") : filters.device;
    const { pid, kind } = filters;
    const answer = useAnswer<Maps>(device === "" ? null : addressOf("/v1/map", { device, pid, kind, limit: MOST_BLOCKS }));
    const { query } = route.value;
    const numberOf = (name: string): number | null => (/^\d+$/.test(query.get(name) ?? "") ? Number(query.get(name)) : null);
    const [from, to] = [numberOf("from"), numberOf("to")];
    const linked: MapPlace = { window: from !== null && to !== null && to > from ? { from, to } : null, chosen: numberOf("address") };
    if (device === "") return <Empty title="No chip is in use" />;
    return (
        <Show answer={answer}>{(data) => {
            const maps = data.maps.filter(hasAddresses);
            return (
                <>
                    {maps.length === 0 && <Empty title={`Chip ${device} has no ${KIND_WORDS[kind]} bank that reports its addresses`} />}
                    {maps.map((map, i) => (
                        <Panel key={`${map.pid} ${map.set ?? ""} ${i}`} title={
                            <>Process {map.pid}{map.set !== null && `, ${map.set}`}, chips {ids(map.devices)}
                                {map.shown_core?.core && `, core ${map.shown_core.core.join(",")}`}</>}>
                            <p class="dim">One of {number(map.bank.banks)} banks of {bytes(map.bank.size)}: {bytes(map.used)} used, {bytes(map.free)} free,
                                largest block {bytes(map.largest_free)}{map.left_out > 0 && `, ${count(map.left_out, "block", "blocks")} not shown`}.</p>
                            <AddressMap label={`${kind} of process ${map.pid}`} base={map.bank.base ?? 0} size={map.bank.size ?? 1}
                                blocks={map.blocks} largestFree={map.largest_free} largestAt={map.largest_free_address ?? null}
                                more={map.left_out > 0 && !isSaved() ? (window) => blocksOf(map, i, window, maps) : null}
                                place={query.has("map") && query.get("map") !== String(i) ? null : linked}
                                onPlace={({ window, chosen }) => setQuery({
                                    map: window === null && chosen === null ? null : i, address: chosen,
                                    from: window === null ? null : Math.floor(window.from), to: window === null ? null : Math.ceil(window.to),
                                })} />
                        </Panel>
                    ))}
                    <HiddenNote of={data} />
                </>
            );
        }}</Show>
    );
}

export function MemoryView(): VNode {
    const { query } = route.value;
    const filters = readFilters(query);
    const view = (VIEWS.find((one) => one.value === query.get("view"))?.value ?? "treemap") as ViewName;
    if (!hasDetails.value) return <HowToSeeMore />;
    return (
        <>
            <FilterBar filters={filters} view={view} />
            {view === "list" && <AllocationList filters={filters} />}
            {view === "map" && <MapPanel filters={filters} />}
            {(view === "treemap" || view === "flame") && <Scopes filters={filters} view={view} />}
        </>
    );
}
