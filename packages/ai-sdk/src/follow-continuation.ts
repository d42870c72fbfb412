import {
  pause,
  type AgentEvent,
  type DurableAgent,
  type DurableRun,
  type EventOf,
  type Followed,
} from '@intertie/core';

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
  return new ReadableStream<Followed>(
    {
      async pull(controller) {
        if (!isNext) {
          const end = await readEnd(reader);
          const next = await findNext(agent, run, signal);
          if (signal.aborted) return;
          if (next === undefined) {
            if (end) controller.enqueue({ type: 'ended', event: end });
            return controller.close();
          }
          isNext = true;
          reader = next.follow().getReader();
        }
        const { done, value } = await reader.read();
        if (!done) controller.enqueue(value);
        else if (!signal.aborted) controller.close();
      },
      cancel: (reason) => {
        gone.abort();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

async function readEnd(reader: ReadableStreamDefaultReader<Followed>): Promise<EventOf<'run-end'> | undefined> {
  let end: AgentEvent | undefined;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- to the end, however long that takes
    const { done, value } = await reader.read();
    if (done) return end?.type === 'run-end' ? end : undefined;
    if (value.type === 'events') end = value.events.at(-1);
    else if (value.type === 'ended') end = value.event;
  }
}

async function findNext(agent: DurableAgent, run: DurableRun, signal: AbortSignal): Promise<DurableRun | undefined> {
  const { registry, scope } = agent.store;
  const { key, threadId, state } = await run.record();
  if (state !== 'paused') return undefined;
  for (let look = 0; look < looks && !signal.aborted; look += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one look after the other
    const next = (await registry.listRuns(scope, { threadId })).find(({ resumes }) => resumes === key);
    // oxlint-disable-next-line no-await-in-loop
    if (next) return (await agent.find({ runId: next.runId, threadId })) ?? undefined;
    // oxlint-disable-next-line no-await-in-loop
    await pause(lookMs, signal);
  }
  return undefined;
}
