// SPDX-License-Identifier: Apache-2.0
// The status and its changes, as the stream sends them.

import type { Device, Kind, Process, Status, StatusChange } from "./types";

function merged<T>(old: readonly T[], changed: readonly T[], gone: readonly number[], key: (one: T) => number): T[] {
    if (changed.length === 0 && gone.length === 0) return old as T[];
    const all = new Map(old.map((one) => [key(one), one]));
    for (const one of gone) all.delete(one);
    for (const one of changed) all.set(key(one), one);
    return [...all.values()].sort((a, b) => key(a) - key(b));
}

/** Entries that did not change stay the same objects, so that what shows them need not be drawn again. */
export function apply(status: Status, changes: StatusChange): Status {
    return {
        ...status,
        exact: changes.exact ?? status.exact,
        inexact: changes.inexact ?? status.inexact,
        meshes: changes.meshes ?? status.meshes,
        processes_missed: changes.processes_missed ?? status.processes_missed,
        time_ns: Date.now() * 1e6,
        devices: merged(status.devices, changes.devices, changes.gone_devices, (device: Device) => device.id),
        processes: merged(status.processes, changes.processes, changes.gone_processes, (one: Process) => one.pid),
    };
}

export interface Sum {
    used: number | null;
    capacity: number | null;
}

/** Unknown values make a sum unknown, never smaller. */
export function total(devices: readonly Device[], kind: Kind): Sum {
    let used: number | null = devices.length === 0 ? null : 0;
    let capacity: number | null = devices.length === 0 ? null : 0;
    for (const device of devices) {
        const pool = device.memory[kind];
        used = used === null || pool.used === null ? null : used + pool.used;
        capacity = capacity === null || pool.capacity === null ? null : capacity + pool.capacity;
    }
    return { used, capacity };
}

/** What a process holds of a kind, over its devices. */
export function held(process: Process, kind: Kind): number | null {
    let sum: number | null = null;
    for (const device of process.devices) {
        const used = device.memory[kind].used;
        if (used !== null) sum = (sum ?? 0) + used;
    }
    return sum;
}

export function holders(status: Status, device: number): Process[] {
    return status.processes.filter((process) => process.devices.some((one) => one.id === device));
}

/** The devices in the order of the host's grid, and its columns; null: unknown. The dashboard does the same. */
export function hostGrid({ devices, meshes }: Pick<Status, "devices" | "meshes">): { devices: readonly Device[]; columns: number | null } {
    const byId = new Map(devices.map((device) => [device.id, device]));
    for (const mesh of meshes) {
        const ordered = [...new Set(mesh.devices)].flatMap((id) => byId.get(id) ?? []);
        if (ordered.length === devices.length && mesh.rows * mesh.columns === devices.length) return { devices: ordered, columns: mesh.columns };
    }
    const first = devices[0];
    const isGalaxy = devices.length === 32 && (first?.board ?? "").includes("galaxy");
    return { devices, columns: isGalaxy ? (first?.arch === "blackhole" ? 8 : 4) : null };
}
