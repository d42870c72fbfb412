import type { Json, JsonObject, Meta } from '@intertie/core';
import { mergeMeta } from '@intertie/core/internal';
import { isJsonObject } from './read-fields.ts';

/** Fields that Anthropic, OpenAI or Google sign or encrypt and accept only unchanged. */
const encryptedKeys = ['signature', 'redactedData', 'reasoningEncryptedContent', 'thoughtSignature'] as const;

/** Provider key for encrypted values of other AG-UI agents, which are opaque. */
const foreignKey = 'ag-ui';

/**
 * Returns the provider metadata that travels as the encrypted value of a part. Contains all fields of each provider with an
 * encrypted one, because a signature is useless without its item, under the provider's name, so that it can be restored.
 */
export function toEncryptedValue(meta: Meta | undefined): string | undefined {
  if (meta === undefined) return undefined;
  const encrypted: Meta = {};
  for (const provider of Object.keys(meta))
    if (isEncrypted(meta[provider] as JsonObject)) encrypted[provider] = meta[provider]!;
  const own = encrypted[foreignKey]?.encryptedValue;
  if (typeof own === 'string' && Object.keys(encrypted).length === 1) return own;
  return Object.keys(encrypted).length > 0 ? JSON.stringify(encrypted) : undefined;
}

/** Returns the metadata without the providers that `toEncryptedValue` covers. */
export function omitEncrypted(meta: Meta | undefined): Meta | undefined {
  if (meta === undefined) return undefined;
  const open = Object.entries(meta).filter(([, value]) => !isEncrypted(value));
  if (open.length === Object.keys(meta).length) return meta;
  return open.length > 0 ? Object.fromEntries(open) : undefined;
}

/** Restores metadata from an encrypted value. */
export function fromEncryptedValue(value: string): Meta {
  let parsed: Json | undefined;
  if (value.startsWith('{')) {
    try {
      parsed = JSON.parse(value) as Json;
    } catch {
      // An opaque value of another agent that starts with a brace.
    }
  }
  const isOurs = isJsonObject(parsed) && Object.values(parsed).every((meta) => isJsonObject(meta) && isEncrypted(meta));
  return isOurs ? (parsed as Meta) : { [foreignKey]: { encryptedValue: value } };
}

/** Merges an encrypted value from the wire into metadata. */
export function withEncryptedValue(meta: Meta | undefined, value: unknown): Meta | undefined {
  return typeof value === 'string' && value !== '' ? mergeMeta(meta, fromEncryptedValue(value)) : meta;
}

function isEncrypted(value: JsonObject): boolean {
  return typeof value.encryptedValue === 'string' || encryptedKeys.some((key) => typeof value[key] === 'string');
}
