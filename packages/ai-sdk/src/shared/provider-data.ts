/**
 * Content that only its provider understands is data in the canon, named after its kind, and a part of its own in 7. A kind is
 * `<provider>.<what>`.
 */
const prefix = 'provider:';

/** The name of such data. */
export function toProviderDataName(kind: string): string {
  return prefix + kind;
}

/** The kind of such data. Undefined: it is data like any other. */
export function parseProviderKind(name: string | undefined): `${string}.${string}` | undefined {
  if (!name?.startsWith(prefix)) return undefined;
  const kind = name.slice(prefix.length);
  return isKind(kind) ? kind : undefined;
}

function isKind(kind: string): kind is `${string}.${string}` {
  return kind.includes('.');
}
