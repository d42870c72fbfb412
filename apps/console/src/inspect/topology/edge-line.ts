export type Box = { x: number; y: number; width: number; height: number };
export type EdgeLine = { path: string; labelX: number; labelY: number };

/** How far two edges that go both ways stand apart. */
const apart = 9;
/** How far a bent one keeps away from what it goes around. */
const around = 14;

/**
 * A line from the border of one box to that of another, bent where a third is in its way; one that also goes back keeps to
 * its right.
 */
export function edgeLine(from: Box, to: Box, isMutual: boolean, others: readonly Box[] = []): EdgeLine {
  const a = centre(from);
  const b = centre(to);
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const right = { x: -(b.y - a.y) / length, y: (b.x - a.x) / length };
  const shift = isMutual ? apart : 0;
  const [begin, finish] = [aside(a, right, shift), aside(b, right, shift)];
  const inTheWay = others.filter((box) => box !== from && box !== to && crosses(box, begin, finish));
  const bend = inTheWay.length === 0 ? 0 : Math.max(...inTheWay.map((box) => reachOf(box, right))) + around;
  const middle = aside({ x: (begin.x + finish.x) / 2, y: (begin.y + finish.y) / 2 }, right, bend);
  // A curve's middle is half as far out as the point that pulls it.
  const pull = aside(middle, right, bend);
  const start = border(from, begin, bend === 0 ? finish : pull, 2);
  const end = border(to, finish, bend === 0 ? begin : pull, 6);
  const curve = bend === 0 ? 'L' : `Q${round(pull.x)},${round(pull.y)} `;
  return {
    path: `M${round(start.x)},${round(start.y)}${curve}${round(end.x)},${round(end.y)}`,
    labelX: round(bend === 0 ? (start.x + end.x) / 2 : middle.x),
    labelY: round(bend === 0 ? (start.y + end.y) / 2 : middle.y),
  };
}

type Point = { x: number; y: number };

const centre = ({ x, y, width, height }: Box): Point => ({ x: x + width / 2, y: y + height / 2 });

const aside = ({ x, y }: Point, direction: Point, by: number): Point => ({
  x: x + direction.x * by,
  y: y + direction.y * by,
});

/** How far a box reaches to that side of its centre. */
const reachOf = ({ width, height }: Box, direction: Point): number =>
  (Math.abs(direction.x) * width + Math.abs(direction.y) * height) / 2;

/** Whether a line goes through a box, by clipping it at the four sides. */
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

/** Where the line from a point in a box leaves it, and a little further. */
function border(box: Box, inside: Point, outside: Point, gap: number): Point {
  const dx = outside.x - inside.x;
  const dy = outside.y - inside.y;
  const toX = dx === 0 ? Infinity : ((dx > 0 ? box.x + box.width : box.x) - inside.x) / dx;
  const toY = dy === 0 ? Infinity : ((dy > 0 ? box.y + box.height : box.y) - inside.y) / dy;
  const share = Math.min(toX, toY, 1) + gap / (Math.hypot(dx, dy) || 1);
  return { x: inside.x + dx * share, y: inside.y + dy * share };
}

const round = (value: number): number => Math.round(value * 10) / 10;
