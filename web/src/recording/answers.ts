// SPDX-License-Identifier: Apache-2.0
// What the API would answer about one moment of a recording, as far as the views ask for it and the recording has it.

import { ALL_ALLOCATIONS, matches, savedAnswer } from "../model/saved";
import { KINDS } from "../model/types";
import type {
    Allocation, AllocationPage, AnyKind, Device, Failure, Failures, Group, Groups, Holding, Inexactness, Kind, Listed, Maps, Mesh, Pool,
    Process, Status,
} from "../model/types";
import type { Held } from "./columns";
import { deviceOf, KIND_NAMES } from "./facts";
import type { DeviceFacts, RecordedFailure } from "./facts";
import { MAPPED_KINDS, mapsOf } from "./map";
import type { MappedProcess } from "./map";
import type { RecordedProcess, Recording, State } from "./recording";

const PLANNED = 1;
const VIEW = 2;
const RESERVED_UNKNOWN = 4;
const MOST_MESHES = 16;
const DATAFLOW = 16;
const SCRATCHPAD = 32;
const KERNEL_TYPES = ["application", "fabric", "dispatch"] as const;
/** The sentences of the program (src/census/inexactness.cpp). */
export const REASONS = {
    events_lost: "events were overwritten before they were read",
    reserved_unknown: "reserved size unknown: used counts the requested bytes",
} as const;
const ALL_KINDS: readonly AnyKind[] = [...KINDS, "system_memory"];

interface Sum {
    used: number;
    requested: number;
    count: number;
    planned: number;
    views: number;
}

const emptySum = (): Sum => ({ used: 0, requested: 0, count: 0, planned: 0, views: 0 });
const sumsOf = (): Record<AnyKind, Sum> => Object.fromEntries(ALL_KINDS.map((kind) => [kind, emptySum()])) as Record<AnyKind, Sum>;

function addTo(sum: Sum, held: Held): void {
    if (held.flags & PLANNED) ++sum.planned;
    else if (held.flags & VIEW) ++sum.views;
    else {
        sum.used += held.reserved;
        sum.requested += held.requested;
        ++sum.count;
    }
}

function cbTypeOf(held: Held): string | null {
    if (kindOf(held) !== "cb") return null;
    return held.flags & DATAFLOW ? "dataflow" : held.flags & SCRATCHPAD ? "scratchpad" : "circular";
}

const kindOf = (held: Held): AnyKind => KIND_NAMES[held.kind] ?? "kernel";
const holding = ({ used, requested, count }: Sum): Holding => ({ used, requested, count });

/** One moment of a recording. */
export class Moment {
    readonly status: Status;
    private readonly present: MappedProcess[] = [];
    private readonly rows: { one: Allocation; sum: Sum }[] = [];
    private readonly inexact: Inexactness[] = [];

    constructor(private readonly recording: Recording, private readonly at: number) {
        for (const process of recording.processes) {
            const state = recording.stateOf(process, at);
            if (state === null) continue;
            const devices = new Map([...state.devices].map(([entry, view]) => {
                const facts = deviceOf(view);
                return [entry, { ...facts, id: recording.idOf(facts) }];
            }));
            this.present.push({ process, state, devices });
            this.explain(process, state);
        }
        this.status = this.makeStatus();
    }

    private explain(process: RecordedProcess, state: State): void {
        const add = (code: keyof typeof REASONS, count: number): void => {
            this.inexact.push({ pid: process.pid, code, reason: REASONS[code], detail: null, count, skipped: false });
        };
        if (state.isLossy) add("events_lost", 1);
        const unknown = [...state.slots.values()].filter((held) => held.flags & RESERVED_UNKNOWN).length;
        if (unknown > 0) add("reserved_unknown", unknown);
    }

    private get timeNs(): number {
        return this.recording.startedEpoch + this.at;
    }

    private origin(): Listed {
        return {
            schema: 1, host: this.recording.host.host, time_ns: this.timeNs, source: "recording", exact: this.inexact.length === 0, inexact: this.inexact,
            tracked_processes: this.present.length,
            hidden: { process_count: 0, memory: Object.fromEntries(KINDS.map((kind) => [kind, holding(emptySum())])) as Record<Kind, Holding> },
        };
    }

    private makeStatus(): Status {
        const devices = new Map<number, { facts: DeviceFacts; sums: Record<AnyKind, Sum> }>();
        const processes: Process[] = [];
        for (const { process, state, devices: known } of this.present) {
            const own = new Map<number, Record<AnyKind, Sum>>();
            const open = [...state.sets.keys()].flatMap((index) => state.openSet(index)?.members ?? []);
            const used = [...known].filter(([entry]) => open.includes(entry)).map(([, facts]) => facts);
            for (const facts of used) {
                own.set(facts.id, sumsOf());
                if (!devices.has(facts.id)) devices.set(facts.id, { facts, sums: sumsOf() });
            }
            for (const held of state.slots.values()) {
                const set = state.openSet(held.set);
                const ids = (set?.members ?? []).flatMap((entry) => known.get(entry)?.id ?? []);
                this.rows.push({ one: this.rowOf(process, state, held, ids), sum: sumOfOne(held) });
                for (const id of ids) {
                    addTo((own.get(id) as Record<AnyKind, Sum>)[kindOf(held)], held);
                    addTo((devices.get(id) as { sums: Record<AnyKind, Sum> }).sums[kindOf(held)], held);
                }
            }
            processes.push(processOf(process, used, own));
        }
        return {
            ...this.origin(), processes_missed: null, meshes: this.meshes(),
            devices: [...devices].map(([id, { facts, sums }]) => deviceView(id, facts, sums)).sort((a, b) => a.id - b.id),
            processes: processes.sort((a, b) => a.pid - b.pid),
        };
    }

