// SPDX-License-Identifier: Apache-2.0
// A part of the page that has no canvas, as a picture: its boxes with their colours and texts.

import { save } from "./basics";

const INDENT = 4;

function drawText(context: CanvasRenderingContext2D, element: HTMLElement, box: DOMRect): void {
    const style = getComputedStyle(element);
    context.save();
    context.beginPath();
    context.rect(box.x, box.y, box.width, box.height);
    context.clip();
    context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    context.fillStyle = style.color;
    context.textBaseline = "middle";
    context.textAlign = style.textAlign === "center" ? "center" : "left";
    const x = context.textAlign === "center" ? box.x + box.width / 2 : box.x + (element.children.length === 0 && element.tagName === "BUTTON" ? INDENT : 0);
    context.fillText(element.textContent ?? "", x, box.y + box.height / 2);
    context.restore();
}

/** Saves the element. Only what is on its own as text or as a coloured box is drawn. */
export function savePicture(root: HTMLElement, name: string): void {
    const ratio = devicePixelRatio || 1;
    const place = root.getBoundingClientRect();
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(root.scrollWidth * ratio);
    canvas.height = Math.ceil(root.scrollHeight * ratio);
    const context = canvas.getContext("2d");
    if (context === null) return;
    context.scale(ratio, ratio);
    context.translate(-place.x + root.scrollLeft, -place.y);
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--panel");
    context.fillRect(place.x - root.scrollLeft, place.y, root.scrollWidth, root.scrollHeight);
    for (const element of root.querySelectorAll<HTMLElement>("*")) {
        const box = element.getBoundingClientRect();
        const color = getComputedStyle(element).backgroundColor;
        if (color !== "rgba(0, 0, 0, 0)") {
            context.fillStyle = color;
            context.fillRect(box.x, box.y, box.width, box.height);
        }
        if (element.children.length === 0 && element.textContent !== "") drawText(context, element, box);
    }
    canvas.toBlob((blob) => blob !== null && save(name, blob));
}
