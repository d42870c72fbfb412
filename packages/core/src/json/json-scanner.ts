/** Minimum length of a base64 run that counts as file data. Names, URLs, hashes and tokens are shorter. */
const MIN_FILE_RUN = 1024;

const QUOTE = 0x22;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;

/** The alphabets of base64 and base64url, with padding. */
const isBase64Byte = new Uint8Array(256);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=') {
  isBase64Byte[char.charCodeAt(0)] = 1;
}

/**
 * Measures the bytes of a JSON text before it is parsed: its nesting depth, and its length without the base64 data of files in
 * its strings. One pass in constant memory, over chunks of any size. The numbers for invalid JSON are meaningless, but the parser
 * rejects it later.
 */
export class JsonScanner {
  /** Deepest nesting of arrays and objects so far. */
  maxDepth = 0;
  #depth = 0;
  #bytes = 0;
  #fileBytes = 0;
  /** Length of the base64 run that ends at the last byte seen. */
  #run = 0;
  #isInString = false;
  #isEscaped = false;

  /** Bytes so far, without file data. A run that has not ended may become file data, so it does not count yet. */
  get jsonBytes(): number {
    return this.#bytes - this.#fileBytes - this.#run;
  }

  feed(bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength;
    let index = 0;
    while (index < bytes.length) {
      index = this.#isInString ? this.#feedString(bytes, index) : this.#feedStructure(bytes, index);
    }
  }

  /** Returns the index after the next quote, or the end. */
  #feedStructure(bytes: Uint8Array, start: number): number {
    for (let index = start; index < bytes.length; index += 1) {
      switch (bytes[index]) {
        case QUOTE:
          this.#isInString = true;
          return index + 1;
        case 0x5b: // [
        case 0x7b: // {
          this.#depth += 1;
          if (this.#depth > this.maxDepth) this.maxDepth = this.#depth;
          break;
        case 0x5d: // ]
        case 0x7d: // }
          this.#depth -= 1;
      }
    }
    return bytes.length;
  }

  /** Returns the index after the string, or the end. */
  #feedString(bytes: Uint8Array, start: number): number {
    for (let index = start; index < bytes.length; index += 1) {
      const byte = bytes[index] as number;
      if (this.#isEscaped) {
        this.#isEscaped = false;
        // Some serializers escape slashes, which are base64 digits.
        if (byte === SLASH) this.#run += 2;
        else this.#endRun();
      } else if (isBase64Byte[byte] === 1) {
        this.#run += 1;
      } else if (byte === BACKSLASH) {
        this.#isEscaped = true;
      } else {
        this.#endRun();
        if (byte === QUOTE) {
          this.#isInString = false;
          return index + 1;
        }
      }
    }
    return bytes.length;
  }

  #endRun(): void {
    if (this.#run >= MIN_FILE_RUN) this.#fileBytes += this.#run;
    this.#run = 0;
  }
}
