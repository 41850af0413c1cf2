// SPDX-License-Identifier: Apache-2.0
// Names as a tree of scopes: "model/decoder.0/mlp" is mlp in decoder.0 in model.

import type { AnyKind, Group } from "./types";

export interface Scope {
    name: string;
    path: string;
    bytes: number;
    count: number;
    own: number;
    children: Scope[];
    depth: number;
}

interface Building extends Scope {
    index: Map<string, Building>;
    children: Building[];
}

function scope(name: string, path: string, depth: number): Building {
    return { name, path, bytes: 0, count: 0, own: 0, children: [], depth, index: new Map() };
}

export function buildTree(groups: readonly Group[], kind: AnyKind): Scope {
    const root = scope("all", "", 0);
    for (const group of groups) {
        const memory = group.memory[kind];
        if (memory.used === 0 && memory.count === 0) continue;
        const parts = group.key === null ? ["(no name)"] : group.key.split("/").filter((part) => part !== "");
        let node = root;
        node.bytes += memory.used;
        node.count += memory.count;
        for (const part of parts) {
            let child = node.index.get(part);
            if (child === undefined) {
                child = scope(part, node.path === "" ? part : `${node.path}/${part}`, node.depth + 1);
                node.index.set(part, child);
                node.children.push(child);
            }
            child.bytes += memory.used;
            child.count += memory.count;
            node = child;
        }
        node.own += memory.used;
    }
    sort(root);
    return root;
}

function sort(node: Scope): void {
    node.children.sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
    node.children.forEach(sort);
}

export function find(root: Scope, path: string): Scope {
    let node = root;
    for (const part of path.split("/").filter((one) => one !== "")) {
        const child = node.children.find((one) => one.name === part);
        if (child === undefined) return node;
        node = child;
    }
    return node;
}
