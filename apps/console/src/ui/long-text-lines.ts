/** Size, in characters, above which a text is shown by `LongText`. */
export const longTextLength = 20_000;

/** Longer lines are split, since the browser lays out a line as a whole. */
const maxLineLength = 1000;

export function toLines(text: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    if (line.length <= maxLineLength) return [line];
    const pieces = [];
    for (let at = 0; at < line.length; at += maxLineLength) pieces.push(line.slice(at, at + maxLineLength));
    return pieces;
  });
}

/** Returns the indexes of the lines that contain the text, case-insensitive. */
export function findMatches(lines: readonly string[], query: string): number[] {
  const searched = query.toLowerCase();
  if (searched === '') return [];
  return lines.flatMap((line, index) => (line.toLowerCase().includes(searched) ? [index] : []));
}
