/** How many words are put together at once. */
const atOnce = 256;

/**
 * A text that grows by a word at a time, and of which there may be many: put together now and then, since a list of all of them
 * is kept alive, and so is each of the texts that adding them one by one makes.
 */
export interface GrowingText {
  readonly add: (word: string) => void;
  toString(): string;
}

export function growingText(): GrowingText {
  let text = '';
  /** One list for all: most of what a list costs is that it grows. */
  const words: string[] = [];
  let count = 0;
  const join = (): void => {
    text += words.join('');
    count = 0;
  };
  return {
    add(word) {
      words[count] = word;
      count += 1;
      if (count === atOnce) join();
    },
    toString() {
      words.length = count;
      join();
      // Mostly that was all of it, and then nothing is held that is in the text.
      words.length = 0;
      return text;
    },
  };
}
