/** Piece of an excerpt. */
export type ExcerptPiece = { text: string; isMatch?: true };

const lengthBefore = 40;
const maxLength = 160;

/** Cuts a text around its first match, and marks the beginnings of words that equal a term. */
export function createExcerpt(text: string, terms: readonly string[]): ExcerptPiece[] {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  // Terms consist of letters, digits and marks.
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}\\p{M}])(?:${terms.join('|')})`, 'giu');
  const first = line.search(pattern);
  const start = findStart(line, first === -1 ? 0 : first);
  const cut = line.slice(start, start + maxLength);
  const pieces: ExcerptPiece[] = start > 0 ? [{ text: '…' }] : [];
  let end = 0;
  for (const match of cut.matchAll(pattern)) {
    if (match.index > end) pieces.push({ text: cut.slice(end, match.index) });
    pieces.push({ text: match[0], isMatch: true });
    end = match.index + match[0].length;
  }
  if (end < cut.length) pieces.push({ text: cut.slice(end) });
  if (start + maxLength < line.length) pieces.push({ text: '…' });
  return pieces;
}

/** Returns the beginning of a word before the match. */
function findStart(line: string, match: number): number {
  if (match <= lengthBefore) return 0;
  const space = line.indexOf(' ', match - lengthBefore);
  return space === -1 || space >= match ? match : space + 1;
}
