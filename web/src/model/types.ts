// SPDX-License-Identifier: Apache-2.0
// The documents of the API (docs/API.md), as far as the page shows them.

export const KINDS = ["dram", "l1", "l1_small", "trace", "cb", "kernel"] as const;
export type Kind = (typeof KINDS)[number];
export type AnyKind = Kind | "system_memory";

export interface Inexactness {
    pid: number;
    code: string;
    reason: string;
    detail: string | null;
    count: number;
    skipped: boolean;
}

export interface Origin {
    schema: number;
    host: string;
    time_ns: number;
    source: string;
    exact: boolean;
    inexact: Inexactness[];
}

export interface Holding {
    used: number | null;
    requested: number | null;
    count: number | null;
}

export interface Pool extends Holding {
    capacity: number | null;
    peak: number | null;
    peak_exact: boolean;
    planned: number | null;
    views: number | null;
    largest_free: number | null;
}

export interface WorstCore {
    core: [number, number] | null;
    cb_top: number | null;
    lowest_buffer: number | null;
    headroom: number | null;
    used: number | null;
    capacity: number | null;
}

export interface Telemetry {
    temperature_c: number | null;
    temperature_max_c: number | null;
    power_w: number | null;
    power_max_w: number | null;
    aiclk_mhz: number | null;
    fan_rpm: number | null;
    alive: boolean | null;
}

export interface Device {
    id: number;
    arch: string | null;
    board: string | null;
    asic_id: string | null;
    bdf: string | null;
    remote: boolean | null;
    driver: { serial: string | null; firmware: string | null; numa_node: number | null } | null;
    memory: Record<Kind, Pool>;
    l1_worst_core: WorstCore | null;
    telemetry: Telemetry;
}

export interface Process {
    pid: number;
    start_time_ns: number;
    comm: string;
    uid: number;
    user: string;
    container: { runtime: string | null; id: string; pod: string | null } | null;
    state: "live" | "dead" | "untracked";
    source: string;
    devices: { id: number; logical_id: number; memory: Record<Kind, Holding> }[];
    events: { followed: number | null; lost: number | null; per_second: number | null };
}

/** A mesh as a process describes it: ids of devices, row by row. */
export interface Mesh {
    rows: number;
    columns: number;
    devices: number[];
}

export interface Status extends Origin {
    processes_missed: number | null;
    meshes: Mesh[];
    devices: Device[];
    processes: Process[];
}

export interface StatusChange {
    schema: number;
    exact?: boolean;
    inexact?: Inexactness[];
    meshes?: Mesh[];
    devices: Device[];
    processes: Process[];
    gone_devices: number[];
    gone_processes: number[];
    processes_missed?: number | null;
}

export interface Hidden {
    process_count: number;
    memory: Record<Kind, Holding>;
}

export interface Listed extends Origin {
    tracked_processes: number;
    hidden: Hidden;
}

export interface Allocation {
    pid: number;
    devices: number[];
    set: string | null;
    kind: AnyKind;
    kernel_type: string | null;
    cb_type: string | null;
    address: number | null;
    requested: number;
    used: number;
    is_planned: boolean;
    view: boolean;
    reserved_known: boolean;
    name: string | null;
    thread: number;
    age_ns: number;
}

export interface AllocationPage extends Listed {
    total: number;
    left_out: number;
    next: string | null;
    allocations: Allocation[];
}

export interface Group {
    key: string | null;
    pid: number | null;
    memory: Record<AnyKind, { used: number; requested: number; count: number }>;
    count: number;
    largest: number;
    oldest_age_ns: number;
}

export interface Groups extends Listed {
    bytes_are: string;
    total: number;
    left_out: number;
    allocation_count: number;
    groups: Group[];
}

export interface MapBlock {
    address: number;
    bytes: number;
    is_free: boolean;
    circular_buffers: number;
    requested: number | null;
    used: number | null;
    age_ns: number | null;
    name: string | null;
}

export interface ShownCore {
    core: [number, number] | null;
    cb_bytes: number;
    cb_top: number | null;
    lowest_buffer: number | null;
    headroom: number | null;
    programs: { program: number | null; name: string | null; count: number; bytes: number; top: number }[];
}

export interface BankMap {
    device: number;
    pid: number;
    set: string | null;
    devices: number[];
    kind: AnyKind;
    bank: { base: number | null; size: number | null; banks: number | null };
    shown_core: ShownCore | null;
    used: number;
    free: number | null;
    largest_free: number | null;
    largest_free_address?: number | null;
    left_out: number;
    blocks: MapBlock[];
}

export interface Maps extends Listed {
    device: number;
    bytes_are: string;
    left_out: number;
    maps: BankMap[];
}

