export type Box = { x: number; y: number; width: number; height: number };
export type EdgeLine = { path: string; labelX: number; labelY: number };

/** How far two edges that go both ways stand apart. */
const apart = 9;

/** A straight line from the border of one box to that of another; one that also goes back keeps to its right. */
export function edgeLine(from: Box, to: Box, isMutual: boolean): EdgeLine {
  const a = centre(from);
  const b = centre(to);
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const shift = isMutual ? apart : 0;
  const dx = (-(b.y - a.y) / length) * shift;
  const dy = ((b.x - a.x) / length) * shift;
  const start = border(from, { x: a.x + dx, y: a.y + dy }, { x: b.x + dx, y: b.y + dy }, 2);
  const end = border(to, { x: b.x + dx, y: b.y + dy }, { x: a.x + dx, y: a.y + dy }, 6);
  return {
    path: `M${round(start.x)},${round(start.y)}L${round(end.x)},${round(end.y)}`,
    labelX: round((start.x + end.x) / 2),
    labelY: round((start.y + end.y) / 2),
  };
}

type Point = { x: number; y: number };

const centre = ({ x, y, width, height }: Box): Point => ({ x: x + width / 2, y: y + height / 2 });

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
