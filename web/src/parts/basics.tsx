// SPDX-License-Identifier: Apache-2.0
// Small parts that all views use.

import { Component } from "preact";
import type { ComponentChildren, FunctionComponent, VNode } from "preact";
import { go } from "../model/router";
import { hasDetails, isSaved } from "../model/source";
import type { AnyKind, Listed, Origin } from "../model/types";
import { bytes, count, percent } from "../model/units";
import type { Answer } from "./hooks";

/** Drawn again only if a property is another object. */
export function memo<P extends object>(inner: FunctionComponent<P>): FunctionComponent<P> {
    class Memo extends Component<P> {
        override shouldComponentUpdate(next: P): boolean {
            const before = this.props as Record<string, unknown>;
            const after = next as Record<string, unknown>;
            return Object.keys(after).some((key) => after[key] !== before[key]);
        }
        override render(): VNode | null {
            return inner(this.props as never) as VNode | null;
        }
    }
    return Memo as unknown as FunctionComponent<P>;
}

export function Link({ href, children, ...rest }: {
    href: string; children: ComponentChildren; class?: string; title?: string; current?: boolean;
}): VNode {
    const { current, ...others } = rest;
    return (
        <a href={isSaved() ? `#${href}` : href} {...others} aria-current={current === true ? "page" : undefined}
            onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
                event.preventDefault();
                go(href);
            }}>{children}</a>
    );
}

export const KIND_WORDS: Record<AnyKind, string> = {
    dram: "DRAM", l1: "L1", l1_small: "L1 small", trace: "trace", cb: "circular buffers", kernel: "kernels",
    system_memory: "system memory",
};

export function Kind({ kind }: { kind: AnyKind }): VNode {
    return <span class={`kind kind-${kind}`}>{kind}</span>;
}

/** A bar of used and capacity, with its text. The text says all that the colour does. */
export function Bar({ used, capacity, label, tone }: {
    used: number | null; capacity: number | null; label: string; tone?: string;
}): VNode {
    const share = used === null || capacity === null || capacity === 0 ? 0 : Math.min(used / capacity, 1);
    const level = share >= 0.95 ? "full" : share >= 0.8 ? "high" : "";
    return (
        <div class="bar" role="img" aria-label={`${label}: ${bytes(used)} of ${bytes(capacity)}, ${percent(used, capacity)}`}>
            {share > 0 && <div class={`bar-fill ${level} ${tone ?? ""}`} style={{ width: `${share * 100}%` }} />}
        </div>
    );
}

export function Panel({ title, children, actions, class: className }: {
    title: ComponentChildren; children: ComponentChildren; actions?: ComponentChildren; class?: string;
}): VNode {
    return (
        <section class={`panel ${className ?? ""}`}>
            <header class="panel-head"><h2>{title}</h2><div class="actions">{actions}</div></header>
            {children}
        </section>
    );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }): VNode {
    return <div class="empty"><p class="empty-title">{title}</p>{children}</div>;
}

export function HowToSeeMore(): VNode {
    return (
        <Empty title="This page shows totals only">
            <p>It has no token, so the daemon does not know who you are. On the host, run</p>
            <pre>ttmem web</pre>
            <p>which opens the page with a token of yours. From another machine:</p>
            <pre>ssh -L 9479:/run/ttmem/api.sock HOST</pre>
            <p>and open http://127.0.0.1:9479/, where ssh shows the daemon who you are.</p>
        </Empty>
    );
}

/** The answer, or why there is none. */
export function Show<T>({ answer, children }: { answer: Answer<T>; children: (data: T) => VNode | null }): VNode | null {
    if (answer.data !== null) {
        return (
            <>
                {answer.error !== "" && <p class="notice" role="status">{answer.error}</p>}
                {children(answer.data)}
            </>
        );
    }
    if (answer.isDenied) {
        return hasDetails.value ? <Empty title="Not yours to see"><p>{answer.error}</p></Empty> : <HowToSeeMore />;
    }
    if (answer.error !== "") return <Empty title="No answer"><p>{answer.error}</p></Empty>;
    return <div class="skeleton" role="status" aria-label="loading" />;
}

/** What a list leaves out because it belongs to others. */
export function HiddenNote({ of }: { of: Listed }): VNode | null {
    if (of.hidden.process_count === 0) return null;
    const held = (["dram", "l1", "cb"] as const)
        .filter((kind) => (of.hidden.memory[kind].used ?? 0) > 0)
        .map((kind) => `${kind} ${bytes(of.hidden.memory[kind].used)}`);
    return (
        <p class="notice">
            Not listed: {count(of.hidden.process_count, "process", "processes")} of other users
            {held.length > 0 && <> with {held.join(", ")}</>}.
        </p>
    );
}

export function Exactness({ of }: { of: Origin }): VNode {
    if (of.exact) return <span class="chip ok" title="Nothing is missing and nothing is in doubt">figures exact</span>;
    return (
        <details class="reasons">
            <summary class="chip warn">inexact: {count(of.inexact.length, "reason", "reasons")}</summary>
            <ul>
                {of.inexact.slice(0, 20).map((one) => (
                    <li key={`${one.pid} ${one.code}`}>
                        {one.pid !== 0 && <>process {one.pid}: </>}{one.reason}{one.count > 1 && <> ({one.count} times)</>}
                    </li>
                ))}
            </ul>
        </details>
    );
}

/** Why the past of this host is not on its disk. */
export function HistoryNote({ of }: { of: Origin }): VNode {
    const reasons = of.inexact.filter((one) => one.code === "history_not_kept");
    return <>{reasons.map((one) => <p key={one.reason} class="notice">{one.reason}{one.count > 1 && <> ({one.count} times)</>}</p>)}</>;
}

export function Choice<V extends string>({ label, value, options, onChange }: {
    label: string; value: V; options: readonly { value: V; text: string }[]; onChange: (value: V) => void;
}): VNode {
    return (
        <div class="choice" role="group" aria-label={label}>
            {options.map((option) => (
                <button key={option.value} type="button" aria-pressed={option.value === value}
                    onClick={() => onChange(option.value)}>{option.text}</button>
            ))}
        </div>
    );
}

export function save(name: string, content: Blob | string, type = "text/plain"): void {
    const url = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
