/** How many colours `theme.css` has for agents: `--agent-0` and so on. */
export const colorCount = 8;

/** Which of the colours a name has. */
export type ColorIndex = (name: string) => number;

/** The colour of a name by itself: FNV-1a over the code units, so that names that differ in one letter land far apart. */
export const colorIndex: ColorIndex = (name) => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  // The low bits of a product mix least; take them from the middle.
  return ((hash ^ (hash >>> 15)) >>> 0) % colorCount;
};

/**
 * The colours of those who are seen together. Each has the one that it has elsewhere, or the next one that is free: two are alike
 * only when all colours are taken. It depends on who they are and not on who came first, so a reload changes nothing. Those who are
 * also seen elsewhere (`known`) choose first, so as to keep theirs.
 */
export function assignColors(
  names: Iterable<string>,
  elsewhere: ColorIndex = colorIndex,
  known: readonly string[] = [],
): ColorIndex {
  const colors = new Map<string, number>();
  const users = Array.from({ length: colorCount }, () => 0);
  for (const name of new Set([...known.toSorted(), ...[...names].toSorted()])) {
    const fewest = Math.min(...users);
    let color = elsewhere(name);
    while (users[color] !== fewest) color = (color + 1) % colorCount;
    users[color] = fewest + 1;
    colors.set(name, color);
  }
  return (name) => colors.get(name) ?? elsewhere(name);
}
