export type Box = { x: number; y: number; width: number; height: number };
export type EdgeLine = { path: string; labelX: number; labelY: number };

/** Offset of each of two opposite edges from the center line. */
const mutualOffset = 9;
/** Distance between a bent edge and the boxes that it avoids. */
const clearance = 14;

/**
 * Computes the line from the border of one box to that of another, bent around boxes in between. A mutual edge is shifted to the
 * right of its direction.
 */
export function computeEdgeLine(from: Box, to: Box, isMutual: boolean, others: readonly Box[] = []): EdgeLine {
  const a = centre(from);
  const b = centre(to);
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const right = { x: -(b.y - a.y) / length, y: (b.x - a.x) / length };
  const shift = isMutual ? mutualOffset : 0;
  const [begin, finish] = [offset(a, right, shift), offset(b, right, shift)];
  const obstacles = others.filter((box) => box !== from && box !== to && crosses(box, begin, finish));
  const bend = obstacles.length === 0 ? 0 : Math.max(...obstacles.map((box) => halfSpan(box, right))) + clearance;
  const middle = offset({ x: (begin.x + finish.x) / 2, y: (begin.y + finish.y) / 2 }, right, bend);
  // The control point of a quadratic curve is twice as far out as the curve's middle.
  const control = offset(middle, right, bend);
  const start = findBorderPoint(from, begin, bend === 0 ? finish : control, 2);
  const end = findBorderPoint(to, finish, bend === 0 ? begin : control, 6);
  const curve = bend === 0 ? 'L' : `Q${round(control.x)},${round(control.y)} `;
  return {
    path: `M${round(start.x)},${round(start.y)}${curve}${round(end.x)},${round(end.y)}`,
    labelX: round(bend === 0 ? (start.x + end.x) / 2 : middle.x),
    labelY: round(bend === 0 ? (start.y + end.y) / 2 : middle.y),
  };
}

type Point = { x: number; y: number };

const centre = ({ x, y, width, height }: Box): Point => ({ x: x + width / 2, y: y + height / 2 });

const offset = ({ x, y }: Point, direction: Point, by: number): Point => ({
  x: x + direction.x * by,
  y: y + direction.y * by,
});

/** Half of the extent of a box in a direction. */
const halfSpan = ({ width, height }: Box, direction: Point): number =>
  (Math.abs(direction.x) * width + Math.abs(direction.y) * height) / 2;

/** Whether a line crosses a box, by clipping it at the four sides (Liang–Barsky). */
function crosses(box: Box, a: Point, b: Point): boolean {
  let [first, last] = [0, 1];
  for (const [start, size, from, by] of [
    [box.x, box.width, a.x, b.x - a.x],
    [box.y, box.height, a.y, b.y - a.y],
  ] as const) {
    if (by === 0) {
      if (from < start || from > start + size) return false;
      continue;
    }
    const one = (start - from) / by;
    const other = (start + size - from) / by;
    first = Math.max(first, Math.min(one, other));
    last = Math.min(last, Math.max(one, other));
  }
  return first < last;
}

/** Returns the point where the line from a point inside a box leaves it, moved outward by `gap`. */
function findBorderPoint(box: Box, inside: Point, outside: Point, gap: number): Point {
  const dx = outside.x - inside.x;
  const dy = outside.y - inside.y;
  const toX = dx === 0 ? Infinity : ((dx > 0 ? box.x + box.width : box.x) - inside.x) / dx;
  const toY = dy === 0 ? Infinity : ((dy > 0 ? box.y + box.height : box.y) - inside.y) / dy;
  const share = Math.min(toX, toY, 1) + gap / (Math.hypot(dx, dy) || 1);
  return { x: inside.x + dx * share, y: inside.y + dy * share };
}

const round = (value: number): number => Math.round(value * 10) / 10;
