import type { AgentEvent } from '../event/event.ts';
import type { Answer } from '../event/part-body.ts';
import type { ToolAnswer } from '../event/tool-result.ts';
import { defined } from '../json/fields.ts';
import type { AnswerVerdict, BusyPolicy, Decision, PendingPolicy, StopResult } from '../store/registry.ts';
import type { LogPosition, RunKey } from '../store/run-log.ts';
import { RunRefusedError } from '../store/run-refused-error.ts';
import type { DurableAgent, DurableRun, RunRequest } from './durable-agent.ts';
import { findCurrentRun, followContinuation } from './follow-continuation.ts';
import type { Followed } from './follow-run.ts';
import { followUntilWaiting } from './follow-until-waiting.ts';

type StartRequest = RunRequest & { threadId: string };

/** Answers by the id of the run that asked. */
export type AnswersByRun = ReadonlyMap<string, ReadonlyArray<Answer | ToolAnswer>>;

/** Request of a client, independent of its protocol. */
export type RunCommand =
  /** Starts a run. A run id or idempotency key that is known returns that run. */
  | { type: 'start'; request: StartRequest }
  /**
   * Joins the run that currently continues the named run; without a run id, the latest run of the thread. With a `messageId`, joins
   * the live run that writes the message, and `runId` is the run that `after` belongs to.
   */
  | { type: 'join'; threadId: string; runId?: string | undefined; messageId?: string }
  /** Answers questions and client tools. `next` starts after the answered run. */
  | { type: 'answer'; threadId: string; answers: AnswersByRun; next?: StartRequest | undefined }
  /** Stops the named run, or the latest one of the thread. */
  | { type: 'stop'; threadId: string; runId?: string | undefined; reason?: string };

export type ServeRunOptions = {
  /** Policy while the thread has a live run, unless the request has one. Default: that of the agent. */
  busy?: BusyPolicy;
  /** Policy while the previous answer waits for decisions, unless the request has one. Default: that of the agent. */
  pending?: PendingPolicy;
  /** Author of the request, for the record. */
  by?: string | undefined;
  /**
   * Cursor of the reader: the last event that it has. With an epoch, it is checked against the log; without one, it is limited to
   * the end of the log.
   */
  after?: { epoch?: number; seq: number } | undefined;
  /** Time after its end during which a run can be joined without a cursor. Default: no limit. */
  replayEndedMs?: number;
  /** Whether a paused run can be joined at any time. Default: false. */
  replayPaused?: boolean;
  /** Maximum wait for the run that continues an answered one. Default: that of the agent. */
  continuationWaitMs?: number;
  /**
   * Effect of answers of which none is accepted: refuse them, or return the run that continues with the earlier answers if there is
   * one. Default: `reject`.
   */
  conflict?: 'reject' | 'join';
  now?: (() => number) | undefined;
};

/** A run for one reader. Following it never affects the run. */
export type ServedRun = {
  type: 'run';
  run: DurableRun;
  /** Ids for the response. A continuation that has not started yet has no run id. */
  ids: { runId?: string; messageId: string };
  /** Whether the reader has nothing of the run but everything before it: a started run, or the continuation after an answer. */
  isNew: boolean;
  /** Whether the run has ended and the reader has no valid cursor. The stored message is complete. */
  isEnded: boolean;
  /** Number of the last event that the reader has. 0 without a valid cursor. */
  after: number;
  /** Streams the events from the start of the run until it ends, or waits for answers in its process. */
  follow: () => ReadableStream<Followed>;
  /** Reads the events so far, for protocols that begin with a snapshot. Returns null if the log was dropped. */
  catchUp: () => Promise<{ events: readonly AgentEvent[]; follow: ServedRun['follow'] } | null>;
};

/** The answers are stored. The run continues when the `open` decisions are answered too. */
export type OpenRun = { type: 'open'; open: readonly Decision[] };

type Served = {
  start: ServedRun;
  /** Null if the thread has no run, or its last run ended too long ago. */
  join: ServedRun | null;
  answer: ServedRun | OpenRun;
  stop: { runId: string; result: StopResult };
};

