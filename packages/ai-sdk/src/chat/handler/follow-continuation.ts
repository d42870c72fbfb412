import { MessageList, type AgentEvent, type DurableAgent, type DurableRun, type EventOf } from '@intertie/core';
import { pause, pullStream, type Followed } from '@intertie/core/internal';
import type { LogPosition, Waiting } from '@intertie/core/store';

/** How often, and how long apart, a run that has paused is looked at for the one that goes on with it. */
const looks = 10;
const lookMs = 50;

/**
 * What goes on with a run that has its answers and has more to do before it pauses, as a run: silent until then, since the
 * reader has what is before. Where the run ends otherwise, it is that end.
 */
export function followContinuation(agent: DurableAgent, run: DurableRun): DurableRun {
  const { runId, threadId, messageId } = run;
  return {
    runId,
    threadId,
    messageId,
    record: () => run.record(),
    stop: (reason) => run.stop(reason),
    follow: () => followNext(agent, run),
  };
}

function followNext(agent: DurableAgent, run: DurableRun): ReadableStream<Followed> {
  let reader = run.follow().getReader();
  let isNext = false;
  const gone = new AbortController();
  const { signal } = gone;
  return pullStream({
    async pull(emit) {
      if (!isNext) {
        const told = await readAll(reader);
        const next = await findNext(agent, run, signal);
        if (signal.aborted) return false;
        if (next === undefined) {
          for (const item of await whatIsLeft(agent, run, told)) emit(item);
          return false;
        }
        isNext = true;
        reader = next.follow().getReader();
      }
      const { done, value } = await reader.read();
      if (!done) emit(value);
      return !done;
    },
    cancel: (reason) => {
      gone.abort();
      return reader.cancel(reason);
    },
  });
}

type ToldRun = { events: AgentEvent[]; position: LogPosition; end: EventOf<'run-end'> | undefined };

async function readAll(reader: ReadableStreamDefaultReader<Followed>): Promise<ToldRun> {
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
 * Of a run that nothing goes on with: its end, and what it has asked since, which whoever answered cannot have seen. What they
 * have answered is not asked again.
 */
async function whatIsLeft(
  agent: DurableAgent,
  run: DurableRun,
  { events, position, end }: ToldRun,
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
  const isOpen = (one: Waiting): boolean =>
    one.type === 'tool' ? open.has(one.toolCallId) : one.type === 'question' && open.has(one.questionId);
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
  for (let look = 0; look < looks && !signal.aborted; look += 1) {
    const next = (await registry.listRuns(scope, { threadId })).find(({ resumes }) => resumes === key);
    if (next) return (await agent.find({ runId: next.runId, threadId })) ?? undefined;
    await pause(lookMs, signal);
  }
  return undefined;
}
