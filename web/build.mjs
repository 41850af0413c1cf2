// SPDX-License-Identifier: Apache-2.0
// Bundles src/ into one document, compresses it, checks its size, and writes it as C++:
// node build.mjs OUTPUT.cpp

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
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

const script = (await bundle("src/main.tsx")).toString().replaceAll("</script", "<\\/script");
const style = (await bundle("src/page.css")).toString();
const icon = encodeURIComponent(readFileSync("src/icon.svg", "utf8").trim());

// Only this script and this style run in the page, whatever a name contains.
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src 'self' data: blob:; connect-src 'self'; `
    + "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

// Script and style are in the document, so that the first picture waits for no further request but that for its data.
const REQUEST = "<link rel=\"preload\" href=\"/v1/status?scan=false\" as=\"fetch\" crossorigin>";
const page = readFileSync("src/page.html", "utf8").replace("POLICY", () => policy).replace("ICON", () => icon)
    .replace("STYLE", () => style).replace("SCRIPT", () => script);
const [before, after] = page.split("DATA\n");
for (const [what, text] of [["script", script], ["style", style]]) {
    if (/<!--|<\/style|\r/.test(text) || text.includes("DATA\n")) {
        console.error(`web/build.mjs: the ${what} contains text that would end its element`);
        process.exit(1);
    }
}
const sent = gzipSync(before + REQUEST + after, { level: 9 });
if (sent.length > LIMIT) {
    console.error(`web/build.mjs: the page has ${sent.length} bytes compressed; at most ${LIMIT} are allowed`);
    process.exit(1);
}

// Octal escapes have at most three digits, so no digit that follows can join one.
const literal = (name, content) => {
    const bytes = Buffer.from(content);
    const lines = [];
    for (let i = 0; i < bytes.length; i += 64) {
        let line = "";
        for (const byte of bytes.subarray(i, i + 64)) line += `\\${byte.toString(8).padStart(3, "0")}`;
        lines.push(`    "${line}"`);
    }
    return `constexpr char ${name}Bytes[] =\n${lines.join("\n")};\nconstexpr std::string_view ${name}{${name}Bytes, ${bytes.length}};`;
};
writeFileSync(output, `// Written by web/build.mjs.
#include "page/document.hpp"

namespace ttmem::page {
namespace {
${literal("kSent", sent)}
${literal("kPolicy", `${policy}; frame-ancestors 'none'`)}
${literal("kBefore", before)}
${literal("kAfter", after)}
${literal("kSavedAddresses", readFileSync("src/model/saved_addresses.json"))}
}  // namespace

SentDocument sent_document() { return {kSent, kPolicy}; }
DocumentParts document_parts() { return {kBefore, kAfter}; }
std::string_view saved_addresses() { return kSavedAddresses; }

}  // namespace ttmem::page
`);
console.log(`page: ${sent.length} bytes compressed`);
