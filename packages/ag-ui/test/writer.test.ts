import { HttpAgent } from '@ag-ui/client';
import type { Message } from '@ag-ui/core';
import { Agent } from '@intertie/agent';
import { modelSource } from '@intertie/ai-sdk';
import { check } from '@intertie/conformance';
import { tapeSource, type AgentEvent, type AgentSource, type CanonicalMessage, type Loss } from '@intertie/core';
import { createResumePoint } from '@intertie/core/internal';
import { tool, type ToolSet } from 'ai';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { serve } from '../../ai-sdk/test/serve.ts';
import { readAll } from '../../core/test/read-all.ts';
import { runControl } from '../../core/test/run-control.ts';
import { runInput } from '../../core/test/run-input.ts';
import { agUi } from '../src/ag-ui-protocol.ts';
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
const userMessage: Message = { id: 'u1', role: 'user', content: 'Go.' };
const input: AGUIRunInput = { threadId: 'thread-1', runId: 'run-1', messages: [userMessage], protocolVersion: '1.0' };

/** Creates a tool that writes every kind of event and then waits for `proceed`. */
function searching(writer: AGUIWriter, proceed: Promise<unknown> = Promise.resolve()): ToolSet {
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
        await proceed;
        return 'one';
      },
    }),
  };
}

