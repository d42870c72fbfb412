// @ts-check
const [consonants, vowels] = ['bcdfglmnprstv', 'aeiou'];

/**
 * Generates text that compresses about as well as real text: words of a vocabulary with a realistic distribution, in sentences, with
 * quotes and lines. Deterministic.
 * @param {number} length
 */
export function createProse(length) {
  const random = seededRandom(1);
  /** @param {string} letters */
  const one = (letters) => letters[Math.floor(random() * letters.length)];
  const syllable = () => `${one(consonants)}${one(vowels)}${random() < 0.4 ? one(consonants) : ''}`;
  const vocabulary = Array.from({ length: 900 }, (_, rank) =>
    Array.from({ length: rank < 50 ? 1 : 2 + Math.floor(random() * 2) }, syllable).join(''),
  );
  // Uniform in the logarithm of the rank, which approximates the word frequencies of a language.
  const word = () => vocabulary[Math.floor(vocabulary.length ** random()) - 1];
  let text = '';
  while (text.length < length) {
    const words = Array.from({ length: 5 + Math.floor(random() * 15) }, word);
    text += `${words.join(' ')} "${word()}".${random() < 0.2 ? '\n' : ' '}`;
  }
  return text.slice(0, length);
}

/** Deterministic random numbers from 0 to 1 (mulberry32). @param {number} seed */
function seededRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
