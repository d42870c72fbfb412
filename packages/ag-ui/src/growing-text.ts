/** How many words are put together at once. */
const atOnce = 256;

/**
 * A text that grows by a word at a time, and of which there may be many: put together now and then, since a list of all of them
 * is kept alive, and so is each of the texts that adding them one by one makes.
 */
export class GrowingText {
  #text = '';
  #words: string[] = [];

  add(word: string): void {
    if (this.#words.push(word) === atOnce) this.#join();
  }

  toString(): string {
    this.#join();
    return this.#text;
  }

  #join(): void {
    this.#text += this.#words.join('');
    this.#words = [];
  }
}
