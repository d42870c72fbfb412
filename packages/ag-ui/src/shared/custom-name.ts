import type { EventOf, Meta } from '@intertie/core';
import { slotKey } from './intertie-metadata.ts';

/** Whose a name is, and the name: `com.example.progress`, `acme:progress`, `acme/progress`. Others are the protocol's. */
export const prefixedName: RegExp = /^[^.:/]+[.:/]./;

/** Before the names that data has elsewhere, where nobody asks for a prefix. */
const dataPrefix = `${slotKey}.data.`;

/** What an AG-UI agent, or a writer for AG-UI, calls its own is called so, whatever it is. */
const verbatimKey = 'ag-ui';

/** What transient data is called on the wire. */
export function toCustomName({ name, providerMetadata }: EventOf<'data'>): string {
  const isOwn = prefixedName.test(name)
    ? !name.startsWith(dataPrefix)
    : providerMetadata?.[verbatimKey]?.custom === true;
  return isOwn ? name : dataPrefix + name;
}

/** What the data is called that came under a name. */
export function fromCustomName(name: string): string {
  return name.startsWith(dataPrefix) ? name.slice(dataPrefix.length) : name;
}

/** The metadata of data that goes out under this very name, also where it has no prefix. */
export function verbatimMeta(name: string, meta?: Meta): { providerMetadata?: Meta } {
  if (prefixedName.test(name)) return meta ? { providerMetadata: meta } : {};
  return { providerMetadata: { ...meta, [verbatimKey]: { ...meta?.[verbatimKey], custom: true } } };
}
