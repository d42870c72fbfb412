import {
  createInMemoryStore,
  foldEvents,
  generateId,
  RunRefusedError,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type DurableAgent,
  type DurableRun,
  type Outcome,
  type RunRecord,
  type RunRequest,
  type Store,
} from '@intertie/core';
import { createRunWatcher, followRun } from '@intertie/core/internal';
import { collectDecisions } from '@intertie/core/store';

/** Agent with durable runs whose events are written by the test: no model, no clock. */
export type HandDriven = {
  agent: DurableAgent;
  store: Store;
  requests: RunRequest[];
  /** Appends events to the log of a run. */
  write(runId: string, events: readonly AgentEvent[]): Promise<void>;
  /** Appends the remaining events and ends the run with the last one. */
  finish(runId: string, events: readonly AgentEvent[]): Promise<void>;
  close(): void;
};

export async function handDriven({
  pauses = 'replay',
}: Partial<Pick<AgentSource, 'pauses'>> = {}): Promise<HandDriven> {
  const store = createInMemoryStore();
  const { registry, scope, log } = store;
  await registry.heartbeat('p1');
  const watcher = createRunWatcher({ log, hints: store.hints, restMs: 0, pollMs: { connected: 20, alone: 20 } });
  const requests: RunRequest[] = [];
  const written = new Map<string, AgentEvent[]>();

  const toRun = (run: RunRecord): DurableRun => ({
    runId: run.runId,
    threadId: run.threadId,
    messageId: run.messageId,
    follow: (after) => followRun({ store, watcher, scope, run: run.key, ...(after && { after }) }),
    record: async () => (await registry.getRun(scope, run.key))!,
    stop: async (reason) => (await registry.stop(scope, run.key, reason))!,
  });
  const findRecord = async (runId: string): Promise<RunRecord> => (await registry.findRun(scope, { runId }))!;

  const agent: DurableAgent = {
    name: 'hand-driven',
    source: { name: 'hand-driven', pauses, run: () => new ReadableStream() },
    store,
    forScope: () => agent,
    async start(request) {
      requests.push(request);
      const { threadId = generateId(), message, parentId, runId = generateId() } = request;
      const { busy = 'reject', pending = 'supersede' } = request;
      const started = await registry.start(scope, {
        threadId,
        runId,
        agent: 'hand-driven',
        process: 'p1',
        messageId: `answer-${runId}`,
        busy,
        pending,
        ...(message && { message: userMessage(threadId, message) }),
        ...(parentId !== undefined && { parentId }),
        idempotency: { key: `${threadId} ${runId}`, hash: JSON.stringify([message, parentId]) },
      });
      if (started.type !== 'refused') return toRun(started.run);
      const { type: _, reason: code, ...why } = started;
      throw new RunRefusedError({ code, ...why } as RunRefusedError['refusal']);
    },
    async find(query) {
      const record = await registry.findRun(scope, query);
      return record && toRun(record);
    },
    async latest(query) {
      const record = (await registry.liveRun(scope, query)) ?? (await registry.listRuns(scope, query)).at(-1);
      return record ? toRun(record) : null;
    },
    async answer({ runId }, answers, by) {
      const { key } = await findRecord(runId);
      const continuation = { runId: `${runId}-continued`, process: 'p1' };
      const result = (await registry.answer(scope, key, { answers, continuation, ...(by !== undefined && { by }) }))!;
      const next = result.continuation?.run ?? (result.live ? await findRecord(runId) : undefined);
      return { verdicts: result.verdicts, open: result.open, ...(next && { run: toRun(next) }) };
    },
  };

  const write = async (runId: string, events: readonly AgentEvent[]): Promise<void> => {
    const { key } = await findRecord(runId);
    const { epoch, next } = (await log.positions([key])).get(key)!;
    written.set(runId, [...(written.get(runId) ?? []), ...events]);
    const questions = events.flatMap((event) => (event.type === 'question' ? [event] : []));
    if (questions.length > 0) {
      const decisions = questions.map(({ questionId, kind, toolCallId }) => {
        const question = { questionId, kind, ...(toolCallId !== undefined && { toolCallId }) };
        return { id: questionId, kind, question };
      });
      await registry.openDecisions(key, epoch, decisions);
    }
    if (events.length > 0) await log.append([{ run: key, epoch, seq: next, events }]);
  };

  const finish = async (runId: string, events: readonly AgentEvent[]): Promise<void> => {
    await write(runId, events.slice(0, -1));
    const { key, threadId, messageId } = await findRecord(runId);
    const { epoch, next: nextSeq } = (await log.positions([key])).get(key)!;
    const before = await store.getMessage({ threadId, messageId });
    const all = [...(written.get(runId) ?? []), ...events.slice(-1)];
    const message = foldEvents(all, { messages: before ? [before] : [] })!;
    const end = all.at(-1) as Extract<AgentEvent, { type: 'run-end' }>;
    const outcome = end as Outcome;
    await registry.finish(key, epoch, {
      nextSeq,
      events: [end],
      outcome,
      content: message.content,
      decisions: collectDecisions(outcome, message.content),
      continuation: { runId: `${runId}-continued`, process: 'p1' },
      ...(message.state !== undefined && { state: message.state }),
    });
  };

  return { agent, store, requests, write, finish, close: () => watcher.close() };
}

function userMessage(
  threadId: string,
  { id = generateId(), content, createdAt = new Date(0) }: NonNullable<RunRequest['message']>,
) {
  const message = { id, threadId, role: 'user' as const, type: 'text' as const, createdAt };
  return { ...message, content } as CanonicalMessage;
}
