// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pauseMs, stepOf } from "../src/model/pace";
import { addressOf, route, setQuery, startRouter } from "../src/model/router";
import { hostGrid } from "../src/model/status";
import { timelineMarks } from "../src/model/timeline_marks";
import type { Sources } from "../src/model/timeline_marks";
import type { Allocation, CoreFigures, Device, Failure, MapBlock, PostMortem, Process } from "../src/model/types";
import { REASONS } from "../src/recording/answers";
import { csv } from "../src/views/allocation_list";
import { heat, heights } from "../src/views/cores";
import { failureTitle, verdict } from "../src/views/failures";
import { embed } from "../src/views/save";

const core = (figures: Partial<CoreFigures>): CoreFigures => ({
    core: [0, 0], cb_top: null, used: null, headroom: null, pid: null, program: null, name: null, ...figures,
});

test("heat is 0 for an empty core and 1 for a full one, for every metric", () => {
    assert.equal(heat(core({ used: 0 }), "used", 100, 0, 200), 0);
    assert.equal(heat(core({ used: 100 }), "used", 100, 0, 200), 1);
    assert.equal(heat(core({ headroom: 100 }), "headroom", 100, 0, 200), 0);
    assert.equal(heat(core({ headroom: 0 }), "headroom", 100, 0, 200), 1);
    assert.equal(heat(core({ cb_top: 200 }), "cb_top", 100, 0, 200), 1);
    assert.equal(heat(core({ cb_top: 50 }), "cb_top", 100, 0, 200), 0.25);
    for (const metric of ["used", "headroom", "cb_top"] as const) {
        assert.equal(heat(core({}), metric, 100, 0, 200), null, "not reported");
        assert.equal(heat(core({ used: 1, headroom: 1, cb_top: 1 }), metric, null, 0, 200), null, "no capacity");
    }
});

test("blocks of a column fill it, to scale and never too small for a name", () => {
    const block = (bytes: number): MapBlock => ({
        address: 0, bytes, is_free: false, circular_buffers: 0, requested: null, used: null, age_ns: null, name: null,
    });
    const rows = heights([block(1), block(1), block(998)], 400);
    assert.equal(Math.round(rows.reduce((sum, one) => sum + one, 0)), 400);
    assert.ok(Math.min(...rows) >= 16);
    assert.ok((rows[2] ?? 0) > 300);
    assert.equal(Math.round(heights(Array.from({ length: 100 }, () => block(1)), 400).reduce((sum, one) => sum + one, 0)), 400);
    assert.deepEqual(heights([], 400), []);
});

test("a Galaxy has its own shape, another host has none", () => {
    const columns = (count: number, board: string, arch: string): number | null => {
        const devices = Array.from({ length: count }, (_one, id) => ({ id, board, arch }) as Device);
        return hostGrid({ devices, meshes: [] }).columns;
    };
    assert.equal(columns(32, "galaxy", "wormhole_b0"), 4);
    assert.equal(columns(32, "galaxy", "blackhole"), 8);
    assert.equal(columns(32, "n300", "wormhole_b0"), null);
    assert.equal(columns(4, "galaxy", "wormhole_b0"), null);
    assert.equal(columns(0, "", ""), null);
});

test("a name in a CSV file is one field, and no spreadsheet computes it", () => {
    const row = (name: string | null): Allocation => ({
        pid: 7, devices: [0, 1], set: null, kind: "dram", kernel_type: null, cb_type: null, address: 64, requested: 3, used: 4,
        is_planned: false, view: false, reserved_known: true, name, thread: 1, age_ns: 5,
    });
    const lines = csv([row("a \"b\", c"), row("=cmd|' /C calc'!A0"), row("@x"), row(null)]).split("\n");
    assert.deepEqual(lines, [
        "name,kind,used,requested,pid,devices,address,age_ns", "\"a \"\"b\"\", c\",dram,4,3,7,\"0 1\",64,5",
        "\"'=cmd|' /C calc'!A0\",dram,4,3,7,\"0 1\",64,5", "\"'@x\",dram,4,3,7,\"0 1\",64,5", "\"\",dram,4,3,7,\"0 1\",64,5",
    ]);
});

test("no name ends the element of the data", () => {
    const answers = { "/v1/x": { name: "</script><script>alert(1)</script><!--\u2028\u2029" } };
    const text = embed(answers);
    assert.doesNotMatch(text, /[<\u2028\u2029]/);
    assert.deepEqual(JSON.parse(text), answers);
});

