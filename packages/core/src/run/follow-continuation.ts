import type { AgentEvent, EventOf } from '../event/event.ts';
import type { Waiting } from '../event/outcome.ts';
import { MessageList } from '../message/message-list.ts';
import type { RunRecord } from '../store/registry.ts';
import type { LogPosition } from '../store/run-log.ts';
import { pause } from '../stream/pause.ts';
import { pullStream } from '../stream/pull-stream.ts';
import type { DurableAgent, DurableRun } from './durable-agent.ts';
import type { Followed } from './follow-run.ts';

/** Number and interval of the polls for the run that continues a paused one. */
const maxPolls = 10;
const pollMs = 50;

/**
 * Returns a run that follows the continuation of an answered run which has not paused yet. It emits no events before the
 * continuation starts, since the reader already has them. If the run ends without a continuation, it emits that end.
 */
export function followContinuation(agent: DurableAgent, run: DurableRun): DurableRun {
  const { runId, threadId, messageId } = run;
  return {
    runId,
    threadId,
    messageId,
    record: () => run.record(),
    stop: (reason) => run.stop(reason),
    follow: () => followEvents(agent, run),
  };
}

function followEvents(agent: DurableAgent, run: DurableRun): ReadableStream<Followed> {
  let reader = run.follow().getReader();
  let isContinuation = false;
  const cancelled = new AbortController();
  const { signal } = cancelled;
  return pullStream({
    async pull(emit) {
      if (!isContinuation) {
        const log = await readAll(reader);
        const next = await findNext(agent, run, signal);
        if (signal.aborted) return false;
        if (next === undefined) {
          for (const item of await readFinalEvents(agent, run, log)) emit(item);
          return false;
        }
        isContinuation = true;
        reader = next.follow().getReader();
      }
      const { done, value } = await reader.read();
      if (!done) emit(value);
      return !done;
    },
    cancel: (reason) => {
      cancelled.abort();
      return reader.cancel(reason);
    },
  });
}

type PausedLog = { events: AgentEvent[]; position: LogPosition; end: EventOf<'run-end'> | undefined };

async function readAll(reader: ReadableStreamDefaultReader<Followed>): Promise<PausedLog> {
  const events: AgentEvent[] = [];
  let position: LogPosition = { epoch: 0, seq: 0 };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (value.type === 'events') {
      events.push(...value.events);
      ({ position } = value);
    } else if (value.type === 'ended') events.push(value.event);
  }
  const end = events.at(-1);
  return { events, position, end: end?.type === 'run-end' ? end : undefined };
}

/**
 * Builds the events for a run without a continuation: its end, and the questions that it has asked since the client's last
 * answer. Answered questions are not repeated.
 */
async function readFinalEvents(
  agent: DurableAgent,
  run: DurableRun,
  { events, position, end }: PausedLog,
): Promise<Followed[]> {
  if (end === undefined) return [];
  const [start] = events;
  if (end.outcome !== 'paused' || start?.type !== 'run-start') return [{ type: 'ended', event: end }];
  const { registry, scope } = agent.store;
  const { key } = await run.record();
  const open = new Set((await registry.listDecisions(scope, { run: key, state: 'open' })).map(({ id }) => id));
  const calls = new Set(
    events.flatMap((event) =>
      event.type === 'question' && open.has(event.questionId) && event.toolCallId !== undefined
        ? [event.toolCallId]
        : [],
    ),
  );
  const isAsked = (event: AgentEvent): boolean =>
    (event.type === 'question' && open.has(event.questionId)) ||
    (event.type === 'tool-call' && (open.has(event.toolCallId) || calls.has(event.toolCallId)));
  const list = new MessageList();
  for (const event of events) if (!isAsked(event) && event.type !== 'run-end') list.feed(event);
  const content = list.message?.content;
  const isOpen = (item: Waiting): boolean =>
    item.type === 'tool' ? open.has(item.toolCallId) : item.type === 'question' && open.has(item.questionId);
  const waitingFor = end.waitingFor.filter(isOpen);
  if (content === undefined || waitingFor.length === 0) return [{ type: 'ended', event: end }];
  const resumed: AgentEvent[] = [
    { ...start, resumes: start.runId },
    { type: 'message-snapshot', content },
    ...events.filter(isAsked),
  ];
  return [
    { type: 'events', events: resumed, position },
    { type: 'ended', event: { ...end, waitingFor } },
  ];
}

async function findNext(agent: DurableAgent, run: DurableRun, signal: AbortSignal): Promise<DurableRun | undefined> {
  const record = await run.record();
  for (let poll = 0; record.state === 'paused' && poll < maxPolls && !signal.aborted; poll += 1) {
    const next = await findContinuation(agent, record);
    if (next) return next;
    await pause(pollMs, signal);
  }
  return undefined;
}

/** Finds the run that continues a paused one. */
async function findContinuation(agent: DurableAgent, { key, threadId }: RunRecord): Promise<DurableRun | null> {
  const { registry, scope } = agent.store;
  const next = (await registry.listRuns(scope, { threadId })).find(({ resumes }) => resumes === key);
  return next ? agent.find({ runId: next.runId, threadId }) : null;
}

/** Follows a paused and answered run to the run that continues it now. Returns other runs unchanged. */
export async function findCurrentRun(
  agent: DurableAgent,
  run: DurableRun,
): Promise<{ run: DurableRun; record: RunRecord }> {
  const record = await run.record();
  const next = record.state === 'paused' ? await findContinuation(agent, record) : null;
  return next ? findCurrentRun(agent, next) : { run, record };
}
