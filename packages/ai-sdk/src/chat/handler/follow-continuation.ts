import { MessageList, type AgentEvent, type DurableAgent, type DurableRun, type EventOf } from '@intertie/core';
import { pause, pullStream, type Followed } from '@intertie/core/internal';
import type { LogPosition, Waiting } from '@intertie/core/store';

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
  const { registry, scope } = agent.store;
  const { key, threadId, state } = await run.record();
  if (state !== 'paused') return undefined;
  for (let poll = 0; poll < maxPolls && !signal.aborted; poll += 1) {
    const next = (await registry.listRuns(scope, { threadId })).find(({ resumes }) => resumes === key);
    if (next) return (await agent.find({ runId: next.runId, threadId })) ?? undefined;
    await pause(pollMs, signal);
  }
  return undefined;
}
