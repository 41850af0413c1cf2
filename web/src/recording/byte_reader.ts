// SPDX-License-Identifier: Apache-2.0
// Numbers and texts of payloads (docs/RECORDING_FORMAT.md). Figures are numbers of JavaScript, exact up to 2^53; what may be larger is a
// bigint.

const UTF8 = new TextDecoder();

export class ByteReader {
    private at = 0;

    constructor(private readonly bytes: Uint8Array) {}

    get isAtEnd(): boolean {
        return this.at >= this.bytes.length;
    }

    byte(): number {
        const value = this.bytes[this.at];
        if (value === undefined) throw new Error("a payload ends too early");
        ++this.at;
        return value;
    }

    /** LEB128 of at most 64 bits. */
    big(): bigint {
        let value = 0n;
        for (let shift = 0n; shift < 64n; shift += 7n) {
            const byte = this.byte();
            value |= BigInt(byte & 0x7f) << shift;
            if (byte < 0x80) return BigInt.asUintN(64, value);
        }
        throw new Error("a number has more than 64 bits");
    }

    number(): number {
        const start = this.at;
        let value = 0;
        let factor = 1;
        for (let i = 0; i < 7; ++i) {
            const byte = this.byte();
            value += (byte & 0x7f) * factor;
            if (byte < 0x80) return value;
            factor *= 128;
        }
        this.at = start;
        return Number(this.big());
    }

    /** What is added to the value before, modulo 2^64: as a signed number. */
    difference(): number {
        const start = this.at;
        const value = this.number();
        if (value < 2 ** 49) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
        this.at = start;
        const exact = this.big();
        return Number((exact >> 1n) ^ -(exact & 1n));
    }

    /** The bytes of a text, not copied. */
    slice(): Uint8Array {
        const length = this.number();
        if (length > this.bytes.length - this.at) throw new Error("a payload ends too early");
        this.at += length;
        return this.bytes.subarray(this.at - length, this.at);
    }

    text(): string {
        return UTF8.decode(this.slice());
    }

    rest(): string {
        const text = UTF8.decode(this.bytes.subarray(this.at));
        this.at = this.bytes.length;
        return text;
    }

    optionalText(): string | null {
        return this.number() === 0 ? null : this.text();
    }
}

/** An object of a table: zero bytes at its end are left out. */
export function objectOf(bytes: Uint8Array, size: number): DataView {
    const whole = new Uint8Array(Math.max(size, bytes.length));
    whole.set(bytes);
    return new DataView(whole.buffer);
}

const CRC = Uint32Array.from({ length: 256 }, (_one, n) => {
    let value = n;
    for (let bit = 0; bit < 8; ++bit) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value >>> 0;
});

export function checksum(bytes: Uint8Array): number {
    let value = 0xffffffff;
    for (let i = 0; i < bytes.length; ++i) value = (CRC[(value ^ (bytes[i] as number)) & 0xff] as number) ^ (value >>> 8);
    return (value ^ 0xffffffff) >>> 0;
}
