import { asFields } from '../../shared/read-fields.ts';
import type { UIMessageRule } from './ui-message-rules.ts';

/** Says that a rule is broken, how, and where in the chunk. */
export type ReportViolation = (rule: UIMessageRule, message: string, path?: string) => void;

/** What the client has after a chunk with this metadata: the new one, whole. */
export function replaceMetadata(
  before: unknown,
  chunk: { type: string; providerMetadata?: unknown },
  id: string,
  violate: ReportViolation,
): unknown {
  const { type, providerMetadata: meta } = chunk;
  if (meta === undefined) return before;
  for (const [provider, fields] of Object.entries(asFields(before))) {
    const now = asFields(asFields(meta)[provider]);
    const lost = Object.keys(asFields(fields)).find((key) => !Object.hasOwn(now, key));
    if (lost === undefined) continue;
    violate('S10-replace', `${type} drops ${provider}.${lost}, which "${id}" had.`, `providerMetadata.${provider}`);
    break;
  }
  return meta;
}
