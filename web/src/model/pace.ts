// SPDX-License-Identifier: Apache-2.0
// How often the page asks, so that it costs the daemon little.

const SHARE = 50;

/** How long to wait before an answer is asked for again. `took`: the last times in ms that it took, of which the least counts, because the
 * others waited for something else. `active`: the answers that share a fiftieth of a processor. */
export function pauseMs(took: readonly number[], active: number, leastMs: number): number {
    return Math.max(took.length === 0 ? 0 : Math.min(...took) * SHARE * Math.max(active, 1), leastMs);
}

const MOST_SAMPLES = 1000;

/** The seconds of which a time line keeps the highest sample; 0: all samples. */
export function stepOf(spanS: number): number {
    const step = Math.floor(spanS / MOST_SAMPLES);
    return step <= 1 ? 0 : step;
}
