import { toTextArray } from './array-literal.ts';

/**
 * Array of JSON texts as a parameter, `$1::json[]`. The binary format avoids escaping every quote of the JSON, which the text
 * format of arrays requires.
 */
export class JsonArrayParameter {
  readonly texts: ReadonlyArray<string | undefined>;

  constructor(texts: ReadonlyArray<string | undefined>) {
    this.texts = texts;
  }

  /** Encodes the array in the binary format of the protocol. */
  toBytes(): Uint8Array {
    const { texts } = this;
    let size = headerBytes;
    for (const text of texts) size += 4 + (text === undefined ? 0 : Buffer.byteLength(text));
    const bytes = Buffer.allocUnsafe(size);
    // Header: one dimension, may contain nulls, element type, length, lower bound.
    let at = 0;
    for (const field of [1, 1, jsonOid, texts.length, 1]) at = bytes.writeInt32BE(field, at);
    for (const text of texts) {
      const length = text === undefined ? -1 : bytes.write(text, at + 4);
      bytes.writeInt32BE(length, at);
      at += 4 + Math.max(length, 0);
    }
    return bytes;
  }

  /** Encodes the array as text, for drivers that do not pass binary parameters on. */
  toText(): string {
    return toTextArray(this.texts);
  }
}

const headerBytes = 20;
const jsonOid = 114;
