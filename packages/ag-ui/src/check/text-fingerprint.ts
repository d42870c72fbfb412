/**
 * What is left of a text that is only compared: its length and a hash of 64 bits, which grow with it and hold nothing of it.
 * Enough against chance; whoever wants two texts to look the same can make two.
 */
export class TextPrint {
  length = 0;
  #low = 0x811c9dc5;
  #high = 0x9e3779b9;

  add(text: string): void {
    let low = this.#low;
    let high = this.#high;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      low = Math.imul(low ^ unit, 0x01000193);
      // Turned, so that it is not a second view of the same low bits.
      high = Math.imul(((high << 5) | (high >>> 27)) ^ unit, 0x85ebca6b);
    }
    this.#low = low;
    this.#high = high;
    this.length += text.length;
  }

  equals(other: TextPrint): boolean {
    return this.length === other.length && this.#low === other.#low && this.#high === other.#high;
  }

  copy(): TextPrint {
    const copy = new TextPrint();
    copy.length = this.length;
    copy.#low = this.#low;
    copy.#high = this.#high;
    return copy;
  }
}
