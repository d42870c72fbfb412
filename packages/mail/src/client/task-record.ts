import { APICallError } from '@ai-sdk/provider';
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
      ? server.get(`/ui/task/${encodeURIComponent(taskId)}`, signal).catch(ignoreNotFound)
      : server.get('/tasks', signal).then((tasks) => asFields(tasks)[taskId]);
  const record = asFields(await found);
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

function ignoreNotFound(error: unknown): undefined {
  if (!APICallError.isInstance(error) || error.statusCode !== 404) throw error;
}

/** Returns the identity of a logged event. It is unique because timestamps have microseconds. */
export function toFrameKey({ event, data }: MAILFrame): string | undefined {
  const { timestamp, description } = parseData(data);
  if (typeof description !== 'string') return undefined;
  return `${event}|${asText(timestamp) ?? ''}|${hashText(description)}`;
}

/** FNV-1a. Descriptions contain whole messages, and keys are stored in tokens. */
function hashText(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** Returns the answer if the event is the final message of an agent. */
export function getAnswer({ event, data }: MAILFrame): string | undefined {
  if (event !== 'new_message') return undefined;
  const message = readMessage(asFields(parseData(data).extra_data).full_message);
  return message?.type === 'broadcast_complete' ? message.body : undefined;
}

/** Returns the index where the last request begins: at the user's message, or at the answered breakpoint. */
export function findLastRequest(events: readonly MAILFrame[]): number {
  return Math.max(0, events.findLastIndex(isRequest));
}

/** Returns the index of the first request after an event. Returns undefined if the server did not receive one. */
export function findRequestAfter(events: readonly MAILFrame[], key: string): number | undefined {
  const last = events.findLastIndex((frame) => toFrameKey(frame) === key);
  if (last === -1) return findLastRequest(events);
  const index = events.findIndex((frame, position) => position > last && isRequest(frame));
  return index === -1 ? undefined : index;
}

/** Returns the key of the last logged event. */
export function findLastKey(events: readonly MAILFrame[]): string | undefined {
  return events.map(toFrameKey).findLast((key) => key !== undefined);
}

function isRequest({ event, data }: MAILFrame): boolean {
  if (event === 'breakpoint_action_complete') return true;
  if (event !== 'new_message') return false;
  const sender = readMessage(asFields(parseData(data).extra_data).full_message)?.senderType;
  return sender === 'user' || sender === 'admin';
}

function parseData(data: unknown): Fields {
  return asFields(typeof data === 'string' ? parseJson(data) : data);
}
