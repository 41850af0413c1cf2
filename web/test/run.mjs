// SPDX-License-Identifier: Apache-2.0
// Unit tests of the pure parts: bundles each *.test.ts and runs it with node's own runner. node test/run.mjs

import { spawnSync } from "node:child_process";
import { build } from "esbuild";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "ttmem-page-"));
const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts")).map((name) => join(here, name));
await build({
    entryPoints: tests, bundle: true, platform: "node", format: "esm", outdir: folder, outExtension: { ".js": ".mjs" },
    jsx: "automatic", jsxImportSource: "preact", logLevel: "warning",
});
const files = readdirSync(folder).filter((name) => basename(name).endsWith(".test.mjs")).map((name) => join(folder, name));
const result = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
rmSync(folder, { recursive: true });
process.exit(files.length === tests.length && files.length > 0 ? result.status ?? 1 : 1);
