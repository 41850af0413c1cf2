// SPDX-License-Identifier: Apache-2.0
// Drives a real browser for browser.py: one JSON command per line on standard input, one JSON answer per line on standard output.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , modules, executable] = process.argv;
const require = createRequire(`${modules}/`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"];
const WAIT_MS = 60_000;
// When the first chip was on the screen, in ms since the navigation.
const FIRST_PICTURE = `
    const observer = new MutationObserver(() => {
        if (!document.querySelector(".chip-cell")) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => (window.firstPicture = performance.now())));
    });
    observer.observe(document, { childList: true, subtree: true });`;
const browser = await chromium.launch({ executablePath: executable, args: FLAGS });
const pages = new Map();
let number = 0;

const commands = {
    // `isBare`: without the page's own Content-Security-Policy, which forbids the scripts of axe.
    async open({ url, width, height, scheme, isBare }) {
        const context = await browser.newContext({
            viewport: { width, height }, colorScheme: scheme, bypassCSP: isBare, acceptDownloads: true, timezoneId: "UTC",
        });
        await context.addInitScript(FIRST_PICTURE);
        const page = await context.newPage();
        page.setDefaultTimeout(WAIT_MS);
        const messages = [];
        page.on("console", (message) => ["error", "warning"].includes(message.type()) && messages.push(message.text()));
        page.on("pageerror", (error) => messages.push(`error: ${error.message}`));
        page.on("dialog", (dialog) => {
            messages.push(`dialog: ${dialog.message()}`);
            void dialog.dismiss();
        });
        await page.goto(url);
        pages.set(++number, { page, context, messages });
        return number;
    },
    async goto({ tab, url }) { await pages.get(tab).page.goto(url); },
    async evaluate({ tab, code }) { return await pages.get(tab).page.evaluate(code); },
    // Asks repeatedly, also if the page is replaced meanwhile.
    async wait({ tab, code }) {
        const { page } = pages.get(tab);
        const end = Date.now() + WAIT_MS;
        let last;
        while (Date.now() < end) {
            try {
                last = await page.evaluate(code);
                if (last) return last;
            } catch (error) {
                last = String(error);
            }
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
        const text = await page.evaluate("document.body.innerText").catch(() => "no document");
        throw new Error(`never true: ${code}; last: ${JSON.stringify(last)}; the page:\n${text.slice(0, 3000)}`);
    },
    async press({ tab, key }) { await pages.get(tab).page.keyboard.press(key); },
    async click({ tab, selector }) { await pages.get(tab).page.click(selector); },
    async fill({ tab, selector, text }) { await pages.get(tab).page.fill(selector, text); },
    // From one place of an element to another, as shares of its width.
    async drag({ tab, selector, start, end }) {
        const { page } = pages.get(tab);
        await page.locator(selector).scrollIntoViewIfNeeded();
        const box = await page.locator(selector).boundingBox();
        const y = box.y + box.height / 2;
        await page.mouse.move(box.x + box.width * start, y);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * (start + end) / 2, y);
        await page.mouse.move(box.x + box.width * end, y);
        await page.mouse.up();
    },
    async media({ tab, media }) { await pages.get(tab).page.emulateMedia({ media }); },
    async files({ tab, selector, paths }) { await pages.get(tab).page.setInputFiles(selector, paths); },
    async picture({ tab, path, whole }) { await pages.get(tab).page.screenshot({ path, fullPage: whole }); },
    async size({ tab, width, height }) { await pages.get(tab).page.setViewportSize({ width, height }); },
    async download({ tab, selector, path }) {
        const { page } = pages.get(tab);
        const [file] = await Promise.all([page.waitForEvent("download"), page.click(selector)]);
        await file.saveAs(path);
    },
    async accessibility({ tab }) {
        const { page } = pages.get(tab);
        await page.evaluate(axe);
        const found = await page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})");
        return found.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 200)} ${node.failureSummary}`).join(" | ")}`);
    },
    async startTrace({ tab, path, categories = ["toplevel", "devtools.timeline"] }) {
        await browser.startTracing(pages.get(tab).page, { path, categories });
    },
    async stopTrace() { await browser.stopTracing(); },
    async sleep({ seconds }) { await new Promise((resolve) => setTimeout(resolve, seconds * 1000)); },
    async pdf({ tab, path }) { await pages.get(tab).page.pdf({ path, format: "A4" }); },
    // Where the element is on the screen; null if it is not there.
    async boxes({ tab, selector }) {
        return (await Promise.all((await pages.get(tab).page.locator(selector).all()).map((one) => one.boundingBox()))).filter((one) => one !== null);
    },
    // The tiles of which a large share of the pixels clearly differs, outside of the boxes that are left out: [x, y, share]. All of it if the sizes differ.
    async difference({ one, other, tile, share, leftOut }) {
        const page = await browser.newPage();
        try {
            return await page.evaluate(async ({ pictures, tile, share, leftOut }) => {
                const [a, b] = await Promise.all(pictures.map(async (picture) => {
                    const bytes = Uint8Array.from(atob(picture), (character) => character.charCodeAt(0));
                    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
                    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
                    const context = canvas.getContext("2d");
                    context.drawImage(bitmap, 0, 0);
                    return context.getImageData(0, 0, bitmap.width, bitmap.height);
                }));
                if (a.width !== b.width || a.height !== b.height) return [[0, 0, 1]];
                const found = [];
                for (let top = 0; top < a.height; top += tile) {
                    for (let left = 0; left < a.width; left += tile) {
                        if (leftOut.some((box) => left < box.x + box.width && left + tile > box.x && top < box.y + box.height && top + tile > box.y)) continue;
                        const [right, bottom] = [Math.min(left + tile, a.width), Math.min(top + tile, a.height)];
                        let count = 0;
                        for (let y = top; y < bottom; ++y) {
                            for (let x = left; x < right; ++x) {
                                const i = (y * a.width + x) * 4;
                                count += [0, 1, 2].some((channel) => Math.abs(a.data[i + channel] - b.data[i + channel]) > 32) ? 1 : 0;
                            }
                        }
                        const part = count / ((right - left) * (bottom - top));
                        if (part > share) found.push([left, top, Math.round(part * 100) / 100]);
                    }
                }
                return found;
            }, { pictures: [one, other].map((path) => readFileSync(path).toString("base64")), tile, share, leftOut });
        } finally {
            await page.close();
        }
    },
    // The number of different colours of a picture.
    async colors({ path }) {
        const page = await browser.newPage();
        try {
            return await page.evaluate(async (picture) => {
                const bytes = Uint8Array.from(atob(picture), (character) => character.charCodeAt(0));
                const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
                const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
                const context = canvas.getContext("2d");
                context.drawImage(bitmap, 0, 0);
                return new Set(new Uint32Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer)).size;
            }, readFileSync(path).toString("base64"));
        } finally {
            await page.close();
        }
    },
    messages({ tab }) { return pages.get(tab).messages; },
    async close({ tab }) {
        await pages.get(tab).context.close();
        pages.delete(tab);
    },
};

process.stdout.write("\"ready\"\n");
for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    try {
        process.stdout.write(`${JSON.stringify({ answer: (await commands[command.name](command)) ?? null })}\n`);
    } catch (error) {
        process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
    }
}
await browser.close();
