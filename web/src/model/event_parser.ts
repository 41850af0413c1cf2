// SPDX-License-Identifier: Apache-2.0
// Server-sent events out of pieces of text, however they are cut.

export interface ServerEvent {
    event: string;
    id: string | null;
    data: string;
}

export class EventParser {
    private rest = "";

    /** The events that end in this piece. Comments, such as the heartbeat, are no events. */
    take(piece: string): ServerEvent[] {
        const text = this.rest + piece;
        const parts = text.split("\n\n");
        this.rest = parts.pop() ?? "";
        const events: ServerEvent[] = [];
        for (const part of parts) {
            const found = parse(part);
            if (found !== null) events.push(found);
        }
        return events;
    }
}

function parse(text: string): ServerEvent | null {
    let event = "message";
    let id: string | null = null;
    const data: string[] = [];
    for (const line of text.split("\n")) {
        const colon = line.indexOf(":");
        if (colon <= 0) continue;
        const value = line.slice(colon + 1).replace(/^ /, "");
        const field = line.slice(0, colon);
        if (field === "event") event = value;
        else if (field === "id") id = value;
        else if (field === "data") data.push(value);
    }
    return data.length === 0 ? null : { event, id, data: data.join("\n") };
}
