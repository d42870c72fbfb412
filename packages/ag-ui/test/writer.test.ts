import { HttpAgent } from '@ag-ui/client';
import type { Message } from '@ag-ui/core';
import { Agent } from '@intertie/agent';
import { modelSource } from '@intertie/ai-sdk';
import { check } from '@intertie/conformance';
import type { AgentSource, Loss } from '@intertie/core';
import { tool, type ToolSet } from 'ai';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { serve } from '../../ai-sdk/test/serve.ts';
import { agUi } from '../src/check/ag-ui-dialect.ts';
import type { AGUIEvent, AGUIRunInput } from '../src/shared/ag-ui-event.ts';
import { createAGUIWriter, type AGUIWriter } from '../src/stream-text/ag-ui-writer.ts';
import { AgentsToAGUIAdapter } from '../src/stream-text/agents-to-ag-ui-adapter.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { pipeAGUI, type SocketLike } from '../src/wire/pipe-ag-ui.ts';
import { toAGUIResponse } from '../src/stream-text/to-ag-ui-response.ts';
import { toAGUI, type StreamTextLike } from '../src/stream-text/to-ag-ui.ts';
import { withAGUIWriter } from '../src/stream-text/with-ag-ui-writer.ts';
import { replay, schemaProblems, verify } from './ag-ui-client.ts';
import { collect, finish, majors, scriptedModel, streamedCall, text, type Turn } from './scripted-model.ts';

const turns: Turn[] = [
  [...text('0', 'I look.'), ...streamedCall('c1', 'search', '{"query":"x"}'), finish('tool-calls')],
  [...text('0', 'Found.'), finish()],
];
const asked: Message = { id: 'u1', role: 'user', content: 'Go.' };
const input: AGUIRunInput = { threadId: 'thread-1', runId: 'run-1', messages: [asked], protocolVersion: '1.0' };

/** A tool that writes all there is to write, and goes on when it is let. */
function searching(writer: AGUIWriter, goOn: Promise<unknown> = Promise.resolve()): ToolSet {
  return {
    search: tool({
      inputSchema: z.object({ query: z.string() }),
      async execute({ query }, call) {
        writer.custom('acme.progress', { percent: 50 }, call);
        const found: string[] = [];
        writer.activity('act-1', 'SEARCH', { query, found }, call);
        found.push('written before this was');
        writer.patchActivity('act-1', [{ op: 'add', path: '/found/-', value: 'one' }], call);
        writer.patchState([{ op: 'add', path: '/searches', value: 1 }], call);
        writer.raw({ hits: 1n }, 'engine', call);
        await goOn;
        return 'one';
      },
    }),
  };
}

/** What was told of the call, in order. */
function toldOf(events: readonly AGUIEvent[]): string[] {
  const told = /^(?:TOOL_CALL|CUSTOM|ACTIVITY|STATE|RAW|RUN)/;
  return events.flatMap(({ type }) => (told.test(type) ? [type] : []));
}
const written = ['CUSTOM', 'ACTIVITY_SNAPSHOT', 'ACTIVITY_DELTA', 'STATE_SNAPSHOT', 'STATE_DELTA', 'RAW'];
const whole = [
  'RUN_STARTED',
  'TOOL_CALL_START',
  'TOOL_CALL_ARGS',
  'TOOL_CALL_END',
  ...written,
  'TOOL_CALL_RESULT',
  'RUN_FINISHED',
];

/** Resolves when the last thing that the tool writes has been told. */
function watching(): { goOn: Promise<void>; see(event: AGUIEvent): void } {
  let resolve!: () => void;
  const goOn = new Promise<void>((done) => void (resolve = done));
  return { goOn, see: ({ type }) => void (type === 'RAW' && resolve()) };
}

async function framesOf(response: Response, see: (event: AGUIEvent) => void): Promise<AGUIEvent[]> {
  const events: AGUIEvent[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of response.body! as unknown as AsyncIterable<Uint8Array>) {
    const frames = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
    rest = frames.pop()!;
    for (const frame of frames) if (frame.startsWith('data: ')) events.push(JSON.parse(frame.slice(6)) as AGUIEvent);
    events.forEach(see);
  }
  return events;
}

afterEach(() => vi.restoreAllMocks());

