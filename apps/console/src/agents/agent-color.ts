/** Number of agent colors in `theme.css` (`--agent-0` …). */
export const colorCount = 8;

/** Maps an agent name to one of the colors. */
export type ColorIndex = (name: string) => number;

/** Hashes a name to a color: FNV-1a over the code units, so that similar names get different colors. */
export const hashToColor: ColorIndex = (name) => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  // The low bits of a product mix least: use the middle ones.
  return ((hash ^ (hash >>> 15)) >>> 0) % colorCount;
};

/**
 * Assigns colors to agents that are shown together. Each gets its preferred color, or the next free one if that is taken. The
 * result does not depend on the order of the names, so a reload changes nothing. `known` names choose first, so that they keep
 * the color they have in other views.
 */
export function assignColors(
  names: Iterable<string>,
  preferred: ColorIndex = hashToColor,
  known: readonly string[] = [],
): ColorIndex {
  const colors = new Map<string, number>();
  const users = Array.from({ length: colorCount }, () => 0);
  for (const name of new Set([...known.toSorted(), ...[...names].toSorted()])) {
    const fewest = Math.min(...users);
    let color = preferred(name);
    while (users[color] !== fewest) color = (color + 1) % colorCount;
    users[color] = fewest + 1;
    colors.set(name, color);
  }
  return (name) => colors.get(name) ?? preferred(name);
}
