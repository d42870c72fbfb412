import { textList } from './list-text.ts';

/**
 * A list of JSON texts for a statement, `$1::json[]`. As bytes it is read as it is; in the usual form of a list every quote
 * would be escaped once more, here and there.
 */
export class JsonList {
  readonly texts: ReadonlyArray<string | undefined>;

  constructor(texts: ReadonlyArray<string | undefined>) {
    this.texts = texts;
  }

  /** The list in the binary format of the protocol. */
  toBytes(): Uint8Array {
    const { texts } = this;
    let size = headerBytes;
    for (const text of texts) size += 4 + (text === undefined ? 0 : Buffer.byteLength(text));
    const bytes = Buffer.allocUnsafe(size);
    // One dimension, nulls among them, of type json, so long, counted from 1.
    let at = 0;
    for (const field of [1, 1, jsonOid, texts.length, 1]) at = bytes.writeInt32BE(field, at);
    for (const text of texts) {
      const length = text === undefined ? -1 : bytes.write(text, at + 4);
      bytes.writeInt32BE(length, at);
      at += 4 + Math.max(length, 0);
    }
    return bytes;
  }

  /** The list as a text, for drivers that would take bytes for something else. */
  toText(): string {
    return textList(this.texts);
  }
}

const headerBytes = 20;
const jsonOid = 114;
