import { modelSource } from '@intertie/ai-sdk';
import type { AgentEvent, AgentSource } from '@intertie/core';
import type { ChatInit, UIMessage } from 'ai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AGUIChatTransport } from '../src/client/ag-ui-chat-transport.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { tools } from './scenarios.ts';
import { finish, reasoning, scriptedModel, streamedCall, text, type Turn } from './scripted-model.ts';
import { chatMajors, settled, shown } from '../../ai-sdk/test/chats.ts';
import { complete, scriptedSource, textEvents } from '../../ai-sdk/test/scripted-source.ts';
import { serve } from '../../ai-sdk/test/serve.ts';

const paris = '{"city":"Paris"}';
const picture = 'data:image/png;base64,aGk=';

type Part = {
  type: string;
  text?: string;
  toolCallId?: string;
  state?: string;
  output?: unknown;
  approval?: { id: string };
};

describe.each(chatMajors)('$name and an AG-UI agent over HTTP', ({ major, ai, createHookChat }) => {
  type Chat = ReturnType<typeof createHookChat>;

  async function chatFor(source: AgentSource, init: Partial<ChatInit<UIMessage>> = {}): Promise<Chat> {
    const served = await serve(createAGUIHandler(source));
    onTestFinished(() => served.close());
    return chatAt(served.url, init);
  }

  const chatAt = (url: string, init: Partial<ChatInit<UIMessage>> = {}): Chat => {
    const locate = { name: 'locate', description: 'Where the user is', inputSchema: { type: 'object' } };
    const transport = new AGUIChatTransport({ url, version: major, prepare: () => ({ tools: [locate] }) });
    return createHookChat({
      id: 'thread-1',
      transport: transport as never,
      sendAutomaticallyWhen: (options) =>
        ai.lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
        ai.lastAssistantMessageIsCompleteWithToolCalls(options),
      ...init,
    });
  };

  const chatWith = (...turns: Turn[]): Promise<Chat> =>
    chatFor(modelSource(scriptedModel(turns), { tools, streamText: ai.streamText }));

  const getParts = (chat: Chat): Part[] => shown(chat.messages.at(-1)) as unknown as Part[];
  const describeParts = (chat: Chat): string[] =>
    getParts(chat).flatMap(({ type, text: content, toolCallId, state, output }) => {
      if (content !== undefined) return [`${type}=${content}`];
      return toolCallId === undefined ? [] : [`${toolCallId} ${state} ${JSON.stringify(output)}`];
    });

  it('shows texts, reasoning and tools in order and sends them back', async () => {
    const chat = await chatWith(
      [
        ...reasoning('0', 'Hm.'),
        ...text('1', 'Let me see.'),
        ...streamedCall('c1', 'weather', paris),
        finish('tool-calls'),
      ],
      [...text('0', 'It is 21.'), finish()],
    );
    await chat.sendMessage({ text: 'Go.' });
    expect(chat.error).toBeUndefined();
    const once = [
      'reasoning=Hm.',
      'text=Let me see.',
      'c1 output-available {"city":"Paris","degrees":21}',
      'text=It is 21.',
    ];
    expect(describeParts(chat)).toEqual(once);
    await chat.sendMessage({ text: 'Again.' });
    expect(chat.error).toBeUndefined();
    expect(describeParts(chat)).toEqual(['text=It is 21.']);
  });

  it('executes a tool of the page', async () => {
    const chat = await chatWith(
      [...streamedCall('c1', 'locate', '{}'), finish('tool-calls')],
      [...text('0', 'You are in Rome.'), finish()],
    );
    await chat.sendMessage({ text: 'Where am I?' });
    await chat.addToolOutput({ tool: 'locate' as never, toolCallId: 'c1', output: 'Rome' });
    await settled(chat);
    expect(describeParts(chat)).toEqual(['c1 output-available "Rome"', 'text=You are in Rome.']);
  });

  it.each([
    [true, 'c1 output-available "removed"'],
    [false, 'c1 output-denied undefined'],
  ])('requests an approval and continues with %s', async (approved, result) => {
    const chat = await chatWith(
      [...streamedCall('c1', 'remove', paris), finish('tool-calls')],
      [...text('0', 'Well.'), finish()],
    );
    await chat.sendMessage({ text: 'Remove it.' });
    const asked = getParts(chat).find(({ approval }) => approval !== undefined);
    expect(asked?.state).toBe('approval-requested');
    await chat.addToolApprovalResponse({ id: asked!.approval!.id, approved });
    await settled(chat);
    expect(chat.error).toBeUndefined();
    expect(describeParts(chat)).toEqual([result, 'text=Well.']);
  });

  const question: AgentEvent[] = [
    { type: 'question', questionId: 'q1', kind: 'input', reason: 'city', message: 'Which city?' },
    { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q1' }] },
  ];

  it('requests input and continues with the answer', async () => {
    const source = scriptedSource(
      (run) => [...textEvents(run, 'ask', 'Where to?'), ...question],
      (run) => [...textEvents(run, 'go', 'On the way.'), complete],
    );
    const chat = await chatFor(source);
    await chat.sendMessage({ text: 'Go.' });
    const asked = getParts(chat).find(({ toolCallId }) => toolCallId !== undefined);
    expect(asked).toMatchObject({ toolName: 'city', state: 'input-available', input: { message: 'Which city?' } });
    await chat.addToolOutput({ tool: 'city' as never, toolCallId: asked!.toolCallId!, output: 'Rome' });
    await settled(chat);
    expect(chat.error).toBeUndefined();
    expect(source.runs[1]?.answers).toMatchObject([{ questionId: 'q1', value: 'Rome' }]);
    expect(describeParts(chat).at(-1)).toBe('text=On the way.');
    expect(chat.messages).toHaveLength(2);
  });

  it('answers a question of a stored message after a reload', async () => {
    const source = scriptedSource(
      () => question,
      (run) => [...textEvents(run, 'go', 'On the way.'), complete],
    );
    const served = await serve(createAGUIHandler(source));
    onTestFinished(() => served.close());
    const before = chatAt(served.url);
    await before.sendMessage({ text: 'Go.' });
    const stored = JSON.parse(JSON.stringify(before.messages)) as UIMessage[];
    const chat = chatAt(served.url, { messages: stored });
    const asked = getParts(chat).find(({ toolCallId }) => toolCallId !== undefined);
    await chat.addToolOutput({ tool: 'city' as never, toolCallId: asked!.toolCallId!, output: 'Rome' });
    await settled(chat);
    expect(source.runs[1]?.answers).toMatchObject([{ questionId: 'q1', value: 'Rome' }]);
    expect(describeParts(chat).at(-1)).toBe('text=On the way.');
  });

  it('shows state and activities as data parts', async () => {
    const seen: unknown[] = [];
    const source = scriptedSource((run) => [
      { type: 'state-snapshot', state: { count: 1 } },
      { type: 'state-delta', patch: [{ op: 'replace', path: '/count', value: 2 }] },
      { type: 'data', id: `${run.runId}:plan`, name: 'plan', data: { steps: ['look'] } },
      { type: 'data-delta', id: `${run.runId}:plan`, patch: [{ op: 'add', path: '/steps/-', value: 'leap' }] },
      complete,
    ]);
    const chat = await chatFor(source, {
      onData: ({ type, data }) => void (type === 'data-state' && seen.push(data)),
    });
    await chat.sendMessage({ text: 'Go.' });
    expect(chat.error).toBeUndefined();
    // The initial state of the agent is sent too.
    expect(seen).toEqual([{}, { count: 1 }, { count: 2 }]);
    expect(getParts(chat)).toContainEqual(
      expect.objectContaining({ type: 'data-plan', data: { steps: ['look', 'leap'] } }),
    );
  });

  it('sends and shows files', async () => {
    const source = scriptedSource((run) => [
      { type: 'file', id: `${run.runId}:file`, mimeType: 'image/png', data: 'aGk=' },
      complete,
    ]);
    const chat = await chatFor(source);
    await chat.sendMessage({
      text: 'What is this?',
      files: [{ type: 'file', mediaType: 'image/png', filename: 'cat.png', url: picture }],
    });
    expect(chat.error).toBeUndefined();
    expect(source.runs[0]?.history.at(-1)?.content.parts).toMatchObject([
      { type: 'file', mimeType: 'image/png', data: 'aGk=' },
      { type: 'text', text: 'What is this?' },
    ]);
    expect(getParts(chat)).toContainEqual({ type: 'file', mediaType: 'image/png', url: picture });
  });

  it('aborts the model when the chat is stopped', async () => {
    const chat = await chatWith({ parts: text('0', 'Hel').slice(0, 2), last: 'hang' });
    const sent = chat.sendMessage({ text: 'Go.' });
    while (chat.status !== 'streaming' || describeParts(chat).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await chat.stop();
    await sent;
    expect({ status: chat.status, parts: describeParts(chat) }).toEqual({ status: 'ready', parts: ['text=Hel'] });
  });

  it('reports a failed run without the text of the provider', async () => {
    const chat = await chatWith({ parts: text('0', 'Hel').slice(0, 2), last: 'throw' });
    await chat.sendMessage({ text: 'Go.' });
    expect(chat.error?.message).toMatch(/^The agent failed to answer/);
  });

  it('sends encrypted values back to the agent, including those of results', async () => {
    const asked: Array<{ messages: unknown[] }> = [];
    const of = (subtype: string, entityId: string, encryptedValue: string): object => ({
      type: 'REASONING_ENCRYPTED_VALUE',
      subtype,
      entityId,
      encryptedValue,
    });
    const events = [
      { type: 'REASONING_MESSAGE_CHUNK', messageId: 'r', delta: 'Hm.' },
      of('message', 'r', 'of the reasoning'),
      { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'search' },
      of('tool-call', 'c', 'of the call'),
      { type: 'TOOL_CALL_END', toolCallId: 'c' },
      { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: 'Denied.' },
      of('message', 'x', 'of the result'),
      { type: 'STEP_STARTED', stepName: 'last' },
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'a', delta: 'So be it.' },
      { type: 'STEP_FINISHED', stepName: 'last' },
    ];
    const served = await serve(async (request) => {
      const input = (await request.json()) as { threadId: string; runId: string; messages: unknown[] };
      asked.push(input);
      const ids = { threadId: input.threadId, runId: input.runId };
      const all = [{ type: 'RUN_STARTED', ...ids }, ...events, { type: 'RUN_FINISHED', ...ids }];
      const body = all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    onTestFinished(() => served.close());
    const chat = chatAt(served.url);
    await chat.sendMessage({ text: 'Go.' });
    await chat.sendMessage({ text: 'Again.' });
    expect(chat.error).toBeUndefined();
    expect(asked[1]?.messages).toMatchObject([
      { role: 'user' },
      { id: 'r', role: 'reasoning', encryptedValue: 'of the reasoning' },
      { role: 'assistant', toolCalls: [{ id: 'c', encryptedValue: 'of the call' }] },
      { role: 'tool', toolCallId: 'c', content: 'Denied.', encryptedValue: 'of the result' },
      { id: 'a', role: 'assistant', content: 'So be it.' },
      { role: 'user' },
    ]);
  });

  it('reports the error text of an agent that refuses the request', async () => {
    const served = await serve(async () => new Response('No such agent.', { status: 404 }));
    onTestFinished(() => served.close());
    const chat = chatAt(served.url);
    await chat.sendMessage({ text: 'Hi' });
    expect(chat.error?.message).toContain('answered 404: No such agent.');
  });
});
