import type { Message } from '@ag-ui/core';
import { modelSource } from '@intertie/ai-sdk';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../ai-sdk/test/serve.ts';
import type { AGUIEvent, AGUIRunInput } from '../src/shared/ag-ui-event.ts';
import { AgentsToAGUIAdapter } from '../src/stream-text/agents-to-ag-ui-adapter.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { fromAGUIMessages } from '../src/messages/from-ag-ui-messages.ts';
import { toAGUI } from '../src/stream-text/to-ag-ui.ts';
import { toAGUIResponse } from '../src/stream-text/to-ag-ui-response.ts';
import { replay } from './ag-ui-client.ts';
import { frameEvents } from './frame-events.ts';
import { tools } from './scenarios.ts';
import { collect, finish, majors, scriptedModel, streamedCall, text, type Turn } from './scripted-model.ts';
import { describeMessages } from './describe-messages.ts';

const paris = '{"city":"Paris"}';
const turns: Turn[] = [
  [...text('0', 'Let me see.'), ...streamedCall('c1', 'weather', paris), finish('tool-calls')],
  [...text('0', 'It is ', 'warm.'), finish()],
];
const inputMessages: Message[] = [
  { id: 'u1', role: 'user', content: 'Is it?' },
  { id: 'a1', role: 'assistant', content: 'Yes.' },
  { id: 'u2', role: 'user', content: 'And in Paris?' },
];
const input: AGUIRunInput = { threadId: 'thread-1', runId: 'run-2', messages: inputMessages, protocolVersion: '1.0' };

async function readEvents(response: Response): Promise<AGUIEvent[]> {
  return frameEvents(await response.text());
}

afterEach(() => vi.useRealTimers());

describe.each(majors)('documented usage with $name', ({ ai }) => {
  const expected = [
    'text=Yes.',
    'text=Let me see.',
    `call:c1=${paris}`,
    'result:c1={"city":"Paris","degrees":21}',
    'text=It is warm.',
  ];
  const ask = (): ReturnType<typeof ai.streamText> =>
    ai.streamText({
      model: scriptedModel(turns),
      messages: fromAGUIMessages(inputMessages),
      tools,
      stopWhen: ai.stepCountIs(5),
    });

  it('sends the adapter’s events over a socket, with events of a wrapper in between', async () => {
    async function* withProgress(
      ...given: Parameters<AgentsToAGUIAdapter['adaptStreamToAGUI']>
    ): AsyncGenerator<AGUIEvent> {
      for await (const event of new AgentsToAGUIAdapter({ protocolVersion: '1.0' }).adaptStreamToAGUI(...given)) {
        yield event;
        if (event.type !== 'STEP_STARTED') continue;
        yield { type: 'CUSTOM', name: 'progress', value: { step: event.stepName }, timestamp: Date.now() };
      }
    }
    const sent: string[] = [];
    const args = [ask(), 'thread-1', 'run-2', inputMessages, 'run-1', { count: 0 }] as const;
    for await (const event of withProgress(...args)) sent.push(JSON.stringify(event));
    const events = sent.map((frame) => JSON.parse(frame) as AGUIEvent);
    expect(events[0]).toMatchObject({
      type: 'RUN_STARTED',
      threadId: 'thread-1',
      runId: 'run-2',
      parentRunId: 'run-1',
      input: { messages: inputMessages, state: { count: 0 } },
    });
    expect(events.at(-1)).toMatchObject({ result: { text: 'It is warm.', finishReason: 'stop' } });
    const { messages, state, warnings } = await replay([events], inputMessages);
    expect([describeMessages(messages), state, warnings]).toEqual([expected, { count: 0 }, []]);
  });

  it('responds to a route with toAGUIResponse', async () => {
    const response = toAGUIResponse(ask(), { input, tools, headers: { 'x-mine': 'yes' } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'x-mine': 'yes',
    });
    const { messages, warnings } = await replay([await readEvents(response)], inputMessages);
    expect([describeMessages(messages), warnings]).toEqual([expected, []]);
  });

  it('serves an endpoint with createAGUIHandler', async () => {
    const source = modelSource(scriptedModel(turns), { tools, streamText: ai.streamText });
    const served = await serve(createAGUIHandler(source));
    onTestFinished(() => served.close());
    const response = await fetch(served.url, { method: 'POST', body: JSON.stringify(input) });
    const { messages, warnings } = await replay([await readEvents(response)], inputMessages);
    expect([describeMessages(messages), warnings]).toEqual([expected, []]);
  });

  it('continues after an approval from the client', async () => {
    const first = ai.streamText({
      model: scriptedModel([[...streamedCall('c1', 'remove', paris), finish('tool-calls')]]),
      prompt: 'Go.',
      tools,
    });
    const { messages, interrupts } = await replay([await collect(toAGUI(first, { input, tools }))], inputMessages);
    const resume = [{ interruptId: interrupts[0]!.id, status: 'resolved' as const, payload: { approved: true } }];
    const second = ai.streamText({
      model: scriptedModel([[...text('0', 'Gone.'), finish()]]),
      messages: fromAGUIMessages(messages, { resume }),
      tools,
    });
    const again = { ...input, runId: 'run-3', messages, resume };
    const events = await collect(toAGUI(second, { input: again, tools }));
    const after = await replay([events], messages);
    expect(describeMessages(after.messages).slice(1)).toEqual([`call:c1=${paris}`, 'result:c1=removed', 'text=Gone.']);
  });
});

