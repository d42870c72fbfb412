import type { JsonObject } from '@intertie/core';

/** Key under `metadata` for fields that AG-UI lacks, and prefix of our `CUSTOM` names. */
export const metadataKey = 'intertie';

/** Names of `CUSTOM` events for canonical events that AG-UI lacks. The decoder restores them. */
export const customNames = {
  answer: 'intertie.answer',
  file: 'intertie.file',
  metadata: 'intertie.metadata',
  notice: 'intertie.notice',
  question: 'intertie.question',
  source: 'intertie.source',
} as const;

/** Metadata field for ends of steps that no `STEP_FINISHED` carries; see `AgentEncoder.takeEndedSteps`. */
export const endedStepsKey = 'endedSteps';

/** Returns the `metadata` of an event with our fields, or nothing if there are none. */
export function toMetadata(fields: JsonObject | undefined): { metadata?: JsonObject } {
  if (fields === undefined) return {};
  for (const _ in fields) return { metadata: { [metadataKey]: fields } };
  return {};
}
