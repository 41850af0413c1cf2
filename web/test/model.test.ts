// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { firstAfter, stripColors } from "../src/draw/strip";
import { EventParser } from "../src/model/event_parser";
import { blockAt, boxAt, flame, pan, treemap, zoom } from "../src/model/layout";
import { differences, momentAt, poolKey } from "../src/model/moments";
import { ALL_ALLOCATIONS, savedAnswer } from "../src/model/saved";
import { apply, hostGrid, total } from "../src/model/status";
import { nameColor, roleOf } from "../src/model/theme";
import { buildTree, find } from "../src/model/tree";
import type { Device, Group, MapBlock, Status } from "../src/model/types";

const group = (key: string | null, used: number): Group => ({
    key, pid: null, count: 1, largest: used, oldest_age_ns: 0,
    memory: { dram: { used, requested: used, count: 1 }, l1: { used: 0, requested: 0, count: 0 } } as Group["memory"],
});
const block = (address: number, size: number, name: string | null): MapBlock => ({
    address, bytes: size, is_free: name === null, circular_buffers: 0, requested: null, used: null, age_ns: null, name,
});

test("events arrive whole however the text is cut", () => {
    const text = "event: view\nid: 1-2\ndata: {\"a\":1}\n\n: alive\n\nevent: change\ndata: x\ndata: y\n\n";
    for (let cut = 0; cut <= text.length; ++cut) {
        const parser = new EventParser();
        const events = [...parser.take(text.slice(0, cut)), ...parser.take(text.slice(cut))];
        assert.deepEqual(events, [
            { event: "view", id: "1-2", data: "{\"a\":1}" }, { event: "change", id: null, data: "x\ny" }]);
    }
});

test("a change replaces entries, removes what is gone and keeps the rest as it is", () => {
    const device = (id: number): Device => ({ id, memory: {} }) as Device;
    const before = { devices: [device(0), device(2)], processes: [], exact: true, inexact: [], processes_missed: 0 } as unknown as Status;
    const after = apply(before, { schema: 1, devices: [device(1), device(2)], processes: [], gone_devices: [0], gone_processes: [] });
    assert.deepEqual(after.devices.map((one) => one.id), [1, 2]);
    assert.notEqual(after.devices[1], before.devices[1]);
    assert.equal(after.processes, before.processes);
    assert.equal(after.exact, true);
});

test("the grid of the host is the described mesh of all devices", () => {
    const devices = [0, 1, 2, 3].map((id) => ({ id, board: "n300" }) as Device);
    const of = (...meshes: Status["meshes"]): unknown => {
        const { devices: ordered, columns } = hostGrid({ devices, meshes });
        return [ordered.map((one) => one.id), columns];
    };
    assert.deepEqual(of({ rows: 2, columns: 2, devices: [0, 2, 1, 3] }), [[0, 2, 1, 3], 2]);
    assert.deepEqual(of({ rows: 1, columns: 2, devices: [0, 1] }), [[0, 1, 2, 3], null]);
    assert.deepEqual(of({ rows: 2, columns: 2, devices: [0, 0, 1, 2] }), [[0, 1, 2, 3], null]);
    assert.deepEqual(apply({ devices, processes: [], meshes: [] } as unknown as Status, {
        schema: 1, meshes: [{ rows: 1, columns: 4, devices: [0, 1, 2, 3] }], devices: [], processes: [], gone_devices: [], gone_processes: [],
    }).meshes.length, 1);
});

test("an unknown value makes a sum unknown", () => {
    const device = (used: number | null): Device => ({ memory: { dram: { used, capacity: 10 } } }) as unknown as Device;
    assert.deepEqual(total([device(3), device(4)], "dram"), { used: 7, capacity: 20 });
    assert.deepEqual(total([device(3), device(null)], "dram"), { used: null, capacity: 20 });
    assert.deepEqual(total([], "dram"), { used: null, capacity: null });
});

test("names are a tree whose sums are exact", () => {
    const tree = buildTree([group("model/a/x", 5), group("model/a", 2), group("model/b", 9), group(null, 1)], "dram");
    assert.equal(tree.bytes, 17);
    assert.deepEqual(tree.children.map((one) => [one.name, one.bytes]), [["model", 16], ["(no name)", 1]]);
    const a = find(tree, "model/a");
    assert.deepEqual([a.bytes, a.own, a.count], [7, 2, 2]);
    assert.equal(find(tree, "model/nowhere").path, "model");
});

test("names from other processes are only names", () => {
    const tree = buildTree([group("__proto__/constructor", 3), group("<script>/toString", 4)], "dram");
    assert.equal(tree.bytes, 7);
    assert.deepEqual(tree.children.map((one) => one.name), ["<script>", "__proto__"]);
});

