// SPDX-License-Identifier: Apache-2.0
// Each pinned package runs on Debian 12's Node, and the lockfile names no registry. node check_packages.mjs

import { readFileSync } from "node:fs";
import semver from "semver";

const DEBIAN_NODE = "18.20.4";
const problems = [];
const pinned = JSON.parse(readFileSync("package.json", "utf8")).devDependencies;
for (const [name, version] of Object.entries(pinned)) {
    if (semver.valid(version) === null) problems.push(`${name}: '${version}' is not one version`);
}
const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
for (const [path, entry] of Object.entries(lock.packages)) {
    const name = path.replace("node_modules/", "");
    const range = entry.engines?.node;
    if (range !== undefined && !semver.satisfies(DEBIAN_NODE, range)) problems.push(`${name}: needs Node ${range}, Debian 12 has ${DEBIAN_NODE}`);
    if (entry.resolved !== undefined) problems.push(`${name}: the lockfile has an address (npm config omit-lockfile-registry-resolved)`);
    if (path !== "" && entry.integrity === undefined) problems.push(`${name}: the lockfile has no checksum`);
}
for (const problem of problems) console.error(problem);
console.log(`${Object.keys(lock.packages).length - 1} packages, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