/**
 * Executes the command of a client. Every handler for durable agents consists of a reader of requests, this function, an encoder and
 * a writer of errors. Rejects with a `RunRefusedError` if the command is refused. Commands can be repeated.
 */
export async function serveDurableRun<Command extends RunCommand>(
  agent: DurableAgent,
  command: Command,
  options?: ServeRunOptions,
): Promise<Served[Command['type']]>;
export async function serveDurableRun(
  agent: DurableAgent,
  command: RunCommand,
  options: ServeRunOptions = {},
): Promise<Served[RunCommand['type']]> {
  switch (command.type) {
    case 'start':
      return startRun(agent, command.request, options);
    case 'join':
      return joinRun(agent, command, options);
    case 'answer':
      return answerRuns(agent, command, options);
    case 'stop': {
      const { threadId, runId, reason } = command;
      const run = await findRun(agent, threadId, runId);
      if (run === null) throw new RunRefusedError({ code: 'not-found', what: 'run', threadId });
      return { runId: run.runId, result: await run.stop(reason) };
    }
  }
}

async function startRun(agent: DurableAgent, request: StartRequest, options: ServeRunOptions): Promise<ServedRun> {
  const { threadId, runId, message } = request;
  const known = runId === undefined ? null : await agent.find({ runId, threadId });
  if (known && message) throw new RunRefusedError({ code: 'run-exists', run: await known.record() });
  if (known) return toServed(agent, known);
  const { busy, pending, by } = options;
  return toServed(agent, await agent.start({ ...defined({ busy, pending, by }), ...request }), { isNew: true });
}

async function joinRun(
  agent: DurableAgent,
  command: RunCommand & { type: 'join' },
  options: ServeRunOptions,
): Promise<ServedRun | null> {
  const { threadId, runId, messageId } = command;
  const { after, replayEndedMs = Infinity, replayPaused = false, now = Date.now } = options;
  if (messageId !== undefined) return joinWriter(agent, { threadId, runId, messageId }, after);
  const named = await findRun(agent, threadId, runId);
  if (named === null) return null;
  const seq = after ? await readCursor(agent, named, after) : 0;
  if (seq > 0) return toServed(agent, named, { after: seq });
  const { run, record } = await findCurrentRun(agent, named);
  const { state, endedAt } = record;
  const isEnded = state !== 'queued' && state !== 'running';
  const isReplayed =
    replayEndedMs === Infinity ||
    (replayPaused && state === 'paused') ||
    (endedAt !== undefined && now() - endedAt.getTime() < replayEndedMs);
  return isEnded && !isReplayed ? null : toServed(agent, run, { isEnded });
}

/** Joins the run that writes a message: the latest run of the thread, or the live run before a queued one. */
async function joinWriter(
  agent: DurableAgent,
  { threadId, runId, messageId }: { threadId: string; runId: string | undefined; messageId: string },
  after: ServeRunOptions['after'],
): Promise<ServedRun> {
  const { registry, scope } = agent.store;
  let run = await agent.latest({ threadId });
  if (run && run.messageId !== messageId) {
    const live = await registry.liveRun(scope, { threadId });
    run = live && (await agent.find({ runId: live.runId, threadId }));
  }
  const { state } = (await run?.record()) ?? {};
  if (run?.messageId !== messageId || (state !== 'running' && state !== 'queued')) {
    throw new RunRefusedError({ code: 'nothing-to-continue', messageId });
  }
  const seq = after && run.runId === runId ? await readCursor(agent, run, after) : 0;
  return toServed(agent, run, { after: seq });
}

