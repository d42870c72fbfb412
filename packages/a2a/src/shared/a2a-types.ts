import type { Json, JsonObject } from '@intertie/core';

/** A2A 1.0 objects as JSON (ProtoJSON of `lf.a2a.v1`). Only the fields that this package reads or writes. */

/** One of `text`, `raw` (base64), `url` and `data` is set. */
export type A2APart = {
  text?: string;
  raw?: string;
  url?: string;
  data?: Json;
  filename?: string;
  mediaType?: string;
  metadata?: JsonObject;
};

export type A2AMessage = {
  messageId: string;
  contextId?: string;
  taskId?: string;
  role: 'ROLE_USER' | 'ROLE_AGENT';
  parts: A2APart[];
  metadata?: JsonObject;
  extensions?: string[];
  referenceTaskIds?: string[];
};

export type A2AArtifact = {
  artifactId: string;
  name?: string;
  parts: A2APart[];
  metadata?: JsonObject;
  extensions?: string[];
};

/** States after which a task does not change. */
const terminalStates = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const;

/** States in which a task waits for its client. */
const interruptedStates = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const;

const activeStates = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'] as const;

export type A2ATaskState =
  | (typeof activeStates)[number]
  | (typeof interruptedStates)[number]
  | (typeof terminalStates)[number];

export const taskStates: readonly A2ATaskState[] = [...activeStates, ...interruptedStates, ...terminalStates];

export type A2ATaskStatus = { state: A2ATaskState; message?: A2AMessage; timestamp?: string };

export type A2ATask = {
  id: string;
  contextId: string;
  status: A2ATaskStatus;
  artifacts?: A2AArtifact[];
  history?: A2AMessage[];
  metadata?: JsonObject;
};

export type A2AStatusUpdate = { taskId: string; contextId: string; status: A2ATaskStatus; metadata?: JsonObject };

export type A2AArtifactUpdate = {
  taskId: string;
  contextId: string;
  artifact: A2AArtifact;
  append?: boolean;
  lastChunk?: boolean;
  metadata?: JsonObject;
};

/** Item of an A2A stream: a `StreamResponse`. In a JSON-RPC stream it is the `result` of a response. */
export type A2AStreamItem =
  | { task: A2ATask }
  | { message: A2AMessage }
  | { statusUpdate: A2AStatusUpdate }
  | { artifactUpdate: A2AArtifactUpdate };

/** Whether a task in this state does not change any more. */
export function isTerminal(state: unknown): boolean {
  return (terminalStates as readonly unknown[]).includes(state);
}

/** Whether a task in this state waits for its client. */
export function isInterrupted(state: unknown): boolean {
  return (interruptedStates as readonly unknown[]).includes(state);
}
