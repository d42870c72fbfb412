import { asFields, parseJson, asText } from '../shared/fields.ts';
import type { MAILFrame } from '../shared/mail-event.ts';

/** `response.body` of a generated result, in the shape of the server's response to a non-streaming message. */
export type MAILResponseBody = {
  /** Final response of the server. `null` if the run ended before it, for example at a breakpoint tool. */
  response: string | null;
  /** Every event of the stream except pings, with its data parsed. */
  events: Array<{ event: string; data: unknown }>;
};

export function toResponseBody(frames: readonly MAILFrame[]): MAILResponseBody {
  const events = frames.flatMap(({ event, data }) =>
    event === 'ping' ? [] : [{ event, data: typeof data === 'string' ? (parseJson(data) ?? data) : data }],
  );
  const last = events.findLast(({ event }) => event === 'task_complete');
  return { response: asText(asFields(last?.data).response) ?? null, events };
}
