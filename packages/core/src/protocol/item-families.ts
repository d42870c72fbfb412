/** Families of items in all protocols, for filters and colors. */
export const itemFamilies = ['run', 'agent', 'text', 'reasoning', 'tool', 'people', 'data', 'notice'] as const;
export type ItemFamily = (typeof itemFamilies)[number];

/** Kinds of a protocol's items, as `getKind` returns them. A `*` stands for any text; the longest match counts. */
export type ProtocolItems = {
  families: { readonly [family in ItemFamily]?: readonly string[] };
  /** Items that only extend an earlier one. */
  deltas?: readonly string[];
};

/** Classifies items of all given protocols by their kind. */
export interface ItemClassifier {
  /** Undefined for an unknown kind. */
  findFamily: (kind: string) => ItemFamily | undefined;
  isDelta: (kind: string) => boolean;
}

type Pattern = { length: number; matches: (kind: string) => boolean };

function toPattern(name: string): Pattern {
  const star = name.indexOf('*');
  if (star < 0) return { length: Infinity, matches: (kind) => kind === name };
  const [before, after] = [name.slice(0, star), name.slice(star + 1)];
  const length = before.length + after.length;
  return { length, matches: (kind) => kind.length >= length && kind.startsWith(before) && kind.endsWith(after) };
}

/** Creates a classifier. It remembers the kinds that it has seen, so a repeated kind costs one lookup. */
export function createItemClassifier(protocols: ReadonlyArray<ProtocolItems | undefined>): ItemClassifier {
  const items = protocols.filter((each) => each !== undefined);
  const families = items
    .flatMap((each) => Object.entries(each.families) as Array<[ItemFamily, readonly string[]]>)
    .flatMap(([family, names]) => names.map((name) => ({ family, ...toPattern(name) })))
    .toSorted((a, b) => (a.length === b.length ? 0 : b.length - a.length));
  const deltas = items.flatMap((each) => each.deltas ?? []).map(toPattern);
  const found = new Map<string, { family: ItemFamily | undefined; isDelta: boolean }>();
  const classify = (kind: string): { family: ItemFamily | undefined; isDelta: boolean } => {
    const known = found.get(kind);
    if (known) return known;
    const family = families.find(({ matches }) => matches(kind))?.family;
    const classified = { family, isDelta: deltas.some(({ matches }) => matches(kind)) };
    // Kinds come from a server, so the memory is bounded.
    if (found.size < 1000) found.set(kind, classified);
    return classified;
  };
  return { findFamily: (kind) => classify(kind).family, isDelta: (kind) => classify(kind).isDelta };
}
