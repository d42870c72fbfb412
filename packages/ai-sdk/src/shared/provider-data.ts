/**
 * Name prefix of canonical data that only its provider understands. ai 7 has a separate `custom` part for it, with a kind of
 * the form `<provider>.<name>`.
 */
const prefix = 'provider:';

/** Returns the data name for a provider's kind. */
export function toProviderDataName(kind: string): string {
  return prefix + kind;
}

/** Returns the provider's kind in a data name. Undefined for ordinary data. */
export function parseProviderKind(name: string | undefined): `${string}.${string}` | undefined {
  if (!name?.startsWith(prefix)) return undefined;
  const kind = name.slice(prefix.length);
  return isKind(kind) ? kind : undefined;
}

function isKind(kind: string): kind is `${string}.${string}` {
  return kind.includes('.');
}