async function answerRuns(
  agent: DurableAgent,
  { threadId, answers, next }: RunCommand & { type: 'answer' },
  options: ServeRunOptions,
): Promise<ServedRun | OpenRun> {
  const { by, after, continuationWaitMs: timeoutMs, conflict = 'reject' } = options;
  const isLive = agent.source.pauses === 'live';
  const results = [];
  for (const [runId, given] of answers) {
    // The reader has a run that waits in its process up to this point, unless its cursor is lower.
    const asked = isLive ? await agent.find({ runId, threadId }) : null;
    const tail = asked ? await readCursor(agent, asked, after ?? { seq: Infinity }) : 0;
    results.push({ runId, tail, ...(await agent.answer({ runId, threadId }, given, by, defined({ timeoutMs }))) });
  }
  const open = results.flatMap((result) => result.open);
  // An answered run continues first, and the new message follows it.
  if (next) {
    const request: StartRequest = open.length > 0 ? next : { ...next, busy: 'queue' };
    return { ...(await startRun(agent, request, options)), isNew: false };
  }
  const verdicts = results.flatMap((result) => result.verdicts);
  const isAccepted = verdicts.some(({ result }) => result === 'accepted' || result === 'duplicate');
  const continued = results.find(({ run }) => run);
  const mayJoin = conflict === 'join' && (continued !== undefined || open.length > 0);
  if (!isAccepted && !mayJoin) throw toAnswerRefusal(verdicts);
  if (!continued && open.length > 0) return { type: 'open', open };
  const { runId, tail, run } = continued ?? results[0]!;
  if (run && run.runId !== runId) {
    return toServed(agent, run, { isNew: verdicts.some(({ result }) => result === 'accepted') });
  }
  if (run && isLive) return toServed(agent, run, { after: tail });
  // The run has not paused yet, so its continuation has no id; or it ended without a continuation.
  const answered = run ?? (await findRun(agent, threadId, runId))!;
  const ids = { messageId: answered.messageId };
  return toServed(agent, followContinuation(agent, answered), { ids, isNew: run !== undefined });
}

function toAnswerRefusal(verdicts: readonly AnswerVerdict[]): RunRefusedError {
  for (const verdict of verdicts) {
    if (verdict.result === 'conflict') return new RunRefusedError({ code: 'already-answered', verdict });
  }
  const code = verdicts.some(({ result }) => result === 'expired') ? 'expired' : 'cancelled';
  return new RunRefusedError({ code, ids: verdicts.map(({ id }) => id) });
}

/** Finds the named run, or the latest one of the thread; null if the thread has none. */
async function findRun(agent: DurableAgent, threadId: string, runId: string | undefined): Promise<DurableRun | null> {
  if (runId === undefined) return agent.latest({ threadId });
  const run = await agent.find({ runId, threadId });
  if (run === null) throw new RunRefusedError({ code: 'not-found', what: 'run', threadId, id: runId });
  return run;
}

/** Returns the sequence number of a cursor, or 0 if it is not a position of the run's log. */
async function readCursor(
  { store }: DurableAgent,
  run: DurableRun,
  { epoch, seq }: { epoch?: number; seq: number },
): Promise<number> {
  const { key } = await run.record();
  if (epoch === undefined) return Math.min(seq, ((await store.log.positions([key])).get(key)?.next ?? 1) - 1);
  const page = await store.log.read(key, { epoch, seq }, 1);
  return page.valid && !page.dropped && seq <= page.tail ? seq : 0;
}

function toServed(agent: DurableAgent, run: DurableRun, fields: Partial<ServedRun> = {}): ServedRun {
  const { runId, messageId } = run;
  const follow = (after?: LogPosition, past?: readonly AgentEvent[]): ReadableStream<Followed> =>
    agent.source.pauses === 'live' ? followUntilWaiting(agent, run, after, past) : run.follow(after);
  return {
    type: 'run',
    run,
    ids: { runId, messageId },
    isNew: false,
    isEnded: false,
    after: 0,
    ...fields,
    follow: () => follow(),
    async catchUp() {
      const read = await readLog(agent, (await run.record()).key);
      return read && { events: read.events, follow: () => follow(read.position, read.events) };
    },
  };
}

/** Reads the log of a run up to its current end. Returns null if it was dropped. */
async function readLog(
  { store }: DurableAgent,
  run: RunKey,
): Promise<{ events: AgentEvent[]; position: LogPosition } | null> {
  const events: AgentEvent[] = [];
  let position: LogPosition = { epoch: 0, seq: 0 };
  for (;;) {
    const page = await store.log.read(run, position);
    if (page.dropped) return null;
    // A takeover rewrote this part of the log: start over.
    if (!page.valid) events.length = 0;
    events.push(...page.events);
    position = page.valid ? page.position : { epoch: 0, seq: 0 };
    if (page.valid && position.seq >= page.tail) return { events, position };
  }
}