describe.each(majors)('a tool of $name that writes while it works', ({ ai }) => {
  const ask = (tools: ToolSet): StreamTextLike =>
    ai.streamText({ model: scriptedModel(turns), prompt: 'Go.', tools, stopWhen: ai.stepCountIs(3) });

  async function isSound(events: AGUIEvent[]): Promise<void> {
    expect(schemaProblems(events)).toEqual([]);
    expect(check(agUi, events).violations).toEqual([]);
    const { messages, state, warnings, error } = await replay([events], [asked]);
    expect({ error, warnings, state }).toEqual({ error: undefined, warnings: [], state: { searches: 1 } });
    expect(messages.filter(({ role }) => role === 'activity')).toMatchObject([
      { id: 'act-1', activityType: 'SEARCH', content: { query: 'x', found: ['one'] } },
    ]);
  }

  it('is heard at once, through toAGUI', async () => {
    const writer = createAGUIWriter();
    const { goOn, see } = watching();
    const tools = searching(writer, goOn);
    const events: AGUIEvent[] = [];
    for await (const event of toAGUI(ask(tools), { input, tools, writer })) {
      events.push(event);
      see(event);
    }
    expect(toldOf(events)).toEqual(whole);
    expect(events.find(({ type }) => type === 'CUSTOM')).toMatchObject({
      name: 'acme.progress',
      value: { percent: 50 },
    });
    expect(events.find(({ type }) => type === 'RAW')).toMatchObject({ event: { hits: '1' }, source: 'engine' });
    expect(await verify(events)).toBeUndefined();
    await isSound(events);
  });

  it('is heard at once, through the adapter, between its chunks', async () => {
    const writer = createAGUIWriter();
    const { goOn, see } = watching();
    const tools = searching(writer, goOn);
    const events: AGUIEvent[] = [];
    const adapter = new AgentsToAGUIAdapter({ protocolVersion: '1.0', tools, writer });
    for await (const event of adapter.adaptStreamToAGUI(ask(tools), 'thread-1', 'run-1', [asked])) {
      events.push(event);
      see(event);
    }
    expect(toldOf(events).filter((type) => !type.startsWith('TOOL_CALL'))).toEqual([
      'RUN_STARTED',
      ...written,
      'RUN_FINISHED',
    ]);
    await isSound(events);
  });

  it('is heard at once, through a response and a socket', async () => {
    const one = createAGUIWriter();
    const first = watching();
    const response = toAGUIResponse(ask(searching(one, first.goOn)), { input, writer: one });
    expect(toldOf(await framesOf(response, first.see))).toEqual(whole);
    const other = createAGUIWriter();
    const second = watching();
    const events: AGUIEvent[] = [];
    const socket: SocketLike = {
      addEventListener: () => undefined,
      send(frame) {
        events.push(JSON.parse(frame) as AGUIEvent);
        second.see(events.at(-1)!);
      },
    };
    await pipeAGUI(socket, toAGUI(ask(searching(other, second.goOn)), { input, writer: other }));
    expect(toldOf(events)).toEqual(whole);
  });

  it('is heard at once, behind a whole endpoint, with a writer for every run', async () => {
    const { goOn, see } = watching();
    const source = withAGUIWriter((writer) =>
      modelSource(scriptedModel(turns), { tools: searching(writer, goOn), streamText: ai.streamText }),
    );
    const handler = createAGUIHandler(source);
    const post = (runId: string): Promise<Response> =>
      handler(new Request('http://localhost/', { method: 'POST', body: JSON.stringify({ ...input, runId }) }));
    const events = await framesOf(await post('run-1'), see);
    expect(toldOf(events)).toEqual(whole);
    await isSound(events);
  });

  it('comes after its call and before its result, also where the client reads slowly', async () => {
    const writer = createAGUIWriter();
    const tools = searching(writer);
    const reader = toAGUI(ask(tools), { input, tools, writer }).getReader();
    const events: AGUIEvent[] = [];
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- the model and the tool run ahead, as far as they may
      await new Promise((resolve) => setTimeout(resolve, 2));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { done, value } = await reader.read();
      if (done) break;
      events.push(value);
    }
    expect(toldOf(events)).toEqual(whole);
  });

  it('does not break off what is being said', async () => {
    const writer = createAGUIWriter();
    const events: AGUIEvent[] = [];
    const tools = searching(writer);
    for await (const event of toAGUI(ask(tools), { input, tools, writer })) {
      events.push(event);
      if (event.type.endsWith('_CONTENT') || event.type.endsWith('_ARGS')) writer.custom('acme.noted', event.type);
    }
    expect(await verify(events)).toBeUndefined();
    expect(events.filter((event) => event.type === 'CUSTOM' && event.name === 'acme.noted')).toHaveLength(3);
    await isSound(events);
  });
});

