/** Compares the values of two objects by identity. `Chat` copies every part for every chunk, but keeps the values. */
export function shallowEqual(one: object | undefined, other: object | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  const entries = Object.entries(one);
  return (
    entries.length === Object.keys(other).length &&
    entries.every(([key, value]) => Object.is(value, (other as Record<string, unknown>)[key]))
  );
}
