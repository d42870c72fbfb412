import type { Json } from '@intertie/core';
import { fieldsOf, listOf, nameOf, textOf } from './fields.ts';
import { isResumeToken, type MAILResumeToken } from './resume-token.ts';

export type MAILTaskStatus = 'running' | 'completed' | 'error' | 'paused';

/** Who did what, and when. */
export type MAILTraceEntry = { agent: string; timestamp: string; event: string };

/** What a run says of itself beside its answer, under `providerMetadata.mail`. */
export type MAILProviderMetadata = {
  taskId: string;
  /** `running`: the task goes on at the server, though nobody listens (a stop, a lost connection). */
  taskStatus: MAILTaskStatus;
  /** The last agent that did something. */
  currentAgent?: string;
  agentTrace: MAILTraceEntry[];
  /** Every event of the server, if `includeEvents` is set. */
  events?: Json[];
  /** Of a paused task: the setting `taskId` or `resumeFrom` of the call that answers it. */
  resumeToken?: MAILResumeToken;
  error?: string;
};

const statuses: readonly unknown[] = ['running', 'completed', 'error', 'paused'] satisfies MAILTaskStatus[];

/** The metadata of a MAIL run, typed. Takes what `streamText` and `generateText` give as `providerMetadata`. */
export function mailMetadata(providerMetadata: unknown): MAILProviderMetadata {
  const mail = fieldsOf(fieldsOf(providerMetadata).mail);
  const status = mail.taskStatus;
  if (typeof mail.taskId !== 'string' || !statuses.includes(status)) {
    const error = 'There is no metadata of a MAIL run here: pass the providerMetadata of a call to a MAIL model.';
    return { taskId: '', taskStatus: 'error', agentTrace: [], error };
  }
  const currentAgent = nameOf(mail.currentAgent);
  const { resumeToken } = mail;
  const error = nameOf(mail.error);
  return {
    taskId: mail.taskId,
    taskStatus: status as MAILTaskStatus,
    ...(currentAgent !== undefined && { currentAgent }),
    agentTrace: listOf(mail.agentTrace).map(readTraceEntry),
    ...(Array.isArray(mail.events) && { events: mail.events as Json[] }),
    ...(isResumeToken(resumeToken) && { resumeToken }),
    ...(error !== undefined && { error }),
  };
}

function readTraceEntry(value: unknown): MAILTraceEntry {
  const { agent, timestamp, event } = fieldsOf(value);
  return { agent: textOf(agent) ?? '', timestamp: textOf(timestamp) ?? '', event: textOf(event) ?? '' };
}

/** How to go on with a task: `run-end.resume` of its last run. */
export type MAILResume = { taskId: string; status: MAILTaskStatus };

export function readResume(value: unknown): MAILResume | undefined {
  const { taskId, status } = fieldsOf(value);
  if (typeof taskId !== 'string' || taskId === '' || !statuses.includes(status)) return undefined;
  return { taskId, status: status as MAILTaskStatus };
}
