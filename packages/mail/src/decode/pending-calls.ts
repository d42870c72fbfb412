import { fieldsOf, listOf, nameOf, parseJson, textOf } from '../shared/fields.ts';
import type { AnnouncedCall } from './mail-calls.ts';

/** Parses the calls that the response of a paused task lists. Returns undefined if the response is an answer. */
export function parsePendingCalls(response: string, agent: string): AnnouncedCall[] | undefined {
  if (!response.startsWith('[')) return undefined;
  const list = listOf(parseJson(response)).map(fieldsOf);
  if (list.length === 0 || !list.every((call) => call.type === 'function_call' && nameOf(call.name))) return undefined;
  return list.map((call) => ({
    agent,
    toolName: nameOf(call.name) ?? '',
    input: parseJson(textOf(call.arguments) ?? ''),
    wireId: textOf(call.call_id) ?? '',
  }));
}
