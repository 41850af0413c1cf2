// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { address, age, bytes, change, ids, number, percent } from "../src/model/units";

test("bytes read as in the terminal", () => {
    assert.deepEqual([0, 999, 1000, 1024, 1023898, 14753792, 12863864064].map(bytes),
        ["0 B", "999 B", "1.0 KiB", "1.0 KiB", "999.9 KiB", "14.1 MiB", "12.0 GiB"]);
    assert.equal(bytes(null), "-");
    assert.deepEqual([0, 0.25, 0.5, 0.75].map((part) => bytes((59 + part) * 1024 * 1024)), ["59.0 MiB", "59.2 MiB", "59.5 MiB", "59.8 MiB"]);
    assert.equal(bytes(-2048), "-2.0 KiB");
    assert.equal(change(2048), "+2.0 KiB");
});

test("ages read as in the terminal", () => {
    assert.deepEqual([0, 5e5, 35e7, 12e9, 200e9, 18420e9, 1047600e9].map(age),
        ["0s", "<1ms", "350ms", "12s", "3m20s", "5h07m", "12d03h"]);
});

test("only a full whole is 100%", () => {
    assert.equal(percent(999, 1000), "99%");
    assert.equal(percent(1, 1000), "<1%");
    assert.equal(percent(0, 1000), "0%");
    assert.equal(percent(1, null), "-");
});

test("ids are ranges", () => {
    assert.equal(ids([0, 1, 2, 3, 7]), "0-3,7");
    assert.equal(ids([]), "-");
    assert.equal(address(255), "0xff");
});

test("numbers have groups of three digits", () => {
    assert.deepEqual([0, 999, 1000, 1234567, -1234, 1234.5678, null].map(number), ["0", "999", "1,000", "1,234,567", "-1,234", "1,234.568", "-"]);
});
