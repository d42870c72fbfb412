/** Suggests the nearest candidate for a misspelled word, as a sentence to append. Empty if none is near enough. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : ` Did you mean “${near}”?`;
}

/** Finds the candidate that a misspelled word most likely means, if one is near enough. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let least = Math.max(2, Math.ceil(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const name = candidate.toLowerCase();
    const edits =
      wanted.length > 1 && (name.startsWith(wanted) || wanted.startsWith(name)) ? 1 : distance(wanted, name);
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

/** Edit distance with insertions, deletions, substitutions and transpositions. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2]! + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}