    /** As census/meshes.cpp makes them. */
    private meshes(): Mesh[] {
        const found = new Map<string, Mesh>();
        for (const { state, devices: known } of this.present) {
            for (const index of state.sets.keys()) {
                const set = state.openSet(index);
                if (set === null || set.members.length === 0 || set.rows * set.columns !== set.members.length) continue;
                const ids = [...new Set(set.ordered.flatMap((entry) => set.members.includes(entry) ? known.get(entry)?.id ?? [] : []))];
                if (ids.length !== set.members.length) continue;
                const mesh = { rows: set.rows, columns: set.columns, devices: ids };
                found.set(JSON.stringify(mesh), mesh);
            }
        }
        const order = (a: Mesh, b: Mesh): number => b.devices.length - a.devices.length || a.columns - b.columns
            || (a.devices.map((id, i) => id - (b.devices[i] ?? 0)).find((difference) => difference !== 0) ?? 0);
        return [...found.values()].sort(order).slice(0, MOST_MESHES);
    }

    private rowOf(process: RecordedProcess, state: State, held: Held, devices: number[]): Allocation {
        const kind = kindOf(held);
        return {
            pid: process.pid, devices, set: state.nameOf(state.sets.get(held.set)?.label ?? 0), kind,
            kernel_type: kind === "kernel" ? KERNEL_TYPES[held.kind - 6] ?? null : null, cb_type: cbTypeOf(held), address: kind === "kernel" ? null : held.address,
            requested: held.requested, used: held.reserved, is_planned: (held.flags & PLANNED) !== 0, view: (held.flags & VIEW) !== 0,
            reserved_known: (held.flags & RESERVED_UNKNOWN) === 0, name: state.nameOf(held.name), thread: held.thread, age_ns: this.at - held.time,
        };
    }

    private page(): AllocationPage {
        const allocations = this.rows.map((row) => row.one).sort((a, b) => b.used - a.used);
        return { ...this.origin(), total: allocations.length, left_out: 0, next: null, allocations };
    }

    private groups(query: URLSearchParams): Groups {
        const kind = query.get("kind");
        const pid = query.get("pid");
        const device = query.get("device");
        const name = query.get("name") ?? "";
        const groups = new Map<string | null, Group>();
        let count = 0;
        for (const { one, sum } of this.rows) {
            if ((kind !== null && one.kind !== kind) || (pid !== null && String(one.pid) !== pid)) continue;
            if ((device !== null && !one.devices.includes(Number(device))) || !matches(one.name, name)) continue;
            ++count;
            const group = groups.get(one.name) ?? { key: one.name, pid: null, memory: sumsOf(), count: 0, largest: 0, oldest_age_ns: 0 };
            groups.set(one.name, group);
            const copies = device !== null || one.kind === "system_memory" ? 1 : one.devices.length;
            group.memory[one.kind].used += sum.used * copies;
            group.memory[one.kind].requested += sum.requested * copies;
            group.memory[one.kind].count += sum.count;
            group.count += 1;
            group.largest = Math.max(group.largest, one.used);
            group.oldest_age_ns = Math.max(group.oldest_age_ns, one.age_ns);
        }
        const total = (group: Group): number => ALL_KINDS.reduce((sum, one) => sum + group.memory[one].used, 0);
        return {
            ...this.origin(), bytes_are: device === null ? "over all devices of each allocation" : `on device ${device}`, total: groups.size, left_out: 0, allocation_count: count,
            groups: [...groups.values()].sort((a, b) => total(b) - total(a)),
        };
    }

    private failures(query: URLSearchParams): Failures {
        const device = query.get("device");
        const all = this.present.flatMap((one) => [...one.state.failures.values()].map((failure) => this.failureView(one, failure)))
            .filter((one) => device === null || one.devices.includes(Number(device))).sort((a, b) => b.time_ns - a.time_ns);
        const failures = all.slice(0, Number(query.get("limit") ?? "10"));
        return { ...this.origin(), total: all.length, left_out: all.length - failures.length, failures, holders: [] };
    }

