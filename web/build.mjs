// SPDX-License-Identifier: Apache-2.0
// Bundles src/ into one script and one style sheet, compresses them, checks their size, and writes them as C++:
// node build.mjs OUTPUT.cpp

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

const LIMIT = 120 * 1024;
const output = process.argv[2];
if (output === undefined) {
    console.error("usage: node build.mjs OUTPUT.cpp");
    process.exit(2);
}

const bundle = async (entry) => {
    const result = await build({
        entryPoints: [entry],
        bundle: true,
        minify: true,
        write: false,
        charset: "utf8",
        target: ["chrome100", "firefox100", "safari15"],
        jsx: "automatic",
        jsxImportSource: "preact",
        legalComments: "none",
        logLevel: "warning",
        metafile: true,
    });
    return Buffer.concat([licences(result.metafile), Buffer.from(result.outputFiles[0].contents)]);
};

// Of the packages in the bundle: who passes it on must pass on their licences.
const licences = (metafile) => {
    const names = new Set(Object.keys(metafile.inputs).flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
    const texts = [...names].sort().map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}`);
    return Buffer.from(texts.length === 0 ? "" : `/*\n${texts.join("\n\n").replaceAll("*/", "* /")}\n*/\n`);
};

const files = [];
const add = (name, type, content) => {
    const hash = createHash("sha256").update(content).digest("hex").slice(0, 12);
    const path = `/assets/${name.replace(".", `-${hash}.`)}`;
    files.push({ path, type, bytes: gzipSync(content, { level: 9 }), isGzip: true });
    return path;
};

const script = await bundle("src/main.tsx");
const style = await bundle("src/page.css");
const scriptPath = add("page.js", "text/javascript; charset=utf-8", script);
const stylePath = add("page.css", "text/css; charset=utf-8", style);
const iconPath = add("icon.svg", "image/svg+xml", readFileSync("src/icon.svg"));
const document = readFileSync("src/page.html", "utf8")
    .replace("page.js", scriptPath).replace("page.css", stylePath).replace("icon.svg", iconPath);
files.unshift({ path: "/", type: "text/html; charset=utf-8", bytes: Buffer.from(document), isGzip: false });

const size = files.reduce((sum, file) => sum + file.bytes.length, 0);
if (size > LIMIT) {
    console.error(`web/build.mjs: the page has ${size} bytes compressed; at most ${LIMIT} are allowed`);
    process.exit(1);
}

// Octal escapes have at most three digits, so no digit that follows can join one.
const literal = (bytes) => {
    const lines = [];
    for (let i = 0; i < bytes.length; i += 64) {
        let line = "";
        for (const byte of bytes.subarray(i, i + 64)) line += `\\${byte.toString(8).padStart(3, "0")}`;
        lines.push(`    "${line}"`);
    }
    return lines.join("\n");
};
const rows = files.map((file, i) =>
    `    PageAsset{"${file.path}", "${file.type}", {kBytes${i}, ${file.bytes.length}}, ${file.isGzip}},`);
writeFileSync(output, `// Written by web/build.mjs.
#include "daemon/page/assets.hpp"

#include <array>

namespace ttmem::daemon {
namespace {
${files.map((file, i) => `constexpr char kBytes${i}[] =\n${literal(file.bytes)};`).join("\n")}
constexpr std::array kPageAssets{
${rows.join("\n")}
};
}  // namespace

std::span<const PageAsset> page_assets() { return kPageAssets; }

}  // namespace ttmem::daemon
`);
// Beside it, for the tests of the page and for the HTML export.
writeFileSync(join(dirname(output), "page.js"), script);
writeFileSync(join(dirname(output), "page.css"), style);
console.log(`page: ${files.length} files, ${size} bytes compressed`);
