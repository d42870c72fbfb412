import type { JsonObject } from '@intertie/core';

/** The key under `metadata` where we keep what AG-UI has no field for, and the prefix of our own `CUSTOM` names. */
export const slotKey = 'intertie';

/** What travels as `CUSTOM` because AG-UI has no event for it. The decoder makes the canonical event of it again. */
export const customNames = {
  answer: 'intertie.answer',
  file: 'intertie.file',
  metadata: 'intertie.metadata',
  notice: 'intertie.notice',
  question: 'intertie.question',
  source: 'intertie.source',
} as const;

/** Field of the slot with the ends of steps that no `STEP_FINISHED` carries; see `AGUIAgents.takeEndedSteps`. */
export const endedStepsKey = 'endedSteps';

/** An event's metadata with the slot in it, or nothing at all where the slot is empty. */
export function slot(fields: JsonObject | undefined): { metadata?: JsonObject } {
  if (fields === undefined) return {};
  for (const _ in fields) return { metadata: { [slotKey]: fields } };
  return {};
}
