/** How many colours `theme.css` has for agents: `--agent-0` and so on. */
const colors = 8;

/** The colour of an agent: the same name has the same one, in every pane, thread and session. */
export function agentColor(name: string): string {
  return `var(--agent-${colorIndex(name)})`;
}

/** FNV-1a over the code units: short names that differ in one letter land far apart. */
export function colorIndex(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  // The low bits of a product mix least; take them from the middle.
  return ((hash ^ (hash >>> 15)) >>> 0) % colors;
}
