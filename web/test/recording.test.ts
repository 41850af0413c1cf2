// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteReader, checksum } from "../src/recording/byte_reader";
import { Recording } from "../src/recording/recording";

const reader = (...bytes: number[]): ByteReader => new ByteReader(Uint8Array.from(bytes));

test("checksums are those of gzip", () => {
    assert.equal(checksum(new TextEncoder().encode("123456789")), 0xcbf43926);
});

test("numbers have seven bits per byte, differences alternate", () => {
    assert.equal(reader(0xac, 0x02).number(), 300);
    assert.deepEqual([0, 1, 2, 3].map((byte) => reader(byte).difference()), [0, -1, 1, -2]);
    const largest = [...Array<number>(9).fill(0xff), 0x01];
    assert.equal(reader(...largest).big(), 2n ** 64n - 1n);
    assert.equal(reader(...largest).difference(), -(2 ** 63));
    assert.throws(() => reader(0x80).number(), /ends too early/);
    assert.throws(() => reader(5, 1).slice(), /ends too early/);
});

test("a file that is no recording is refused as on the command line", () => {
    const messageOf = (text: string): string => {
        try {
            new Recording("a.bin", new TextEncoder().encode(text));
            return "";
        } catch (error) {
            return (error as Error).message;
        }
    };
    assert.equal(messageOf(""), "a.bin is not a recording: it is empty");
    assert.equal(messageOf("PNG"), "a.bin is not a recording (make one with 'ttmem record -o FILE')");
    assert.equal(messageOf("TTMEMREC"), "a.bin is a recording that was cut before its first block");
});
