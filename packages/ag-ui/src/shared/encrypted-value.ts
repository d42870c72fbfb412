import type { Json, JsonObject, Meta } from '@intertie/core';
import { mergeMeta } from '@intertie/core/internal';
import { isJsonObject } from './read-fields.ts';

/** What a provider signs or encrypts, and takes only unchanged: Anthropic, OpenAI, Google. */
const sealedKeys = ['signature', 'redactedData', 'reasoningEncryptedContent', 'thoughtSignature'] as const;

/** Where a foreign agent's encrypted value is kept: it is its own, whatever is in it. */
const foreignKey = 'ag-ui';

/**
 * What of a part's metadata travels as its encrypted value. All that the provider said goes along, since a signature
 * without the item that it belongs to is of no use; the value names the provider, and so finds its way back.
 */
export function encryptedValueOf(meta: Meta | undefined): string | undefined {
  if (meta === undefined) return undefined;
  const sealed: Meta = {};
  for (const provider of Object.keys(meta))
    if (isSealed(meta[provider] as JsonObject)) sealed[provider] = meta[provider]!;
  const own = sealed[foreignKey]?.encryptedValue;
  if (typeof own === 'string' && Object.keys(sealed).length === 1) return own;
  return Object.keys(sealed).length > 0 ? JSON.stringify(sealed) : undefined;
}

/** The metadata without what travels as the encrypted value. */
export function openMetaOf(meta: Meta | undefined): Meta | undefined {
  if (meta === undefined) return undefined;
  const open = Object.entries(meta).filter(([, said]) => !isSealed(said));
  if (open.length === Object.keys(meta).length) return meta;
  return open.length > 0 ? Object.fromEntries(open) : undefined;
}

/** The metadata that an encrypted value stands for. */
export function metaOfEncryptedValue(value: string): Meta {
  let parsed: Json | undefined;
  if (value.startsWith('{')) {
    try {
      parsed = JSON.parse(value) as Json;
    } catch {
      // Somebody else's, who happens to begin with a brace.
    }
  }
  const isOurs = isJsonObject(parsed) && Object.values(parsed).every((said) => isJsonObject(said) && isSealed(said));
  return isOurs ? (parsed as Meta) : { [foreignKey]: { encryptedValue: value } };
}

export function withEncryptedValue(meta: Meta | undefined, value: unknown): Meta | undefined {
  return typeof value === 'string' && value !== '' ? mergeMeta(meta, metaOfEncryptedValue(value)) : meta;
}

function isSealed(said: JsonObject): boolean {
  return typeof said.encryptedValue === 'string' || sealedKeys.some((key) => typeof said[key] === 'string');
}
