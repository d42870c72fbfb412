// @ts-check
const [consonants, vowels] = ['bcdfglmnprstv', 'aeiou'];

/**
 * Text that is about as hard to compress as what people and models write: words of a vocabulary, the first of them far more often
 * than the last, in sentences, with quotes and lines. The same each time.
 * @param {number} length
 */
export function proseOf(length) {
  const random = seededRandom(1);
  /** @param {string} letters */
  const one = (letters) => letters[Math.floor(random() * letters.length)];
  const syllable = () => `${one(consonants)}${one(vowels)}${random() < 0.4 ? one(consonants) : ''}`;
  const vocabulary = Array.from({ length: 900 }, (_, rank) =>
    Array.from({ length: rank < 50 ? 1 : 2 + Math.floor(random() * 2) }, syllable).join(''),
  );
  // Evenly by the logarithm of its rank, which is about how often a language uses a word.
  const word = () => vocabulary[Math.floor(vocabulary.length ** random()) - 1];
  let text = '';
  while (text.length < length) {
    const words = Array.from({ length: 5 + Math.floor(random() * 15) }, word);
    text += `${words.join(' ')} "${word()}".${random() < 0.2 ? '\n' : ' '}`;
  }
  return text.slice(0, length);
}

/** Numbers from 0 to 1, the same each time (mulberry32). @param {number} seed */
function seededRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
