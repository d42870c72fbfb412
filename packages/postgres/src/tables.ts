import type {
  Answer,
  Json,
  JsonObject,
  MessageContent,
  MessageRole,
  MessageStatus,
  Outcome,
  Usage,
} from '@intertie/core';
import type { DecisionRequest, MessageType, RunState, ToolAnswer } from '@intertie/core/store';

import type { Defaulted, Identity, NotNull, Nullable, Table } from './schema-types.ts';

/** Drizzle tables for your own queries, documented in `migrations/`. Write to them only through the store. */
export type Tables = {
  meta: Table<'meta', { key: NotNull<string>; value: NotNull<string> }>;
  processes: Table<
    'processes',
    { id: NotNull<string>; leaseUntil: NotNull<Date>; startedAt: Defaulted<Date>; info: Nullable<Json> }
  >;
  threads: Table<
    'threads',
    {
      id: NotNull<string>;
      scope: NotNull<string>;
      key: NotNull<string>;
      resourceId: Nullable<string>;
      title: Nullable<string>;
      metadata: Nullable<JsonObject>;
      nextSeq: Defaulted<number>;
      version: Defaulted<number>;
      headId: Nullable<string>;
      createdAt: Defaulted<Date>;
      updatedAt: Defaulted<Date>;
      hidden: Defaulted<boolean>;
    }
  >;
  conversationMessage: Table<
    'conversation_message',
    {
      threadId: NotNull<string>;
      id: Defaulted<string>;
      clientId: Nullable<string>;
      seq: NotNull<number>;
      parentId: Nullable<string>;
      role: NotNull<MessageRole>;
      type: NotNull<MessageType>;
      status: NotNull<MessageStatus>;
      resourceId: Nullable<string>;
      runId: Nullable<string>;
      clientRunId: Nullable<string>;
      format: Defaulted<number>;
      content: NotNull<MessageContent>;
      state: Nullable<Json>;
      sourceState: Nullable<Json>;
      extra: Nullable<JsonObject>;
      revision: Defaulted<number>;
      version: NotNull<number>;
      createdAt: Defaulted<Date>;
      updatedAt: Defaulted<Date>;
      deletedAt: Nullable<Date>;
      line: Nullable<number>;
    }
  >;
  runs: Table<
    'runs',
    {
      id: NotNull<string>;
      serial: Identity;
      threadId: NotNull<string>;
      messageId: NotNull<string>;
      agent: NotNull<string>;
      resumes: Nullable<string>;
      clientRunId: NotNull<string>;
      state: NotNull<RunState>;
      input: Nullable<Json>;
      outcome: Nullable<Outcome>;
      usage: Nullable<Usage[]>;
      lastEpoch: Nullable<number>;
      lastSeq: Nullable<number>;
      createdBy: Nullable<string>;
      createdAt: Defaulted<Date>;
      startedAt: Nullable<Date>;
      endedAt: Nullable<Date>;
      logDroppedAt: Nullable<Date>;
      branchKey: Nullable<string>;
    }
  >;
  runLive: Table<
    'run_live',
    {
      runId: NotNull<string>;
      threadId: NotNull<string>;
      process: NotNull<string>;
      epoch: Defaulted<number>;
      nextSeq: Defaulted<number>;
      waiting: Defaulted<boolean>;
      stopRequestedAt: Nullable<Date>;
      stopReason: Nullable<string>;
      claim: Nullable<string>;
    }
  >;
  runEvents: Table<
    'run_events',
    {
      runId: NotNull<string>;
      lastSeq: NotNull<number>;
      n: NotNull<number>;
      epoch: NotNull<number>;
      v: NotNull<number>;
      at: Defaulted<Date>;
      body: NotNull<string>;
    }
  >;
  decisions: Table<
    'decisions',
    {
      runId: NotNull<string>;
      id: NotNull<string>;
      position: NotNull<number>;
      threadId: NotNull<string>;
      messageId: NotNull<string>;
      kind: NotNull<DecisionRequest['kind']>;
      toolCallId: Nullable<string>;
      request: NotNull<DecisionRequest>;
      state: Defaulted<'open' | 'answered' | 'cancelled' | 'expired'>;
      answer: Nullable<Answer | ToolAnswer>;
      answeredBy: Nullable<string>;
      answeredAt: Nullable<Date>;
      expiresAt: Nullable<Date>;
    }
  >;
  requests: Table<
    'requests',
    {
      scope: NotNull<string>;
      key: NotNull<string>;
      hash: NotNull<string>;
      runId: Nullable<string>;
      threadIds: Defaulted<string[]>;
      createdAt: Defaulted<Date>;
    }
  >;
  blobs: Table<
    'blobs',
    {
      scope: NotNull<string>;
      sha256: NotNull<Uint8Array>;
      size: NotNull<number>;
      mediaType: Nullable<string>;
      data: Nullable<Uint8Array>;
      url: Nullable<string>;
      touchedAt: Defaulted<Date>;
    }
  >;
  blobRefs: Table<
    'blob_refs',
    {
      threadId: NotNull<string>;
      messageId: NotNull<string>;
      scope: NotNull<string>;
      sha256: NotNull<Uint8Array>;
    }
  >;
};
