/** Narrowest column in which types and the beginning of a text can be read. */
const minWidth = 120;

/** Shares of the columns in the width of the table, in order. */
export type ColumnShares = readonly number[];

/** Reads stored shares; equal ones if the number of columns differs. */
export function parseShares(text: string, count: number): ColumnShares {
  const shares = text.split(' ').map(Number);
  const isValid = shares.length === count && shares.every((share) => share > 0);
  return isValid ? shares : Array.from({ length: count }, () => 1);
}

/** Value of `grid-template-columns`: the status, then the columns. */
export function toGridColumns(shares: ColumnShares): string {
  return `18px ${shares.map((share) => `minmax(${minWidth}px, ${share}fr)`).join(' ')}`;
}

/** Moves the separator before a column by some pixels. Both neighbours keep a readable width. */
export function moveSeparator(shares: ColumnShares, column: number, pixels: number, width: number): ColumnShares {
  const total = shares.reduce((sum, share) => sum + share, 0);
  const perPixel = total / width;
  const [left, right] = [shares[column - 1]!, shares[column]!];
  const by = Math.min(right - minWidth * perPixel, Math.max(minWidth * perPixel - left, pixels * perPixel));
  if (!Number.isFinite(by) || left + right < 2 * minWidth * perPixel) return shares;
  return shares.map((share, index) => (index === column - 1 ? left + by : index === column ? right - by : share));
}
