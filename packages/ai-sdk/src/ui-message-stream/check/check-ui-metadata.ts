import { asFields } from '../../shared/read-fields.ts';
import type { UIMessageRule } from './ui-message-rules.ts';

/** Reports a violated rule, with the path in the chunk. */
export type ReportViolation = (rule: UIMessageRule, message: string, path?: string) => void;

/** Returns the metadata after a chunk: the client replaces it as a whole. Reports keys that are lost. */
export function replaceMetadata(
  before: unknown,
  chunk: { type: string; providerMetadata?: unknown },
  id: string,
  violation: ReportViolation,
): unknown {
  const { type, providerMetadata: meta } = chunk;
  if (meta === undefined) return before;
  for (const [provider, fields] of Object.entries(asFields(before))) {
    const now = asFields(asFields(meta)[provider]);
    const lost = Object.keys(asFields(fields)).find((key) => !Object.hasOwn(now, key));
    if (lost === undefined) continue;
    violation('S10-replace', `${type} drops ${provider}.${lost}, which "${id}" had.`, `providerMetadata.${provider}`);
    break;
  }
  return meta;
}