test("areas of a treemap are in proportion and inside", () => {
    const tree = buildTree([group("a", 60), group("b", 30), group("c", 10)], "dram");
    const boxes = treemap(tree, 400, 300, 1);
    const area = (name: string): number => {
        const box = boxes.find((one) => one.scope.name === name);
        return box === undefined ? 0 : box.width * box.height;
    };
    assert.ok(Math.abs(area("a") - 72000) < 1 && Math.abs(area("b") - 36000) < 1 && Math.abs(area("c") - 12000) < 1);
    for (const box of boxes) assert.ok(box.x >= -1e-6 && box.y >= -1e-6 && box.x + box.width <= 400.001 && box.y + box.height <= 300.001);
    assert.equal(boxAt(boxes, 1, 1)?.scope.name, "a");
});

test("a flame graph has a row per depth and widths in proportion", () => {
    const boxes = flame(buildTree([group("m/a", 75), group("m/b", 25)], "dram"), 200, 20);
    assert.deepEqual(boxes.map((one) => [one.scope.name, one.x, one.y, one.width]),
        [["all", 0, 0, 200], ["m", 0, 20, 200], ["a", 0, 40, 150], ["b", 150, 40, 50]]);
});

test("a zoom stays in the bank and ends at 64 bytes", () => {
    const whole = { from: 1000, to: 101_000 };
    let window = whole;
    for (let i = 0; i < 50; ++i) window = zoom(window, whole, 1000, 0.5);
    assert.deepEqual(window, { from: 1000, to: 1064 });
    assert.deepEqual(pan(window, whole, -500), window);
    assert.deepEqual(pan(window, whole, 1e9), { from: 100_936, to: 101_000 });
    assert.deepEqual(zoom(window, whole, 1010, 1e9), whole);
});

test("a block is found by its address", () => {
    const blocks = [block(0, 10, "a"), block(10, 5, null), block(20, 5, "b")];
    assert.deepEqual([0, 9, 10, 15, 20, 24, 25, -1].map((at) => blockAt(blocks, at)), [0, 0, 1, -1, 2, 2, -1, -1]);
    assert.equal(firstAfter(blocks, 12), 1);
});

test("a used block is visible however small, and unknown addresses stay empty", () => {
    const row = stripColors([block(0, 500, null), block(500, 1, "a"), block(501, 300, null)], { from: 0, to: 1000 }, 10, "dark");
    const used = row[5];
    assert.notEqual(used, row[0]);
    assert.notEqual(used, 0);
    assert.equal(row[9], 0);
});

test("names with the same role have the same colour", () => {
    assert.equal(roleOf("model/decoder.3/mlp"), "mlp");
    assert.equal(roleOf("model/decoder.3"), "decoder");
    assert.deepEqual(nameColor("model/decoder.3/mlp", "dark"), nameColor("model/decoder.4/mlp", "dark"));
});

test("two moments differ by what came, went and grew", () => {
    const found = differences({ "0 dram": 5, "dram a/b": 3, "l1 c": 1 }, { "0 dram": 9, "dram a/b": 3, "l1 new name": 2 });
    assert.deepEqual(found.map((one) => [one.label, one.kind, one.grown]),
        [["chip 0", "dram", 4], ["new name", "l1", 2], ["c", "l1", -1]]);
});

test("a saved list is filtered and ordered as the daemon does", () => {
    const one = (name: string | null, kind: string, used: number, device: number): object =>
        ({ name, kind, used, requested: used, pid: 7, devices: [device], address: used, age_ns: used });
    const rows = [one("m/a", "dram", 9, 0), one("m/b.x", "dram", 5, 1), one(null, "l1", 3, 0)];
    const saved = { [ALL_ALLOCATIONS]: { left_out: 0, total: 3, allocations: rows } };
    const names = (address: string): unknown => (savedAnswer(saved, address) as { allocations: { name: string | null }[] } | undefined)?.allocations.map((row) => row.name);
    assert.deepEqual(names("/v1/allocations?kind=dram&sort=address&limit=10000"), ["m/b.x", "m/a"]);
    assert.deepEqual(names("/v1/allocations?device=0&sort=used&reverse=true&limit=10000"), [null, "m/a"]);
    assert.deepEqual(names("/v1/allocations?name=*.x&limit=5"), ["m/b.x"]);
    assert.deepEqual(names("/v1/allocations?name=%2Fa%24%2F&limit=5"), ["m/a"]);
    assert.equal(savedAnswer(saved, "/v1/map?device=0"), undefined);
    assert.equal(savedAnswer({ [ALL_ALLOCATIONS]: { left_out: 1, allocations: rows } }, "/v1/allocations?kind=dram"), undefined);
});

test("a moment of the history is the last sample before it", () => {
    const series = [{ device: 3, kind: "dram" as const, samples: [{ time_ns: 10, used: 1 }, { time_ns: 20, used: 2 }] }];
    assert.deepEqual(momentAt(series, 19).pools, { [poolKey(3, "dram")]: 1 });
    assert.deepEqual(momentAt(series, 5).pools, {});
});
