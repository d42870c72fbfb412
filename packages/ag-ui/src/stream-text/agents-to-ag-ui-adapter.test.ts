import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { replay, schemaProblems } from '../../test/ag-ui-client.ts';
import { scenarios, tools } from '../../test/scenarios.ts';
import { decode } from '../../test/decode-events.ts';
import { collect, finish, majors, scriptedModel, streamedCall, text, type Turn } from '../../test/scripted-model.ts';
import { describeMessages } from '../../test/describe-messages.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { AgentsToAGUIAdapter, type AgentsToAGUIAdapterOptions } from './agents-to-ag-ui-adapter.ts';

const turns: Turn[] = [
  [...text('0', 'Let me ', 'see.'), ...streamedCall('c1', 'weather', '{"city":', '"Paris"}'), finish('tool-calls')],
  [...text('0', 'It is 21.'), finish()],
];

describe.each(majors)('AgentsToAGUIAdapter with $name', ({ ai }) => {
  const stream = (script: Turn[] = turns): ReturnType<typeof ai.streamText> =>
    ai.streamText({
      model: scriptedModel(script),
      prompt: 'Go.',
      tools,
      stopWhen: ai.stepCountIs(5),
      maxRetries: 0,
      onError: () => undefined,
    });
  const adapt = (
    options: AgentsToAGUIAdapterOptions = {},
    messages?: readonly object[],
    state?: unknown,
    script?: Turn[],
  ): Promise<AGUIEvent[]> =>
    collect(
      new AgentsToAGUIAdapter(options).adaptStreamToAGUI(stream(script), 'thread-1', 'run-2', messages, 'run-1', state),
    );

  it('puts text in "Generating Response", calls in "Executing Tools" and results after it', async () => {
    expect((await adapt()).map(summarize)).toEqual([
      'RUN_STARTED',
      'STEP_STARTED Generating Response',
      'TEXT_MESSAGE_CHUNK Let me ',
      'TEXT_MESSAGE_CHUNK see.',
      'STEP_FINISHED Generating Response',
      'STEP_STARTED Executing Tools',
      'TOOL_CALL_CHUNK',
      'TOOL_CALL_CHUNK {"city":',
      'TOOL_CALL_CHUNK "Paris"}',
      'STEP_FINISHED Executing Tools',
      'TOOL_CALL_RESULT c1',
      'STEP_STARTED Generating Response',
      'TEXT_MESSAGE_CHUNK It is 21.',
      'STEP_FINISHED Generating Response',
      'RUN_FINISHED',
    ]);
  });

  it('emits each result when its tool finishes, while another tool is still running', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const slow = ai.tool({ inputSchema: z.object({}), execute: () => released.then(() => 'late') });
    const quick = ai.tool({ inputSchema: z.object({}), execute: async () => 'early' });
    const result = ai.streamText({
      model: scriptedModel([
        [...streamedCall('c1', 'slow', '{}'), ...streamedCall('c2', 'quick', '{}'), finish('tool-calls')],
        [...text('0', 'Done.'), finish()],
      ]),
      prompt: 'Go.',
      tools: { slow, quick },
      stopWhen: ai.stepCountIs(5),
    });
    const seen: string[] = [];
    for await (const event of new AgentsToAGUIAdapter().adaptStreamToAGUI(result)) {
      seen.push(summarize(event));
      if (event.type === 'TOOL_CALL_RESULT' && event.toolCallId === 'c2') release();
    }
    const results = seen.filter((line) => line.startsWith('TOOL_CALL_RESULT'));
    expect(results).toEqual(['TOOL_CALL_RESULT c2', 'TOOL_CALL_RESULT c1']);
    expect(seen.indexOf('TOOL_CALL_RESULT c2')).toBeLessThan(seen.lastIndexOf('STEP_STARTED Generating Response'));
  });

  it('keeps usage and finish reason of every step for our own decoder', async () => {
    const { events: decoded } = decode((await adapt()).slice(1));
    const ends = decoded.filter((event) => event.type === 'step-end');
    expect(ends).toMatchObject([
      { finishReason: 'tool-calls', usage: [{ outputTokens: 5 }] },
      { finishReason: 'stop', usage: [{ outputTokens: 5 }] },
    ]);
  });

  it('writes START, ARGS and END for tool calls to a client that cannot continue a separated call', async () => {
    const events = await adapt({ protocolVersion: '0.0.57' });
    const types = events.map(({ type }) => type).filter((type) => type.startsWith('TOOL_CALL'));
    expect(types).toEqual(['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT']);
  });

  it('sets the id on every chunk, the name on call chunks, and a timestamp on every event', async () => {
    const events = await adapt({ now: () => 1_700_000_000_000 });
    for (const event of events) {
      expect(event.timestamp).toBe(1_700_000_000_000);
      expect(event.type === 'TEXT_MESSAGE_CHUNK' ? event.messageId : 'x').toBeTruthy();
      expect(event.type === 'TOOL_CALL_CHUNK' ? event.toolCallId && event.toolCallName : 'x').toBeTruthy();
    }
    expect(events.filter(({ type }) => type === 'TEXT_MESSAGE_CHUNK')).toHaveLength(3);
  });

  it('emits its input in RUN_STARTED and its result in RUN_FINISHED', async () => {
    const [first, ...rest] = await adapt();
    expect(first).toMatchObject({
      type: 'RUN_STARTED',
      threadId: 'thread-1',
      runId: 'run-2',
      parentRunId: 'run-1',
      protocolVersion: '1.0',
      input: { threadId: 'thread-1', runId: 'run-2', parentRunId: 'run-1', messages: [] },
    });
    expect(rest.at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: { type: 'success' },
      result: { text: 'It is 21.', finishReason: 'stop' },
    });
  });

  it.each([{ count: 0 }, null, 0, false])('emits the state %j', async (state) => {
    const events = await adapt({}, undefined, state);
    expect(events.filter(({ type }) => type === 'STATE_SNAPSHOT')).toMatchObject([{ snapshot: state }]);
  });

  it('emits no snapshots without state and messages', async () => {
    const types = (await adapt()).map(({ type }) => type);
    expect(types).not.toContain('STATE_SNAPSHOT');
    expect(types).not.toContain('MESSAGES_SNAPSHOT');
  });

  it.each([
    ['AG-UI', [{ id: 'u1', role: 'user', content: 'Go.' }]],
    ['model', [{ role: 'user', content: 'Go.' }]],
    ['UI', [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }]],
  ])('emits a messages snapshot that equals the client’s messages for %s messages', async (_, messages) => {
    const events = await adapt({ protocolVersion: '1.0' }, messages);
    expect(schemaProblems(events)).toEqual([]);
    const snapshot = events.findLast((event) => event.type === 'MESSAGES_SNAPSHOT');
    expect(snapshot?.messages[0]).toMatchObject({ role: 'user', content: 'Go.' });
    const without = events.filter(({ type }) => type !== 'MESSAGES_SNAPSHOT');
    const seen = await replay([events]);
    expect(seen).toMatchObject({ warnings: [] });
    expect(describeMessages(seen.messages)).toEqual(describeMessages((await replay([without])).messages));
  });

  it('allows foreign events between its own', async () => {
    const progress: AGUIEvent = { type: 'CUSTOM', name: 'progress', value: 1 };
    const events = (await adapt({ protocolVersion: '1.0' })).flatMap((event) => [event, progress]).slice(0, -1);
    const { messages, error, warnings } = await replay([events]);
    expect({ error, warnings }).toEqual({ error: undefined, warnings: [] });
    expect(describeMessages(messages)).toEqual(describeMessages((await replay([await adapt()])).messages));
  });

  it('emits one error for a failed stream and never throws', async () => {
    const failed = scenarios.find(({ name }) => name === 'error-mid-text')!;
    const events = await adapt({}, undefined, undefined, failed.turns);
    expect(events.filter(({ type }) => type.startsWith('RUN_')).map(({ type }) => type)).toEqual([
      'RUN_STARTED',
      'RUN_ERROR',
    ]);
    expect(events.at(-1)).toMatchObject({ message: 'The line went dead.', code: 'STREAM_ERROR' });
    const nothing = await collect(new AgentsToAGUIAdapter().adaptStreamToAGUI({} as never));
    expect(nothing.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'ADAPTER_ERROR' });
  });

  it.each([
    [undefined, { type: 'RUN_ERROR', code: 'ABORTED' }],
    ['1.0', { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } }],
  ])('emits the terminal event of a stopped run for version %s', async (protocolVersion, last) => {
    const stop = new AbortController();
    const script: Turn[] = [{ parts: text('0', 'Hel').slice(0, 2), last: 'hang' }];
    const options = { signal: stop.signal, ...(protocolVersion !== undefined && { protocolVersion }) };
    const events: AGUIEvent[] = [];
    for await (const event of new AgentsToAGUIAdapter(options).adaptStreamToAGUI(stream(script))) {
      events.push(event);
      if (event.type === 'TEXT_MESSAGE_CHUNK') stop.abort();
    }
    expect(events.at(-1)).toMatchObject(last);
  });
});

function summarize(event: AGUIEvent): string {
  switch (event.type) {
    case 'STEP_STARTED':
    case 'STEP_FINISHED':
      return `${event.type} ${event.stepName}`;
    case 'TEXT_MESSAGE_CHUNK':
    case 'TOOL_CALL_CHUNK':
      return event.delta === undefined ? event.type : `${event.type} ${event.delta}`;
    case 'TOOL_CALL_RESULT':
      return `${event.type} ${event.toolCallId}`;
    default:
      return event.type;
  }
}