    private failureView({ process, state, devices }: MappedProcess, failure: RecordedFailure): Failure {
        const isMemory = failure.type === "out_of_memory";
        const isClash = failure.type === "cb_clash";
        const members = [...devices].filter(([entry]) => (failure.members >> BigInt(entry)) & 1n).map(([, facts]) => facts);
        const sizes = members.flatMap((facts) => facts.memory[failure.kind as Kind]?.size || []);
        return {
            pid: process.pid, type: failure.type, verdict: verdictOf(failure, Math.min(...sizes)), time_ns: this.recording.startedEpoch + failure.time,
            age_ns: this.at - failure.time, devices: members.map((facts) => facts.id).sort((a, b) => a - b),
            set: state.nameOf(state.sets.get(failure.set)?.label ?? 0), kind: failure.type === "unknown_free" ? null : failure.kind,
            name: state.nameOf(failure.name), thread: failure.thread, requested: isMemory || isClash ? failure.requested : null,
            needed: isMemory ? failure.needed : null, free: isMemory || isClash ? failure.free : null,
            largest_free: isMemory ? failure.largestFree : null,
            missing: isMemory ? Math.max(failure.needed - failure.largestFree, 0) : isClash ? Math.max(failure.cbEnd - (failure.l1End || failure.lowestBuffer), 0) : null,
            cb_end: isClash ? failure.cbEnd : null, lowest_buffer: isClash && failure.l1End === 0 ? failure.lowestBuffer : null,
            l1_end: isClash && failure.l1End !== 0 ? failure.l1End : null, core: isClash ? failure.core : null,
            program: null, blocker: null, address: failure.type === "unknown_free" ? failure.address : null,
        };
    }

    private maps(query: URLSearchParams): Maps | undefined {
        const device = Number(query.get("device"));
        const pid = query.get("pid");
        const kind = query.get("kind");
        if (query.has("core") || (kind !== null && !(MAPPED_KINDS as readonly string[]).includes(kind))) return undefined;
        const kinds = MAPPED_KINDS.filter((one) => kind === null || one === kind);
        const found = this.present.filter((one) => pid === null || String(one.process.pid) === pid)
            .map((one) => mapsOf(one, device, kinds, this.at));
        if (found.includes(null)) return undefined;
        const maps = found.flatMap((one) => one ?? []);
        // An empty map is shown only if its kind has no other.
        const inUse = new Set(maps.filter((map) => map.used > 0).map((map) => map.kind));
        return { ...this.origin(), device, bytes_are: "in one bank; requested and used of a block: in all banks", left_out: 0, maps: maps.filter((map) => map.used > 0 || !inUse.has(map.kind)) };
    }

    /** Undefined if a recording does not have it. */
    answer(address: string): unknown {
        const [path, text] = address.split("?");
        const query = new URLSearchParams(text ?? "");
        if (path === "/v1/status") return this.status;
        if (path === "/v1/map") return this.maps(query);
        if (path === "/v1/failures") return this.failures(query);
        if (path === "/v1/allocations" && query.has("group")) return this.groups(query);
        if (path === "/v1/allocations") return savedAnswer({ [ALL_ALLOCATIONS]: this.page() }, address);
        return undefined;
    }
}

function sumOfOne(held: Held): Sum {
    const sum = emptySum();
    addTo(sum, held);
    return sum;
}

function verdictOf(failure: RecordedFailure, size: number): string {
    if (failure.type === "cb_clash") return "clash";
    if (failure.type === "unknown_free") return "unknown free";
    if (failure.needed > size) return "too big";
    if (failure.needed > failure.free) return "not enough";
    return failure.needed > failure.largestFree ? "fragmented" : "unknown";
}

function deviceView(id: number, facts: DeviceFacts, sums: Record<AnyKind, Sum>): Device {
    const memory = Object.fromEntries(KINDS.map((kind): [Kind, Pool] => {
        const capacity = facts.memory[kind]?.capacity ?? 0;
        return [kind, { ...sums[kind], capacity: capacity === 0 ? null : capacity, peak: null, peak_exact: true, largest_free: null }];
    })) as Record<Kind, Pool>;
    return {
        id, arch: facts.arch, board: facts.board, asic_id: facts.asic === 0n ? null : `0x${facts.asic.toString(16)}`, bdf: null, remote: null, driver: null, memory,
        l1_worst_core: null,
        telemetry: { temperature_c: null, temperature_max_c: null, power_w: null, power_max_w: null, aiclk_mhz: null, fan_rpm: null, alive: null },
    };
}

function processOf(process: RecordedProcess, devices: (DeviceFacts & { id: number })[], own: Map<number, Record<AnyKind, Sum>>): Process {
    return {
        pid: process.pid, start_time_ns: process.startEpoch, comm: process.command, uid: process.uid, user: process.user, container: null, state: "live",
        source: "segment", events: { followed: null, lost: null, per_second: null },
        devices: devices.map(({ id, logical }) => ({
            id, logical_id: logical,
            memory: Object.fromEntries(KINDS.map((kind) => [kind, holding((own.get(id) as Record<AnyKind, Sum>)[kind])])) as Record<Kind, Holding>,
        })).sort((a, b) => a.id - b.id),
    };
}
