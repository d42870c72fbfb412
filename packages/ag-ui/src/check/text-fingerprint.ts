/**
 * Incremental fingerprint of a text: its length and a 64-bit hash, in constant memory. Safe against accidental collisions, not
 * against deliberate ones.
 */
export class TextFingerprint {
  length = 0;
  #low = 0x811c9dc5;
  #high = 0x9e3779b9;

  add(text: string): void {
    let low = this.#low;
    let high = this.#high;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      low = Math.imul(low ^ unit, 0x01000193);
      // Rotated, so that the two halves are not derived from the same low bits.
      high = Math.imul(((high << 5) | (high >>> 27)) ^ unit, 0x85ebca6b);
    }
    this.#low = low;
    this.#high = high;
    this.length += text.length;
  }

  equals(other: TextFingerprint): boolean {
    return this.length === other.length && this.#low === other.#low && this.#high === other.#high;
  }

  copy(): TextFingerprint {
    const copy = new TextFingerprint();
    copy.length = this.length;
    copy.#low = this.#low;
    copy.#high = this.#high;
    return copy;
  }
}
