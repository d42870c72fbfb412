import { asFields, asArray, asNonEmptyText, parseJson } from './fields.ts';

/** A paused task and its pending calls, encoded as one string: `resumeToken` of the metadata. */
export type MAILResumeToken = `mail-resume:${string}`;

/** Decoded resume token. `calls` are the ids under which the server expects the results. */
export type PausedTask = { taskId: string; calls: string[] };

const prefix = 'mail-resume:';

export function toResumeToken({ taskId, calls }: PausedTask): MAILResumeToken {
  return `${prefix}${JSON.stringify({ taskId, calls })}`;
}

export function isResumeToken(value: unknown): value is MAILResumeToken {
  return typeof value === 'string' && value.startsWith(prefix);
}

/** Decodes a resume token. Returns undefined if the value is not a complete token. */
export function readResumeToken(value: unknown): PausedTask | undefined {
  if (!isResumeToken(value)) return undefined;
  const { taskId, calls } = asFields(parseJson(value.slice(prefix.length)));
  const names = asArray(calls).filter((call): call is string => asNonEmptyText(call) !== undefined);
  return asNonEmptyText(taskId) === undefined || names.length === 0
    ? undefined
    : { taskId: taskId as string, calls: names };
}
