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
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  customType,
  foreignKey,
  index,
  integer,
  json,
  pgSchema,
  primaryKey,
  smallint,
  text,
  timestamp,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';

import type { Tables } from './tables.ts';

const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' });
const time = (name: string) => timestamp(name, { withTimezone: true });
const count = (name: string) => bigint(name, { mode: 'number' });

/** Creates the Drizzle tables for a database schema. `@intertie/postgres/drizzle` exports those of the schema `intertie`. */
export function createTables(schemaName: string): Tables {
  const { table } = pgSchema(schemaName);

  const meta = table('meta', { key: text('key').primaryKey(), value: text('value').notNull() });

  const processes = table('processes', {
    id: text('id').primaryKey(),
    leaseUntil: time('lease_until').notNull(),
    startedAt: time('started_at').notNull().defaultNow(),
    info: json('info').$type<Json>(),
  });

  const threads = table(
    'threads',
    {
      id: uuid('id').primaryKey(),
      scope: text('scope').notNull(),
      key: text('key').notNull(),
      resourceId: text('resource_id'),
      title: text('title'),
      metadata: json('metadata').$type<JsonObject>(),
      nextSeq: count('next_seq').notNull().default(0),
      version: count('version').notNull().default(0),
      headId: text('head_id'),
      createdAt: time('created_at').notNull().defaultNow(),
      updatedAt: time('updated_at').notNull().defaultNow(),
      hidden: boolean('hidden').notNull().default(false),
    },
    (t) => [
      unique('threads_scope_key').on(t.scope, t.key),
      check(
        'threads_ids',
        sql`octet_length(${t.scope}) between 1 and 256 and octet_length(${t.key}) between 1 and 256`,
      ),
      index('threads_list').on(t.scope, t.updatedAt.desc(), t.key),
      index('threads_resource')
        .on(t.scope, t.resourceId, t.updatedAt.desc(), t.key)
        .where(sql`${t.resourceId} is not null`),
      index('threads_hidden')
        .on(t.updatedAt)
        .where(sql`${t.hidden}`),
    ],
  );

  const conversationMessage = table(
    'conversation_message',
    {
      threadId: uuid('thread_id').notNull(),
      id: text('id')
        .notNull()
        .default(sql`gen_random_uuid()::text`),
      clientId: text('client_id'),
      seq: count('seq').notNull(),
      parentId: text('parent_id'),
      role: text('role').$type<MessageRole>().notNull(),
      type: text('type').$type<MessageType>().notNull(),
      status: text('status').$type<MessageStatus>().notNull(),
      resourceId: text('resource_id'),
      runId: uuid('run_id'),
      clientRunId: text('client_run_id'),
      format: smallint('format').notNull().default(2),
      content: json('content').$type<MessageContent>().notNull(),
      state: json('state').$type<Json>(),
      sourceState: json('source_state').$type<Json>(),
      extra: json('extra').$type<JsonObject>(),
      revision: integer('revision').notNull().default(0),
      version: count('version').notNull(),
      createdAt: time('created_at').notNull().defaultNow(),
      updatedAt: time('updated_at').notNull().defaultNow(),
      deletedAt: time('deleted_at'),
      line: count('line'),
    },
    (t) => [
      primaryKey({ name: 'conversation_message_pkey', columns: [t.threadId, t.id] }),
      unique('conversation_message_seq').on(t.threadId, t.seq),
      check('conversation_message_id', sql`octet_length(${t.id}) between 1 and 256`),
      check('conversation_message_status', sql`${t.status} in ('streaming', 'complete', 'paused', 'aborted', 'error')`),
      index('conversation_message_children')
        .on(t.threadId, t.parentId, t.seq)
        .where(sql`coalesce(${t.line}, ${t.seq}) = ${t.seq}`),
      index('conversation_message_changes').on(t.threadId, t.version, t.seq),
      index('conversation_message_client')
        .on(t.threadId, t.clientId)
        .where(sql`${t.clientId} is not null`),
    ],
  );

  const runs = table(
    'runs',
    {
      id: uuid('id').primaryKey(),
      serial: count('serial').notNull().generatedAlwaysAsIdentity(),
      threadId: uuid('thread_id').notNull(),
      messageId: text('message_id').notNull(),
      agent: text('agent').notNull(),
      resumes: uuid('resumes'),
      clientRunId: text('client_run_id').notNull(),
      state: text('state').$type<RunState>().notNull(),
      input: json('input').$type<Json>(),
      outcome: json('outcome').$type<Outcome>(),
      usage: json('usage').$type<Usage[]>(),
      lastEpoch: integer('last_epoch'),
      lastSeq: count('last_seq'),
      createdBy: text('created_by'),
      createdAt: time('created_at').notNull().defaultNow(),
      startedAt: time('started_at'),
      endedAt: time('ended_at'),
      logDroppedAt: time('log_dropped_at'),
      branchKey: text('branch_key'),
    },
    (t) => [
      unique('runs_resumes').on(t.resumes),
      unique('runs_client_run_id').on(t.threadId, t.clientRunId),
      foreignKey({ name: 'runs_thread', columns: [t.threadId], foreignColumns: [threads.id] }).onDelete('cascade'),
      foreignKey({ name: 'runs_resumed', columns: [t.resumes], foreignColumns: [t.id] }).onDelete('set null'),
      check('runs_state', sql`${t.state} in ('queued', 'running', 'complete', 'paused', 'aborted', 'error')`),
      index('runs_order').on(t.threadId, t.serial),
      index('runs_message').on(t.messageId, t.threadId),
      index('runs_name').on(t.clientRunId, t.serial),
      index('runs_queue')
        .on(t.threadId, t.serial)
        .where(sql`${t.state} = 'queued'`),
      index('runs_prune')
        .on(t.endedAt)
        .where(sql`${t.endedAt} is not null and ${t.logDroppedAt} is null`),
      index('runs_branch')
        .on(t.branchKey, t.agent, t.serial)
        .where(sql`${t.branchKey} is not null`),
    ],
  );

  const runLive = table(
    'run_live',
    {
      runId: uuid('run_id').primaryKey(),
      threadId: uuid('thread_id').notNull(),
      process: text('process').notNull(),
      epoch: integer('epoch').notNull().default(1),
      nextSeq: count('next_seq').notNull().default(1),
      waiting: boolean('waiting').notNull().default(false),
      stopRequestedAt: time('stop_requested_at'),
      stopReason: text('stop_reason'),
      claim: text('claim'),
      attempts: integer('attempts').notNull().default(1),
      releasedAt: time('released_at'),
    },
    (t) => [
      unique('run_live_thread').on(t.threadId),
      foreignKey({ name: 'run_live_run', columns: [t.runId], foreignColumns: [runs.id] }).onDelete('cascade'),
    ],
  );

  const runEvents = table(
    'run_events',
    {
      runId: uuid('run_id').notNull(),
      lastSeq: count('last_seq').notNull(),
      n: integer('n').notNull(),
      epoch: integer('epoch').notNull(),
      v: smallint('v').notNull(),
      at: time('at').notNull().defaultNow(),
      body: text('body').notNull(),
    },
    (t) => [
      primaryKey({ name: 'run_events_pkey', columns: [t.runId, t.lastSeq] }),
      check('run_events_n', sql`${t.n} > 0`),
    ],
  );

  const decisions = table(
    'decisions',
    {
      runId: uuid('run_id').notNull(),
      id: text('id').notNull(),
      position: integer('position').notNull(),
      threadId: uuid('thread_id').notNull(),
      messageId: text('message_id').notNull(),
      kind: text('kind').$type<DecisionRequest['kind']>().notNull(),
      toolCallId: text('tool_call_id'),
      request: json('request').$type<DecisionRequest>().notNull(),
      state: text('state').$type<'open' | 'answered' | 'cancelled' | 'expired'>().notNull().default('open'),
      answer: json('answer').$type<Answer | ToolAnswer>(),
      answeredBy: text('answered_by'),
      answeredAt: time('answered_at'),
      expiresAt: time('expires_at'),
    },
    (t) => [
      primaryKey({ name: 'decisions_pkey', columns: [t.runId, t.id] }),
      foreignKey({ name: 'decisions_run', columns: [t.runId], foreignColumns: [runs.id] }).onDelete('cascade'),
      check('decisions_kind', sql`${t.kind} in ('approval', 'client-tool', 'input')`),
      check('decisions_state', sql`${t.state} in ('open', 'answered', 'cancelled', 'expired')`),
      index('decisions_thread').on(t.threadId),
      index('decisions_open')
        .on(t.threadId, t.messageId)
        .where(sql`${t.state} = 'open'`),
      index('decisions_expiry')
        .on(t.expiresAt)
        .where(sql`${t.state} = 'open' and ${t.expiresAt} is not null`),
    ],
  );

  const requests = table(
    'requests',
    {
      scope: text('scope').notNull(),
      key: text('key').notNull(),
      hash: text('hash').notNull(),
      runId: uuid('run_id'),
      threadIds: uuid('thread_ids').array().notNull().default([]),
      createdAt: time('created_at').notNull().defaultNow(),
    },
    (t) => [
      primaryKey({ name: 'requests_pkey', columns: [t.scope, t.key] }),
      foreignKey({ name: 'requests_run', columns: [t.runId], foreignColumns: [runs.id] }).onDelete('cascade'),
      index('requests_run_id')
        .on(t.runId)
        .where(sql`${t.runId} is not null`),
      index('requests_threads')
        .using('gin', t.threadIds)
        .where(sql`${t.runId} is null`),
      index('requests_age').on(t.createdAt),
    ],
  );

  const blobs = table(
    'blobs',
    {
      scope: text('scope').notNull(),
      sha256: bytea('sha256').notNull(),
      size: count('size').notNull(),
      mediaType: text('media_type'),
      data: bytea('data'),
      url: text('url'),
      touchedAt: time('touched_at').notNull().defaultNow(),
    },
    (t) => [
      primaryKey({ name: 'blobs_pkey', columns: [t.scope, t.sha256] }),
      check('blobs_place', sql`${t.data} is not null or ${t.url} is not null`),
      index('blobs_age').on(t.touchedAt),
    ],
  );

  const blobRefs = table(
    'blob_refs',
    {
      threadId: uuid('thread_id').notNull(),
      messageId: text('message_id').notNull(),
      scope: text('scope').notNull(),
      sha256: bytea('sha256').notNull(),
    },
    (t) => [
      primaryKey({ name: 'blob_refs_pkey', columns: [t.threadId, t.messageId, t.sha256] }),
      foreignKey({
        name: 'blob_refs_message',
        columns: [t.threadId, t.messageId],
        foreignColumns: [conversationMessage.threadId, conversationMessage.id],
      }).onDelete('cascade'),
      foreignKey({
        name: 'blob_refs_blob',
        columns: [t.scope, t.sha256],
        foreignColumns: [blobs.scope, blobs.sha256],
      }),
      index('blob_refs_by_blob').on(t.scope, t.sha256),
    ],
  );

  return {
    meta,
    processes,
    threads,
    conversationMessage,
    runs,
    runLive,
    runEvents,
    decisions,
    requests,
    blobs,
    blobRefs,
  };
}
