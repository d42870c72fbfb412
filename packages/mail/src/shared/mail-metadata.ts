import type { Json } from '@intertie/core';
import { asFields, asArray, asNonEmptyText, asText } from './fields.ts';
import { isResumeToken, type MAILResumeToken } from './resume-token.ts';

export type MAILTaskStatus = 'running' | 'completed' | 'error' | 'paused';

/** One action of an agent in `agentTrace`. */
export type MAILTraceEntry = { agent: string; timestamp: string; event: string };

/** Metadata of a MAIL run, under `providerMetadata.mail`. */
export type MAILProviderMetadata = {
  taskId: string;
  /** `running`: the task continues on the server after a stop or a lost connection. */
  taskStatus: MAILTaskStatus;
  /** Agent of the latest event. */
  currentAgent?: string;
  agentTrace: MAILTraceEntry[];
  /** Every event of the server. Only set with `includeEvents`. */
  events?: Json[];
  /** Only set for a paused task. Pass it as `taskId` or `resumeFrom` of the call that answers the pause. */
  resumeToken?: MAILResumeToken;
  error?: string;
};

const statuses: readonly unknown[] = ['running', 'completed', 'error', 'paused'] satisfies MAILTaskStatus[];

/** Reads the `providerMetadata` of `streamText` or `generateText` as the typed metadata of a MAIL run. */
export function mailMetadata(providerMetadata: unknown): MAILProviderMetadata {
  const mail = asFields(asFields(providerMetadata).mail);
  const status = mail.taskStatus;
  if (typeof mail.taskId !== 'string' || !statuses.includes(status)) {
    const error = 'No MAIL metadata found. Pass the providerMetadata of a call to a MAIL model.';
    return { taskId: '', taskStatus: 'error', agentTrace: [], error };
  }
  const currentAgent = asNonEmptyText(mail.currentAgent);
  const { resumeToken } = mail;
  const error = asNonEmptyText(mail.error);
  return {
    taskId: mail.taskId,
    taskStatus: status as MAILTaskStatus,
    ...(currentAgent !== undefined && { currentAgent }),
    agentTrace: asArray(mail.agentTrace).map(readTraceEntry),
    ...(Array.isArray(mail.events) && { events: mail.events as Json[] }),
    ...(isResumeToken(resumeToken) && { resumeToken }),
    ...(error !== undefined && { error }),
  };
}

function readTraceEntry(value: unknown): MAILTraceEntry {
  const { agent, timestamp, event } = asFields(value);
  return { agent: asText(agent) ?? '', timestamp: asText(timestamp) ?? '', event: asText(event) ?? '' };
}

/** Token that continues a task: `run-end.resume` of its last run. `lastFrameKey`: last event that the run read from the record. */
export type MAILResume = { taskId: string; status: MAILTaskStatus; lastFrameKey?: string };

export function readResume(value: unknown): MAILResume | undefined {
  const { taskId, status, lastFrameKey } = asFields(value);
  if (typeof taskId !== 'string' || taskId === '' || !statuses.includes(status)) return undefined;
  return {
    taskId,
    status: status as MAILTaskStatus,
    ...(typeof lastFrameKey === 'string' && { lastFrameKey }),
  };
}
