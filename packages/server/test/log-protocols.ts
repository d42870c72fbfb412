import { stream } from '@durable-streams/client';
import { canonical } from '@intertie/conformance';
import { foldEvents, type AgentEvent } from '@intertie/core';
import { chatBody, postJson, readEvents } from './client.ts';
import {
  stop,
  storedMessages,
  listViolations,
  type Case,
  type Protocol,
  type Reply,
  type Observed,
} from './protocol.ts';

type Stored = { id: string; role: string; content: { parts: unknown[] } };

/** Reads the log of a run with the Durable Streams client and folds it. */
export function streamsProtocol(live: 'long-poll' | 'sse'): Protocol {
  return {
    name: `Durable Streams, ${live}`,
    run: (test) =>
      readLog(test, async (runId, isCut) => {
        const url = `${test.base}/streams/runs/${runId}`;
        const begun = isCut ? await stream<AgentEvent>({ url, live: false }) : undefined;
        const all = begun ? await begun.json() : [];
        const rest = await stream<AgentEvent>({ url, live, ...(begun && { offset: begun.offset }) });
        for await (const event of rest.jsonStream()) all.push(event);
        return all;
      }),
  };
}

/** Reads canonical events, resuming with `Last-Event-ID`. */
export const eventsProtocol: Protocol = {
  name: 'canonical events',
  run: (test) =>
    readLog(test, async (runId, isCut) => {
      const all: AgentEvent[] = [];
      let last: string | undefined;
      const read = async (limit: number): Promise<void> => {
        const headers = last === undefined ? undefined : { 'last-event-id': last };
        for await (const { id, data } of readEvents(
          await fetch(`${test.base}/api/runs/${runId}/events`, headers ? { headers } : {}),
        )) {
          all.push(data as AgentEvent);
          last = id;
          if (all.length >= limit) break;
        }
      };
      if (isCut) await read(5);
      await read(Infinity);
      return all;
    }),
};

/** Waits until the log contains a delta. */
async function waitForDelta({ base }: Case, runId: string): Promise<void> {
  for (let log = ''; !log.includes('-delta"');) {
    log = await (await fetch(`${base}/api/runs/${runId}/events?live=false`)).text();
  }
}

async function readLog(test: Case, read: (runId: string, isCut: boolean) => Promise<AgentEvent[]>): Promise<Observed> {
  const response = await postJson(`${test.base}/api/agents/${test.agent}/chat`, chatBody(test.thread, test.text));
  const runId = response.headers.get('x-intertie-run')!;
  void response.text().catch(() => undefined);
  const reading = read(runId, test.scenario === 'resume');
  if (test.scenario === 'abort') {
    await waitForDelta(test, runId);
    await stop(test);
  }
  let events = await reading;
  const streams: unknown[][] = [events];
  if (test.reply) {
    events = await read(await replyByHand(test, runId, test.reply), false);
    streams.push(events);
  }
  const stored = await storedMessages<Stored>(test, 'canonical');
  const message = JSON.parse(JSON.stringify(foldEvents(events))) as Stored;
  return {
    client: message.content.parts,
    stored: stored.at(-1)!.content.parts,
    violations: listViolations(canonical, streams),
  };
}

/** Replies with plain requests. Returns the run that continues. */
async function replyByHand(test: Case, runId: string, reply: Reply): Promise<string> {
  const { base, thread, agent } = test;
  if ('text' in reply) {
    const before = await storedMessages<object>(test, 'ui');
    const message = { id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text: reply.text }] };
    const response = await postJson(`${base}/api/agents/${agent}/chat`, { id: thread, messages: [...before, message] });
    void response.text().catch(() => undefined);
    return response.headers.get('x-intertie-run')!;
  }
  const { questions } = (await (await fetch(`${base}/api/questions?state=open&thread=${thread}`)).json()) as {
    questions: Array<{ id: string }>;
  };
  const answers = questions.map(({ id }) =>
    'approve' in reply ? { questionId: id, approved: true } : { toolCallId: id, output: reply.output },
  );
  const answered = (await (await postJson(`${base}/api/runs/${runId}/answers`, { answers })).json()) as {
    run: { runId: string };
  };
  return answered.run.runId;
}
