import type { FinishReason } from '@intertie/core';

const reasons: ReadonlySet<unknown> = new Set<FinishReason>([
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'interrupted',
  'other',
]);

/** The AI SDK's finish reasons are ours; one that a later version adds is `other`. */
export function mapFinishReason(value: unknown): FinishReason {
  return reasons.has(value) ? (value as FinishReason) : 'other';
}
