import { createChatHandler, uiMessageStreamSource } from '@intertie/ai-sdk';
import { canonical, check } from '@intertie/conformance';
import { createInMemoryStore, iterate, type AgentEvent, type CanonicalMessage, type RunInput } from '@intertie/core';
import { createResumePoint, type ToolPart } from '@intertie/core/internal';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { call, collect, finish, majors, runInput, text } from '../../ai-sdk/test/scripted-model.ts';
import { runControl } from '../../core/test/run-control.ts';
import { Agent } from '../src/agent/agent.ts';
import { steppedModel } from './stepped-model.ts';
import { gate } from './test-stores.ts';

const { ai } = majors[0]!;
const user: CanonicalMessage = {
  id: 'u1',
  threadId: 'thread-1',
  role: 'user',
  type: 'text',
  content: { format: 2, parts: [{ type: 'text', text: 'Delete it' }] },
  createdAt: new Date(0),
};
const empty: CanonicalMessage = { ...user, id: 'message-1', role: 'assistant', content: { format: 2, parts: [] } };

/** Chat route of an agent with durable runs, which asks before it calls its tool. Its model waits in each step. */
function startRoute() {
  const gates = [gate(), gate()];
  const executed: string[] = [];
  const model = steppedModel(
    async function* () {
      yield* text('0', 'Let ', 'me 😀 ', 'see.');
      await gates[0]!.opened;
      yield* [call('c1', 'remove'), finish('tool-calls')];
    },
    async function* () {
      yield* text('0', 'It ', 'is ', 'gone.');
      await gates[1]!.opened;
      yield* [...text('1', 'Bye.'), finish()];
    },
  );
  const execute = async (): Promise<string> => {
    executed.push('remove');
    return 'removed';
  };
  const remove = ai.tool({ inputSchema: z.object({}), needsApproval: true, execute });
  const agent = new Agent({ model, tools: { remove }, store: createInMemoryStore() });
  onTestFinished(() => agent.close());
  const handler = createChatHandler(agent);
  const fetch: typeof globalThis.fetch = (url, init) => handler(new Request(url, init));
  const source = uiMessageStreamSource({ api: 'http://route.test/api/chat', fetch, resumable: true });
  return { source, gates, executed };
}

type Route = ReturnType<typeof startRoute>;

/** Runs the source, and resumes it after each of its events up to the gate: before the remote run ends, and afterwards. */
async function resumeEverywhere({ source, gates }: Route, step: number, input: RunInput, before: CanonicalMessage) {
  const whole: AgentEvent[] = [];
  let log: AgentEvent[] = [];
  const waiting = gate();
  const reading = (async () => {
    for await (const event of iterate(source.run(input, runControl()))) {
      whole.push(event);
      if (event.type !== 'text-end' || log.length > 0) continue;
      log = [...whole];
      waiting.open();
    }
  })();
  await waiting.opened;
  const resumeAll = (): Array<Promise<AgentEvent[]>> =>
    log.map(async (_, index) => {
      const logged = log.slice(0, index + 1);
      const from = createResumePoint(before, logged);
      return [...logged, ...(await collect(source.resume!({ ...input, epoch: 2 }, from, runControl())))];
    });
  const live = resumeAll();
  gates[step]!.open();
  await reading;
  const { message } = createResumePoint(before, whole);
  for (const resumed of [...live, ...resumeAll()]) {
    const events = await resumed;
    expect(check(canonical, events).violations).toEqual([]);
    expect(createResumePoint(before, events).message.content.parts).toEqual(message.content.parts);
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: step === 0 ? 'paused' : 'complete' });
  }
  return message;
}

it('continues a run of an Intertie route, and the run that its answer continues, after every event', async () => {
  const route = startRoute();
  const first = runInput({ history: [user] });
  const paused = await resumeEverywhere(route, 0, first, empty);
  const part = paused.content.parts.at(-1) as ToolPart;
  const answer = { questionId: part.approval!.questionId, approved: true };
  const answered = { ...part, approval: { ...part.approval!, answer } };
  const content = { ...paused.content, parts: [...paused.content.parts.slice(0, -1), answered] };
  const next = { ...first, runId: 'run-2', resumes: 'run-1', message: content };
  const complete = await resumeEverywhere(route, 1, next, { ...paused, content });
  expect(complete.content.parts).toMatchObject([
    { text: 'Let me 😀 see.' },
    { state: 'result' },
    { text: 'It is gone.' },
    { text: 'Bye.' },
  ]);
  expect(route.executed).toEqual(['remove']);
});
