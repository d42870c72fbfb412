import { asFields, asArray, asNonEmptyText, parseJson, asText } from '../shared/fields.ts';
import type { AnnouncedCall } from './mail-calls.ts';

/** Parses the calls that the response of a paused task lists. Returns undefined if the response is an answer. */
export function parsePendingCalls(response: string, agent: string): AnnouncedCall[] | undefined {
  if (!response.startsWith('[')) return undefined;
  const list = asArray(parseJson(response)).map(asFields);
  if (list.length === 0 || !list.every((call) => call.type === 'function_call' && asNonEmptyText(call.name)))
    return undefined;
  return list.map((call) => ({
    agent,
    toolName: asNonEmptyText(call.name) ?? '',
    input: parseJson(asText(call.arguments) ?? ''),
    wireId: asText(call.call_id) ?? '',
  }));
}
