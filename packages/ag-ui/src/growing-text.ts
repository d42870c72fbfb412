/** How many words are put together at once. */
const atOnce = 256;

/**
 * A text that grows by a word at a time, and of which there may be many: put together now and then, since a list of all of them
 * is kept alive, and so is each of the texts that adding them one by one makes.
 */
export class GrowingText {
  #text = '';
  /** One list for all: most of what a list costs is that it grows. */
  #words: string[] = [];
  #count = 0;

  add(word: string): void {
    this.#words[this.#count] = word;
    this.#count += 1;
    if (this.#count === atOnce) this.#join();
  }

  toString(): string {
    this.#words.length = this.#count;
    this.#join();
    return this.#text;
  }

  #join(): void {
    this.#text += this.#words.join('');
    this.#count = 0;
  }
}
