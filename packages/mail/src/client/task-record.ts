import { asFields, asArray, parseJson, asText, type Fields } from '../shared/fields.ts';
import type { MAILFrame } from '../shared/mail-event.ts';
import type { MAILServer } from './mail-server.ts';
import { readMessage } from '../shared/read-message.ts';

/** The server's record of a task: the events of all its requests. */
export type TaskRecord = { events: MAILFrame[]; isRunning: boolean; isCompleted: boolean };

/** Reads the record of a task. Returns undefined if the server does not have the task. */
export async function readTaskRecord(
  server: MAILServer,
  taskId: string,
  signal: AbortSignal,
): Promise<TaskRecord | undefined> {
  // `GET /task` requires a body, which `fetch` cannot send.
  const found =
    server.token === undefined
      ? await server.get(`/ui/task/${encodeURIComponent(taskId)}`, signal)
      : asFields(await server.get('/tasks', signal))[taskId];
  const record = asFields(found);
  if (!Array.isArray(record.events)) return undefined;
  return {
    events: asArray(record.events).map((item) => {
      const { event, data } = asFields(item);
      return { event: asText(event) ?? '', data };
    }),
    isRunning: record.is_running === true,
    isCompleted: record.completed === true,
  };
}

/** Returns the identity of a logged event. It is unique because timestamps have microseconds. */
export function toFrameKey({ event, data }: MAILFrame): string | undefined {
  const { timestamp, description } = parseData(data);
  return typeof description === 'string' ? `${event}|${asText(timestamp) ?? ''}|${description}` : undefined;
}

/** Returns the answer if the event is the final message of an agent. */
export function getAnswer({ event, data }: MAILFrame): string | undefined {
  if (event !== 'new_message') return undefined;
  const message = readMessage(asFields(parseData(data).extra_data).full_message);
  return message?.type === 'broadcast_complete' ? message.body : undefined;
}

/** Returns the index where the last request begins: at the user's message, or at the answered breakpoint. */
export function findLastRequest(events: readonly MAILFrame[]): number {
  return Math.max(
    0,
    events.findLastIndex(({ event, data }) => {
      if (event === 'breakpoint_action_complete') return true;
      if (event !== 'new_message') return false;
      const sender = readMessage(asFields(parseData(data).extra_data).full_message)?.senderType;
      return sender === 'user' || sender === 'admin';
    }),
  );
}

function parseData(data: unknown): Fields {
  return asFields(typeof data === 'string' ? parseJson(data) : data);
}