/** Returns the types of events about the call and the run, in order. */
function getTypes(events: readonly AGUIEvent[]): string[] {
  const pattern = /^(?:TOOL_CALL|CUSTOM|ACTIVITY|STATE|RAW|RUN)/;
  return events.flatMap(({ type }) => (pattern.test(type) ? [type] : []));
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

/** Resolves when the last event that the tool writes has been received. */
function watching(): { proceed: Promise<void>; see(event: AGUIEvent): void } {
  let resolve!: () => void;
  const proceed = new Promise<void>((done) => void (resolve = done));
  return { proceed, see: ({ type }) => void (type === 'RAW' && resolve()) };
}

async function readEvents(response: Response, see: (event: AGUIEvent) => void): Promise<AGUIEvent[]> {
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

describe.each(majors)('a writing tool with $name', ({ ai }) => {
  const ask = (tools: ToolSet): StreamTextLike =>
    ai.streamText({ model: scriptedModel(turns), prompt: 'Go.', tools, stopWhen: ai.stepCountIs(3) });

  async function expectValid(events: AGUIEvent[]): Promise<void> {
    expect(schemaProblems(events)).toEqual([]);
    expect(check(agUi, events).violations).toEqual([]);
    const { messages, state, warnings, error } = await replay([events], [userMessage]);
    expect({ error, warnings, state }).toEqual({ error: undefined, warnings: [], state: { searches: 1 } });
    expect(messages.filter(({ role }) => role === 'activity')).toMatchObject([
      { id: 'act-1', activityType: 'SEARCH', content: { query: 'x', found: ['one'] } },
    ]);
  }

  it('sends written events immediately through toAGUI', async () => {
    const writer = createAGUIWriter();
    const { proceed, see } = watching();
    const tools = searching(writer, proceed);
    const events: AGUIEvent[] = [];
    for await (const event of toAGUI(ask(tools), { input, tools, writer })) {
      events.push(event);
      see(event);
    }
    expect(getTypes(events)).toEqual(whole);
    expect(events.find(({ type }) => type === 'CUSTOM')).toMatchObject({
      name: 'acme.progress',
      value: { percent: 50 },
    });
    expect(events.find(({ type }) => type === 'RAW')).toMatchObject({ event: { hits: '1' }, source: 'engine' });
    expect(await verify(events)).toBeUndefined();
    await expectValid(events);
  });

  it('sends written events immediately through the adapter, between its chunks', async () => {
    const writer = createAGUIWriter();
    const { proceed, see } = watching();
    const tools = searching(writer, proceed);
    const events: AGUIEvent[] = [];
    const adapter = new AgentsToAGUIAdapter({ protocolVersion: '1.0', tools, writer });
    for await (const event of adapter.adaptStreamToAGUI(ask(tools), 'thread-1', 'run-1', [userMessage])) {
      events.push(event);
      see(event);
    }
    expect(getTypes(events).filter((type) => !type.startsWith('TOOL_CALL'))).toEqual([
      'RUN_STARTED',
      ...written,
      'RUN_FINISHED',
    ]);
    await expectValid(events);
  });

  it('sends written events immediately through a response and a socket', async () => {
    const one = createAGUIWriter();
    const first = watching();
    const response = toAGUIResponse(ask(searching(one, first.proceed)), { input, writer: one });
    expect(getTypes(await readEvents(response, first.see))).toEqual(whole);
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
    await pipeAGUI(socket, toAGUI(ask(searching(other, second.proceed)), { input, writer: other }));
    expect(getTypes(events)).toEqual(whole);
  });

  it('sends written events immediately through createAGUIHandler, with one writer per run', async () => {
    const { proceed, see } = watching();
    const source = withAGUIWriter((writer) =>
      modelSource(scriptedModel(turns), { tools: searching(writer, proceed), streamText: ai.streamText }),
    );
    const handler = createAGUIHandler(source);
    const post = (runId: string): Promise<Response> =>
      handler(new Request('http://localhost/', { method: 'POST', body: JSON.stringify({ ...input, runId }) }));
    const events = await readEvents(await post('run-1'), see);
    expect(getTypes(events)).toEqual(whole);
    await expectValid(events);
  });

  it('places written events between call and result even if the client reads slowly', async () => {
    const writer = createAGUIWriter();
    const tools = searching(writer);
    const reader = toAGUI(ask(tools), { input, tools, writer }).getReader();
    const events: AGUIEvent[] = [];
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      const { done, value } = await reader.read();
      if (done) break;
      events.push(value);
    }
    expect(getTypes(events)).toEqual(whole);
  });

  it('does not interrupt open text and arguments', async () => {
    const writer = createAGUIWriter();
    const events: AGUIEvent[] = [];
    const tools = searching(writer);
    for await (const event of toAGUI(ask(tools), { input, tools, writer })) {
      events.push(event);
      if (event.type.endsWith('_CONTENT') || event.type.endsWith('_ARGS')) writer.custom('acme.noted', event.type);
    }
    expect(await verify(events)).toBeUndefined();
    expect(events.filter((event) => event.type === 'CUSTOM' && event.name === 'acme.noted')).toHaveLength(3);
    await expectValid(events);
  });
});

describe('createAGUIWriter', () => {
  const { ai } = majors[0]!;
  const hi = (): StreamTextLike =>
    ai.streamText({ model: scriptedModel([[...text('0', 'Hi'), finish()]]), prompt: 'Go.' });

  it('sends events written before the run first', async () => {
    const writer = createAGUIWriter();
    writer.custom('acme.first', 1);
    writer.state({ count: 0 });
    const types = (await collect(toAGUI(hi(), { input, writer }))).map(({ type }) => type);
    expect(types.slice(0, 3)).toEqual(['RUN_STARTED', 'CUSTOM', 'STATE_SNAPSHOT']);
  });

  it('returns false after the end of the run and reports the event as a loss', async () => {
    const losses: Loss[] = [];
    const writer = createAGUIWriter();
    const events = await collect(toAGUI(hi(), { input, writer, onLoss: (loss) => losses.push(loss) }));
    expect(events.at(-1)?.type).toBe('RUN_FINISHED');
    expect(writer.activity('late', 'PLAN', {})).toBe(false);
    expect(losses).toMatchObject([{ kind: 'late', what: 'data', id: 'late' }]);
  });

  it('returns false after the reader has left and reports the event as a loss', async () => {
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

  it('leaves out patches that do not apply and reports them', async () => {
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

  it('fails a second run that uses the same writer', async () => {
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

  it('emits written events before the end of a stopped run', async () => {
    const stop = new AbortController();
    const writer = createAGUIWriter();
    const turn: Turn = { parts: text('0', 'Hel').slice(0, 2), last: 'hang' };
    const hanging = ai.streamText({ model: scriptedModel([turn]), prompt: 'Go.' });
    const events: AGUIEvent[] = [];
    for await (const event of toAGUI(hanging, { input, writer, signal: stop.signal })) {
      events.push(event);
      if (event.type !== 'TEXT_MESSAGE_CONTENT') continue;
      writer.custom('acme.stopping', 1);
      stop.abort();
    }
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'cancelled' } });
    expect(events.filter(({ type }) => type === 'CUSTOM')).toHaveLength(1);
  });
});

describe('a writing tool in a durable run', () => {
  it('passes a state of a resumed source on, which is not the state at the start of the run', async () => {
    const script: AgentEvent[] = [
      { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: 'Hello' },
      { type: 'text-end', id: 'a' },
      { type: 'state-snapshot', state: { step: 1 } },
      { type: 'run-end', outcome: 'complete' },
    ];
    const tape = { header: { tape: 1 as const, dialect: 'canonical' }, items: script.map((item) => ({ t: 0, item })) };
    const source = withAGUIWriter(() => tapeSource(tape, { speed: Infinity }));
    const run = runInput({ state: { step: 0 } });
    const undisturbed = await readAll(source.run(run, runControl()));
    const { messageId: id, threadId } = run;
    const content = { format: 2 as const, parts: [] };
    const stored: CanonicalMessage = { id, threadId, role: 'assistant', type: 'text', content, createdAt: new Date(0) };
    for (let length = 1; length < undisturbed.length; length += 1) {
      const from = createResumePoint(stored, undisturbed.slice(0, length));
      const rest = await readAll(source.resume!({ ...run, epoch: 2 }, from, runControl()));
      expect(rest.map(({ type }) => type)).toEqual(undisturbed.slice(length).map(({ type }) => type));
    }
  });

  it('stores written events for clients that join after an approval', async () => {
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
    const client = new HttpAgent({ url, threadId: 'thread-1', initialMessages: [userMessage] });
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
    const other = new HttpAgent({ url, threadId: 'thread-1', initialMessages: [userMessage] });
    await other.runAgent({ runId: 'run-1' });
    const activities = (messages: Message[]): Message[] => messages.filter(({ role }) => role === 'activity');
    expect(activities(other.messages)).toMatchObject([{ id: 'act-1', content: { found: ['one'] } }]);
    expect([other.state, activities(client.messages).length]).toEqual([{ searches: 1 }, 1]);
    expect(warn).not.toHaveBeenCalled();
  });
});