export interface CoreFigures {
    core: [number, number];
    cb_top: number | null;
    used: number | null;
    headroom: number | null;
    pid: number | null;
    program: number | null;
    name: string | null;
}

export interface Cores extends Listed {
    device: number;
    grid_size: [number, number] | null;
    capacity: number | null;
    lowest_buffer: number | null;
    without_cores: number;
    cores: CoreFigures[];
}

/** Neighbours in a bank whose release makes room. */
export interface Release {
    count: number;
    bytes: number;
    names: number;
    can_move: boolean;
    address: number;
    blocks: { address: number; bytes: number; owner: number; age_ns: number; name: string | null }[];
}

export interface Fix {
    fits_after_compaction: boolean;
    with_cores: number | null;
    with_page: number | null;
    dram_address: number | null;
    region_size: number | null;
    to_free: Release[];
    fewest_names: Release | null;
    to_shrink: { name: string | null; address: number; bytes: number; by: number }[];
}

export interface Card {
    number: number;
    complete: boolean;
    request: {
        requested: number | null;
        needed: number | null;
        page: number | null;
        banks: number | null;
        alignment: number | null;
        direction: string | null;
    };
    bank: {
        base: number | null;
        size: number | null;
        banks: number | null;
        used: number | null;
        free: number | null;
        largest_free: number | null;
    };
    clash?: {
        name: string | null;
        core: [number, number] | null;
        buffers: MapBlock[];
        cores: unknown;
        blocker: { name: string | null; address: number; used: number } | null;
    } | null;
    holders: { name: string | null; used: number; count: number }[];
    youngest: MapBlock[];
    events: { what: string; age_ns: number; kind: AnyKind | null; requested: number | null; name: string | null }[];
    fix?: Fix | null;
    no_fix?: string | null;
    blocks_left_out: number;
    blocks: MapBlock[];
}

export interface Failure {
    pid: number;
    type: "out_of_memory" | "cb_clash" | "unknown_free";
    verdict: string;
    time_ns: number;
    age_ns: number;
    devices: number[];
    set: string | null;
    kind: AnyKind | null;
    name: string | null;
    thread: number;
    requested: number | null;
    needed: number | null;
    free: number | null;
    largest_free: number | null;
    missing: number | null;
    cb_end: number | null;
    lowest_buffer: number | null;
    l1_end: number | null;
    core: [number, number] | null;
    program: number | null;
    blocker: { kind: AnyKind | null; address: number; requested: number; used: number; name: string | null } | null;
    address: number | null;
    no_card?: string | null;
    /** What the bank held then. Daemons that keep no cards have none. */
    card?: Card | null;
}

export interface Failures extends Listed {
    total: number;
    left_out: number;
    failures: Failure[];
    holders: { device: number; kind: Kind; by_process: Group[]; by_name: Group[] }[];
    kept?: { pid: number; comm: string; user: string; failure: Failure }[];
}

export interface Marks {
    moments: { pid: number; name: string; time_ns: number }[];
}

export interface Growth extends Listed {
    span_ns: number;
    total: number;
    growth: { name: string | null; kind: AnyKind; before: number; now: number; grown: number }[];
}

export interface Peaks extends Listed {
    kind: AnyKind;
    peaks: {
        pid: number;
        comm: string;
        time_ns: number;
        requested: number;
        requested_now: number;
        used_peak: number | null;
        may_lie_earlier: boolean;
        total: number;
        by_name: { name: string | null; requested: number; count: number }[];
    }[];
}

export interface HistorySeries {
    device: number;
    kind: AnyKind;
    samples: { time_ns: number; used: number }[];
}

/** Something that happened to a process, kept beyond its end. */
export interface PastMoment {
    time_ns: number;
    type: "failure" | "mark" | "death";
    pid: number;
    comm: string;
    name: string | null;
    failure_type: Failure["type"] | null;
    kind: AnyKind | null;
    requested: number | null;
    ending: PostMortem["ending"] | null;
}

export interface History extends Origin {
    series: HistorySeries[];
    /** Times without a daemon. */
    downtimes?: { from_ns: number; to_ns: number }[];
    moments?: PastMoment[];
}

export interface PostMortem {
    died_ns: number;
    ending: "not_known" | "exec" | "exit" | "signal";
    exit_code: number | null;
    signal: number | null;
    exact: boolean;
    process: Process;
    allocation_count: number;
    failure_count: number;
    in_flight_count: number;
}

export interface PostMortems extends Origin {
    total: number;
    dropped: number;
    hidden_post_mortems: number;
    post_mortems: PostMortem[];
}

export interface PostMortemDetails extends Origin {
    post_mortem: {
        summary: PostMortem;
        bytes_are: string;
        by_kind: Group[];
        names: number;
        by_name: Group[];
        largest_allocations: Allocation[];
        failures: Failure[];
    };
}
