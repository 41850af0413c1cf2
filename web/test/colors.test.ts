// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KIND_COLORS } from "../src/model/theme";

type Color = readonly [number, number, number];

// Machado, Oliveira, Fernandes 2009: severity 1.0, of linear RGB.
const VISIONS: Record<string, readonly [Color, Color, Color]> = {
    normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const LEAST = 18;

function linear(hex: string): Color {
    const part = (at: number): number => {
        const value = parseInt(hex.slice(at, at + 2), 16) / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    return [part(1), part(3), part(5)];
}

function seen(hex: string, vision: string): Color {
    const [r, g, b] = linear(hex);
    const [red, green, blue] = (VISIONS[vision] ?? assert.fail(vision)).map((row) => Math.min(Math.max(row[0] * r + row[1] * g + row[2] * b, 0), 1)) as unknown as Color;
    const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
    const x = f((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505);
    const y = f(0.2126 * red + 0.7152 * green + 0.0722 * blue);
    const z = f((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089);
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test("kinds differ in colour for people with any colour vision", () => {
    const kinds = Object.keys(KIND_COLORS);
    for (const vision of Object.keys(VISIONS)) {
        kinds.forEach((a, i) => kinds.slice(i + 1).forEach((b) => {
            const [one, other] = [a, b].map((kind) => seen(KIND_COLORS[kind] ?? "", vision)) as [Color, Color];
            assert.ok(Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]) >= LEAST, `${vision}: ${a} and ${b}`);
        }));
    }
});

test("the style has the same colours of kinds", () => {
    const style = readFileSync("src/page.css", "utf8");
    for (const [kind, color] of Object.entries(KIND_COLORS)) {
        const name = kind === "system_memory" ? "system" : kind.replace("_", "-");
        assert.match(style, new RegExp(`--${name}: ${color};`), kind);
    }
});