describe('a writer', () => {
  const { ai } = majors[0]!;
  const hi = (): StreamTextLike =>
    ai.streamText({ model: scriptedModel([[...text('0', 'Hi'), finish()]]), prompt: 'Go.' });

  it('that wrote before the run began is heard first', async () => {
    const writer = createAGUIWriter();
    writer.custom('acme.first', 1);
    writer.state({ count: 0 });
    const types = (await collect(toAGUI(hi(), { input, writer }))).map(({ type }) => type);
    expect(types.slice(0, 3)).toEqual(['RUN_STARTED', 'CUSTOM', 'STATE_SNAPSHOT']);
  });

  it('is told that nobody hears it when the run is over, and the ledger says what was not told', async () => {
    const losses: Loss[] = [];
    const writer = createAGUIWriter();
    const events = await collect(toAGUI(hi(), { input, writer, onLoss: (loss) => losses.push(loss) }));
    expect(events.at(-1)?.type).toBe('RUN_FINISHED');
    expect(writer.activity('late', 'PLAN', {})).toBe(false);
    expect(losses).toMatchObject([{ kind: 'late', what: 'data', id: 'late' }]);
  });

  it('is told so when its reader has left', async () => {
    const losses: Loss[] = [];
    const writer = createAGUIWriter();
    const stream = toAGUI(hi(), { input, writer, onLoss: (loss) => losses.push(loss) });
    const reader = stream.getReader();
    await reader.read();
    expect(writer.custom('acme.heard', 1)).toBe(true);
    await reader.cancel();
    expect(writer.state(2)).toBe(false);
    expect(losses).toMatchObject([{ kind: 'late', what: 'state-snapshot' }]);
  });

  it('writes nothing that breaks the run: what does not fit is left out, and reported', async () => {
    const losses: Loss[] = [];
    const writer = createAGUIWriter();
    writer.patchState([{ op: 'remove', path: '/nothing' }]);
    writer.patchActivity('unknown', []);
    writer.activity('taken', 'PLAN', {});
    writer.custom('acme.circle', losses);
    const events = await collect(toAGUI(hi(), { input, writer, onLoss: (loss) => losses.push(loss) }));
    expect(await verify(events)).toBeUndefined();
    expect(check(agUi, events).violations).toEqual([]);
    expect(losses.map(({ what }) => what)).toEqual(['state-delta', 'data-delta']);
  });

  it('is for one run, and a second one fails with the reason', async () => {
    const writer = createAGUIWriter();
    const adapter = new AgentsToAGUIAdapter({ writer });
    const first = await collect(adapter.adaptStreamToAGUI(hi()));
    expect(first.at(-1)?.type).toBe('RUN_FINISHED');
    const second = await collect(adapter.adaptStreamToAGUI(hi()));
    expect(second.at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      code: 'ADAPTER_ERROR',
      message: expect.stringContaining('createAGUIWriter()'),
    });
  });

  it('says how the run was stopped after the last that was written', async () => {
    const stop = new AbortController();
    const writer = createAGUIWriter();
    const turn: Turn = { parts: text('0', 'Hel').slice(0, 2), last: 'hang' };
    const silent = ai.streamText({ model: scriptedModel([turn]), prompt: 'Go.' });
    const events: AGUIEvent[] = [];
    for await (const event of toAGUI(silent, { input, writer, signal: stop.signal })) {
      events.push(event);
      if (event.type !== 'TEXT_MESSAGE_CONTENT') continue;
      writer.custom('acme.stopping', 1);
      stop.abort();
    }
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'cancelled' } });
    expect(events.filter(({ type }) => type === 'CUSTOM')).toHaveLength(1);
  });
});

describe('what tools write into runs that are kept', () => {
  it('is there for whoever joins later, and goes on after an approval', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const source: AgentSource = withAGUIWriter((writer) =>
      modelSource(
        scriptedModel([
          [...streamedCall('c1', 'search', '{"query":"x"}'), finish('tool-calls')],
          [...text('0', 'Found.'), finish()],
        ]),
        { tools: { search: { ...searching(writer).search!, needsApproval: true } as ToolSet[string] } },
      ),
    );
    const agent = new Agent({ source });
    const { url, close } = await serve(createAGUIHandler(agent));
    onTestFinished(async () => {
      await close();
      await agent.close();
    });
    const client = new HttpAgent({ url, threadId: 'thread-1', initialMessages: [asked] });
    await client.runAgent({ runId: 'run-1' });
    const [interrupt] = client.pendingInterrupts;
    const resume = [{ interruptId: interrupt!.id, status: 'resolved' as const, payload: { approved: true } }];
    const names: string[] = [];
    await client.runAgent(
      { runId: 'run-2', resume },
      {
        onCustomEvent: ({ event }) => void names.push(event.name),
        onToolCallResultEvent: () => void names.push('result'),
      },
    );
    expect(names.filter((name) => !name.startsWith('intertie.'))).toEqual(['acme.progress', 'result']);
    const other = new HttpAgent({ url, threadId: 'thread-1', initialMessages: [asked] });
    await other.runAgent({ runId: 'run-1' });
    const activities = (messages: Message[]): Message[] => messages.filter(({ role }) => role === 'activity');
    expect(activities(other.messages)).toMatchObject([{ id: 'act-1', content: { found: ['one'] } }]);
    expect([other.state, activities(client.messages).length]).toEqual([{ searches: 1 }, 1]);
    expect(warn).not.toHaveBeenCalled();
  });
});
