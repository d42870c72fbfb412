import type { EventOf, Meta } from '@intertie/core';
import { metadataKey } from './intertie-metadata.ts';

/** Name with a prefix: `com.example.progress`, `acme:progress`, `acme/progress`. Other names are reserved by the protocol. */
export const prefixedName: RegExp = /^[^.:/]+[.:/]./;

/** Prefix for names of transient data that have none. */
const dataPrefix = `${metadataKey}.data.`;

/** Provider key that marks names from an AG-UI agent or writer, which are sent unchanged. */
const verbatimKey = 'ag-ui';

/** Returns the CUSTOM name of transient data. */
export function toCustomName({ name, providerMetadata }: EventOf<'data'>): string {
  const isOwn = prefixedName.test(name)
    ? !name.startsWith(dataPrefix)
    : providerMetadata?.[verbatimKey]?.custom === true;
  return isOwn ? name : dataPrefix + name;
}

/** Returns the name of transient data from a CUSTOM name. */
export function fromCustomName(name: string): string {
  return name.startsWith(dataPrefix) ? name.slice(dataPrefix.length) : name;
}

/** Returns metadata that makes a name without a prefix be sent unchanged. */
export function verbatimMeta(name: string, meta?: Meta): { providerMetadata?: Meta } {
  if (prefixedName.test(name)) return meta ? { providerMetadata: meta } : {};
  return { providerMetadata: { ...meta, [verbatimKey]: { ...meta?.[verbatimKey], custom: true } } };
}