describe('fromAGUIMessages', () => {
  it('converts texts, files, calls with results, and signed reasoning', () => {
    const signed = JSON.stringify({ anthropic: { signature: 'sig' } });
    const messages = fromAGUIMessages([
      { id: 's', role: 'developer', content: 'Be brief.' },
      {
        id: 'u',
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } },
          { type: 'binary', mimeType: 'application/pdf', url: 'https://example.com/a.pdf' },
        ],
      },
      { id: 'r', role: 'reasoning', content: 'Hm.', encryptedValue: signed },
      {
        id: 'a',
        role: 'assistant',
        toolCalls: [{ id: 'c', type: 'function', function: { name: 'act', arguments: '{"n":1}' } }],
      },
      { id: 't', role: 'tool', toolCallId: 'c', content: '', error: 'No.' },
      { id: 'x', role: 'activity', activityType: 'PLAN', content: {} },
    ]);
    expect(messages).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ text: 'See' }, { mediaType: 'image/png' }, { mediaType: 'application/pdf' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'sig' } } },
          { type: 'tool-call', toolName: 'act', input: { n: 1 } },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', output: { type: 'error-text', value: 'No.' } }] },
    ]);
  });
});

describe('createAGUIHandler', () => {
  const failing = modelSource(scriptedModel([{ throws: new Error('The key sk-123 is wrong.') }]));
  const post = (): Request => new Request('http://localhost/', { method: 'POST', body: JSON.stringify(input) });

  it('replaces the text of errors by errorText', async () => {
    const response = await createAGUIHandler(failing, { errorText: () => 'Something went wrong.' })(post());
    const whole = await response.clone().text();
    expect((await readEvents(response)).at(-1)).toMatchObject({ type: 'RUN_ERROR', message: 'Something went wrong.' });
    expect(whole).not.toContain('sk-123');
  });

  it('sends keep-alive comments while no events arrive', async () => {
    vi.useFakeTimers();
    const hanging = modelSource(scriptedModel([{ parts: [], last: 'hang' }]));
    const response = await createAGUIHandler(hanging, { keepAliveMs: 1000 })(post());
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    let read = '';
    while (!read.includes(': keep-alive\n\n')) {
      const next = reader.read();
      await vi.advanceTimersByTimeAsync(2500);
      read += decoder.decode((await next).value);
    }
    expect(read.startsWith('data: {"type":"RUN_STARTED"')).toBe(true);
    await reader.cancel();
  });
});
