// SPDX-License-Identifier: Apache-2.0
// Boxes of scopes on a canvas: the treemap and the flame graph. The table beside it is the same for keyboard and screen reader.

import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { boxAt } from "../model/layout";
import type { Box } from "../model/layout";
import { nameColor, theme } from "../model/theme";
import type { Scope } from "../model/tree";
import { bytes, count, percent } from "../model/units";
import { save } from "./basics";
import { useWidth } from "./hooks";

function draw(context: CanvasRenderingContext2D, boxes: readonly Box[], hover: Scope | null, ratio: number): void {
    const isDark = theme.value === "dark";
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.textBaseline = "middle";
    for (const box of boxes) {
        const [red, green, blue] = nameColor(box.scope.path, theme.value);
        context.globalAlpha = box.isLeaf ? 1 : 0.4;
        context.fillStyle = `rgb(${red},${green},${blue})`;
        context.fillRect(box.x, box.y, Math.max(box.width - 1, 0.6), Math.max(box.height - 1, 0.6));
        context.globalAlpha = 1;
        if (hover === box.scope) {
            context.strokeStyle = isDark ? "#ffffff" : "#000000";
            context.lineWidth = 2;
            context.strokeRect(box.x + 1, box.y + 1, box.width - 3, box.height - 3);
        }
        if (box.width < 34 || box.height < 15) continue;
        context.save();
        context.beginPath();
        context.rect(box.x, box.y, box.width - 6, box.height);
        context.clip();
        context.fillStyle = isDark ? "#ffffff" : "#10151b";
        context.font = box.isLeaf ? "13px system-ui, sans-serif" : "600 12px system-ui, sans-serif";
        const isTall = box.isLeaf && box.height > 38;
        const y = isTall || !box.isLeaf ? box.y + 11 : box.y + box.height / 2;
        context.fillText(isTall || box.width < 120 ? box.scope.name : `${box.scope.name}  ${bytes(box.scope.bytes)}`, box.x + 6, y);
        if (isTall) {
            context.globalAlpha = 0.85;
            context.font = "12px system-ui, sans-serif";
            context.fillText(bytes(box.scope.bytes), box.x + 6, y + 17);
            context.globalAlpha = 1;
        }
        context.restore();
    }
}

export function ScopeCanvas({ root, height, layout, onOpen, label }: {
    root: Scope; height: number; layout: (root: Scope, width: number, height: number) => Box[]; onOpen: (scope: Scope) => void; label: string;
}): VNode {
    const [box, width] = useWidth();
    const canvas = useRef<HTMLCanvasElement>(null);
    const [hover, setHover] = useState<Scope | null>(null);
    const boxes = useMemo(() => (width === 0 ? [] : layout(root, width, height)), [root, width, height, layout]);
    const tall = Math.max(height, ...boxes.map((one) => one.y + one.height));
    useEffect(() => {
        const context = canvas.current?.getContext("2d");
        if (!context || canvas.current === null || width === 0) return;
        const ratio = devicePixelRatio || 1;
        canvas.current.width = Math.round(width * ratio);
        canvas.current.height = Math.round(tall * ratio);
        draw(context, boxes, hover, ratio);
    }, [boxes, hover, tall, theme.value]);
    return (
        <div ref={box} class="scope-canvas">
            <canvas ref={canvas} role="img" aria-label={`${label}: ${bytes(root.bytes)} in ${count(root.count, "allocation", "allocations")}; the table below has the same`}
                style={{ height: `${tall}px` }}
                onPointerMove={(event) => setHover(boxAt(boxes, event.offsetX, event.offsetY)?.scope ?? null)}
                onPointerLeave={() => setHover(null)}
                onClick={(event) => {
                    const found = boxAt(boxes, event.offsetX, event.offsetY);
                    if (found !== null) onOpen(found.scope);
                }} />
            <div class="map-line">
                <span>{hover === null ? `${bytes(root.bytes)} in ${count(root.count, "allocation", "allocations")}`
                    : `${hover.path}: ${bytes(hover.bytes)} (${percent(hover.bytes, root.bytes)}) in ${count(hover.count, "allocation", "allocations")}`}</span>
                <span class="map-tools"><button type="button"
                    onClick={() => canvas.current?.toBlob((blob) => blob !== null && save("ttmem-memory.png", blob))}>picture</button></span>
            </div>
        </div>
    );
}