test("addresses of views keep what they do not change", () => {
    const place = { pathname: "/memory", search: "?view=list&name=a%2Fb", hash: "" };
    const change = (_state: unknown, _title: string, target: string): void => {
        const url = new URL(target, "http://x");
        Object.assign(place, { pathname: url.pathname, search: url.search });
    };
    Object.assign(globalThis, { location: place, history: { pushState: change, replaceState: change }, addEventListener: () => undefined, window: { scrollTo: () => undefined } });
    startRouter();
    assert.deepEqual([route.value.parts, route.value.query.get("name")], [["memory"], "a/b"]);
    setQuery({ view: null, kind: "l1" });
    assert.equal(place.search, "?name=a%2Fb&kind=l1");
    Object.assign(place, { pathname: "/chip/%E0%A4%A", search: "" });
    startRouter();
    assert.deepEqual(route.value.parts, ["chip", "%E0%A4%A"], "not a valid code: it stays as it is");
    assert.equal(addressOf("/v1/map", { device: 0, pid: "", kind: null, name: "a&b" }), "/v1/map?device=0&name=a%26b");
});

test("all answers together cost at most a fiftieth", () => {
    assert.equal(pauseMs([], 1, 1500), 1500);
    assert.equal(pauseMs([10], 1, 1500), 1500);
    assert.equal(pauseMs([100], 1, 1500), 5000);
    assert.equal(pauseMs([100], 4, 1500), 20_000, "four share it");
    assert.equal(pauseMs([3000], 1, 1500), 150_000, "also of an answer that takes seconds");
    assert.equal(pauseMs([900, 40, 700], 1, 1500), 2000, "what waited for others cost less");
});

test("a time line has about a thousand samples", () => {
    assert.deepEqual([300, 3600, 86_400].map(stepOf), [0, 3, 86]);
});

const none: Sources = { live: [], failures: [], kept: [], deaths: [], marks: [], past: [], isSaved: false };
const moment = (type: "failure" | "mark" | "death", pid: number, time: number): Sources["past"][number] => ({
    time_ns: time * 1e9, type, pid, comm: "train", name: type === "mark" ? "epoch 7" : null, failure_type: type === "failure" ? "out_of_memory" : null,
    kind: null, requested: type === "failure" ? 1024 : null, ending: type === "death" ? "signal" : null,
});

test("the past of a process that has ended is on the time line of its chip only", () => {
    const dead = { died_ns: 9e9, ending: "signal", process: { pid: 7 } } as PostMortem;
    const past = [moment("mark", 7, 3), moment("failure", 7, 5), moment("death", 7, 9), moment("mark", 8, 4)];
    const texts = timelineMarks({ ...none, deaths: [dead], past }).map((one) => one.text.replace(/^\S+ /, ""));
    assert.deepEqual(texts, ["process 7 ended", "process 7: out of memory, 1.0 KiB", "process 7: mark epoch 7"]);
    assert.deepEqual(timelineMarks({ ...none, past }), []);
});

test("marks that are made at once are all shown, each once", () => {
    const marks = [{ pid: 9, name: "warm", time_ns: 3e9 }, { pid: 9, name: "step", time_ns: 3e9 + 1000 }];
    const live = [{ pid: 9, start_time_ns: 1e9 } as Process];
    const past = [{ ...moment("mark", 9, 3), name: "warm" }];
    assert.equal(timelineMarks({ ...none, live, marks, past }).filter((one) => one.text.includes(": mark ")).length, 2);
});

test("a failure that two answers have is one mark, with its verdict", () => {
    const failure = { pid: 7, time_ns: 5e9, verdict: "fragmented" } as Failure;
    const marks = timelineMarks({ ...none, kept: [{ pid: 7, comm: "", user: "", failure }], live: [{ pid: 9, start_time_ns: 1e9 } as Process], past: [moment("failure", 7, 5)] });
    assert.deepEqual(marks.map((one) => [one.text.replace(/^\S+ /, ""), one.isBad]), [["process 7: fragmented", true], ["process 9 started", false]]);
});

test("circular buffers beyond L1 are in no buffer", () => {
    const clash = { type: "cb_clash", verdict: "clash", devices: [0], missing: 2048, cb_end: 0x1000, lowest_buffer: null, l1_end: 0x800 } as unknown as Failure;
    assert.equal(failureTitle(clash), "circular buffers reach 2.0 KiB beyond the end of L1 on chip 0");
    assert.equal(verdict(clash), "Clash: circular buffers end at 0x1000, 2.0 KiB beyond the end of L1 at 0x800.");
    assert.equal(failureTitle({ ...clash, lowest_buffer: 0x800, l1_end: null }), "circular buffers reach 2.0 KiB into an L1 buffer on chip 0");
});

test("reasons of a recording have the words of the program", () => {
    const program = readFileSync("../src/census/inexactness.cpp", "utf8");
    for (const [code, text] of Object.entries(REASONS)) assert.match(program, new RegExp(`case Reason::${code}:\\s+return "${text}";`));
});
