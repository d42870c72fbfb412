import type { AgentEvent, OnLoss } from '@intertie/core';
import { capJson } from '@intertie/core/internal';
import { asFields, asText } from '../shared/read-fields.ts';

/** What was not understood is kept as it came, and said so. */
export function lostEvents(value: unknown, why: string, onLoss: OnLoss): AgentEvent[] {
  const message = `${asText(asFields(value).type) ?? 'Something'} of the agent’s stream was passed over. ${why}`;
  return [
    { type: 'raw', dialect: 'ag-ui', value: capJson(value, undefined, onLoss) },
    { type: 'notice', level: 'warning', message, code: 'malformed' },
  ];
}
