import type { AgentEvent, AgentSource, RunInput } from '@intertie/core';
import type { UIMessage } from 'ai';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { chatMajors, settled, shown } from '../../../test/chats.ts';
import { chatEndpoints, recordSource, type RecordedSource } from '../../../test/chat-endpoints.ts';
import { call, finish, scriptedModel, text } from '../../../test/scripted-model.ts';
import { complete, scriptedSource, textEvents } from '../../../test/scripted-source.ts';
import { modelSource } from '../../source/model-source.ts';
import { toUIMessages } from '../../messages/to-ui-messages.ts';
import { parseQuestionId } from '../../ui-message-stream/chunk/ui-question-id.ts';

const step = { type: 'step-start' };
const textPart = (value: string): object => ({ type: 'text', text: value, state: 'done' });
const closing: Array<() => Promise<void>> = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe.each(chatMajors)('$name', (major) => {
  describe.each(chatEndpoints)('$name', (endpoint) => {
    const { ai, createHookChat } = major;

    async function open(source: AgentSource, init: object = {}) {
      const { transport, close } = await endpoint.open(source, major);
      closing.push(close);
      return createHookChat({ id: 'thread', transport, ...init });
    }

    /** The parts that a page shows after it has loaded the messages from a store. */
    function reloaded(source: RecordedSource): object[][] {
      return toUIMessages(source.messages(), { version: major.major }).map((message) => shown(message));
    }

    /** Messages as a page stores them. */
    const toStored = (messages: UIMessage[]): UIMessage[] => JSON.parse(JSON.stringify(messages)) as UIMessage[];

    test('shows reasoning and text of several turns with repeated provider ids', async () => {
      const source = recordSource(
        modelSource(
          scriptedModel([
            { type: 'reasoning-start', id: '0' },
            { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
            { type: 'reasoning-end', id: '0' },
            ...text('0', 'Hel', 'lo'),
            finish(),
          ]),
          { streamText: ai.streamText },
        ),
      );
      const chat = await open(source);
      for (const value of ['one', 'two', 'three']) await chat.sendMessage({ text: value });
      expect(chat.error).toBeUndefined();
      expect(chat.messages.map(({ role }) => role).join()).toBe('user,assistant,user,assistant,user,assistant');
      const answers = chat.messages.filter(({ role }) => role === 'assistant');
      for (const answer of answers) {
        expect(shown(answer)).toEqual([step, { type: 'reasoning', text: 'Hm.', state: 'done' }, textPart('Hello')]);
      }
      expect(new Set(answers.map(({ id }) => id)).size).toBe(3);
      expect(answers.map((answer) => shown(answer))).toEqual(reloaded(source));
      expect(source.runs[2]!.history.map(({ role }) => role).join()).toBe('user,assistant,user,assistant,user');
      expect(new Set(source.messages().flatMap(({ content }) => content.parts.map(({ id }) => id))).size).toBe(6);
    });

    test('shows calls of a server tool and a provider tool', async () => {
      const source = recordSource(
        modelSource(
          scriptedModel(
            [
              { type: 'tool-input-start', id: 's', toolName: 'search', providerExecuted: true, dynamic: true },
              { type: 'tool-input-delta', id: 's', delta: '{"q":1}' },
              { type: 'tool-input-end', id: 's' },
              { ...call('s', 'search', { q: 1 }), providerExecuted: true, dynamic: true } as never,
              { type: 'tool-result', toolCallId: 's', toolName: 'search', result: 'found', dynamic: true },
              call('c', 'add', { a: 1 }),
              finish('tool-calls'),
            ],
            [...text('0', 'Two.'), finish()],
          ),
          {
            streamText: ai.streamText,
            tools: { add: ai.tool({ inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 }) },
          },
        ),
      );
      const chat = await open(source);
      await chat.sendMessage({ text: 'add' });
      expect(chat.error).toBeUndefined();
      expect(shown(chat.lastMessage)).toMatchObject([
        step,
        {
          type: 'dynamic-tool',
          toolName: 'search',
          state: 'output-available',
          output: 'found',
          providerExecuted: true,
        },
        { type: 'tool-add', state: 'output-available', input: { a: 1 }, output: 2 },
        step,
        textPart('Two.'),
      ]);
      expect([shown(chat.lastMessage)]).toEqual(reloaded(source));
    });

    test('continues the message with the output of a client tool', async () => {
      const model = scriptedModel(
        [call('c', 'ask', { q: 1 }), finish('tool-calls')],
        [...text('0', 'Thanks.'), finish()],
      );
      const tools = { ask: ai.tool({ inputSchema: z.object({ q: z.number() }) }) };
      const source = recordSource(modelSource(model, { streamText: ai.streamText, tools }));
      const onToolCall = vi.fn<() => void>();
      const chat = await open(source, {
        sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithToolCalls,
        onToolCall,
      });
      await chat.sendMessage({ text: 'go' });
      expect(shown(chat.lastMessage)).toMatchObject([step, { type: 'tool-ask', state: 'input-available' }]);
      const { id } = chat.lastMessage!;
      await chat.addToolOutput({ tool: 'ask' as never, toolCallId: 'c', output: { a: 2 } });
      await settled(chat);
      expect(chat.error).toBeUndefined();
      expect(onToolCall).toHaveBeenCalledOnce();
      expect(chat.messages).toHaveLength(2);
      expect(chat.lastMessage!.id).toBe(id);
      expect(shown(chat.lastMessage)).toMatchObject([
        step,
        { type: 'tool-ask', state: 'output-available', output: { a: 2 } },
        step,
        textPart('Thanks.'),
      ]);
      expect([shown(chat.lastMessage)]).toEqual(reloaded(source));
      const [first, second] = source.runs as [RunInput, RunInput];
      expect(second).toMatchObject({
        resumes: first.runId,
        messageId: first.messageId,
        answers: endpoint.isDurable ? [] : [{ toolCallId: 'c', status: 'ok', output: { a: 2 } }],
        message: { parts: [{ toolCallId: 'c', state: endpoint.isDurable ? 'result' : 'call' }] },
      });
      expect(model.doStreamCalls[1]!.prompt.map(({ role }) => role).join()).toBe('user,assistant,tool');
    });

    test.each([
      ['granted', true],
      ['denied', false],
    ])('continues the message after an approval is %s', async (_, approved) => {
      const execute = vi.fn<() => Promise<string>>(async () => 'deleted');
      const model = scriptedModel([call('c', 'rm', {}), finish('tool-calls')], [...text('0', 'Well.'), finish()]);
      const tools = { rm: ai.tool({ inputSchema: z.object({}), needsApproval: true, execute }) };
      const source = recordSource(modelSource(model, { streamText: ai.streamText, tools }));
      const chat = await open(source, {
        sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
      });
      await chat.sendMessage({ text: 'go' });
      const part = shown(chat.lastMessage)[1] as { state: string; approval: { id: string } };
      expect(part.state).toBe('approval-requested');
      await chat.addToolApprovalResponse({ id: part.approval.id, approved, reason: 'I say so.' });
      await settled(chat);
      expect(chat.error).toBeUndefined();
      expect(execute).toHaveBeenCalledTimes(approved ? 1 : 0);
      expect(chat.messages).toHaveLength(2);
      expect(shown(chat.lastMessage)).toMatchObject([
        step,
        approved
          ? { type: 'tool-rm', state: 'output-available', output: 'deleted' }
          : { type: 'tool-rm', state: 'output-denied', approval: { approved: false, reason: 'I say so.' } },
        step,
        textPart('Well.'),
      ]);
      expect([shown(chat.lastMessage)]).toEqual(reloaded(source));
      // The next turn has the settled message in its history.
      await chat.sendMessage({ text: 'and then?' });
      expect(chat.error).toBeUndefined();
      expect(source.runs[2]).toMatchObject({ answers: [] });
      expect(source.runs[2]!.message).toBeUndefined();
    });

    test('accepts two approvals one by one with a reload in between', async () => {
      const execute = vi.fn<(input: { n: number }) => Promise<number>>(async ({ n }) => n);
      const model = scriptedModel(
        [call('a', 'rm', { n: 1 }), call('b', 'rm', { n: 2 }), finish('tool-calls')],
        [...text('0', 'Done.'), finish()],
      );
      const tools = { rm: ai.tool({ inputSchema: z.object({ n: z.number() }), needsApproval: true, execute }) };
      const source = recordSource(modelSource(model, { streamText: ai.streamText, tools }));
      const before = await endpoint.open(source, major);
      closing.push(before.close);
      const chat = createHookChat({ id: 'thread', transport: before.transport });
      await chat.sendMessage({ text: 'go' });
      const ids = shown(chat.lastMessage).flatMap(({ approval }) => (approval as { id: string } | undefined)?.id ?? []);
      expect(ids).toHaveLength(2);
      // The second approval is still open, so nothing runs yet.
      await chat.addToolApprovalResponse({ id: ids[0]!, approved: true });
      await chat.sendMessage();
      expect(chat.error).toBeUndefined();
      expect(execute).not.toHaveBeenCalled();
      // Without a store, a new server works just as well.
      const after = endpoint.isDurable ? before : await endpoint.open(source, major);
      closing.push(after.close);
      const later = createHookChat({ id: 'thread', transport: after.transport, messages: toStored(chat.messages) });
      await later.addToolApprovalResponse({ id: ids[1]!, approved: false });
      await later.sendMessage();
      expect(later.error).toBeUndefined();
      expect(execute.mock.calls.map(([input]) => input)).toEqual([{ n: 1 }]);
      expect(later.messages).toHaveLength(2);
      expect(shown(later.lastMessage)).toMatchObject([
        step,
        { type: 'tool-rm', state: 'output-available', output: 1 },
        { type: 'tool-rm', state: 'output-denied' },
        step,
        textPart('Done.'),
      ]);
      // Each run receives only its new answers. The stub has no memory; a durable agent waits for all answers.
      expect(source.runs.map(({ answers }) => answers.length)).toEqual(
        endpoint.isDurable ? [0, 0] : [0, 1, endpoint.isOurs ? 1 : 2],
      );
      expect([shown(later.lastMessage)]).toEqual(reloaded(source));
    });

    test('accepts the answer to a question as the output of a dynamic tool', async () => {
      const source = recordSource(
        scriptedSource(
          (run) => [
            { type: 'question', questionId: `${run.runId}:q`, kind: 'input', message: 'How many?' },
            { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: `${run.runId}:q` }] },
          ],
          (run) => [...textEvents(run, 'text', 'Fine.'), complete],
        ),
      );
      const chat = await open(source, { sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithToolCalls });
      await chat.sendMessage({ text: 'go' });
      const part = chat.lastMessage!.parts.find(({ type }) => type === 'dynamic-tool') as { toolCallId: string };
      await chat.addToolOutput({ tool: 'question' as never, toolCallId: part.toolCallId, output: 42 });
      await settled(chat);
      expect(chat.error).toBeUndefined();
      const { answers, message } = source.runs[1]!;
      const answer = { questionId: parseQuestionId(part.toolCallId), value: 42 };
      expect(endpoint.isDurable ? message!.parts : answers).toMatchObject([endpoint.isDurable ? { answer } : answer]);
      expect([shown(chat.lastMessage)]).toEqual(reloaded(source));
    });

    test('transfers files in both directions, sources and data', async () => {
      const onData = vi.fn<(part: unknown) => void>();
      const source = recordSource(
        scriptedSource((run) => [
          { type: 'file', id: `${run.runId}:f`, mimeType: 'image/png', data: 'AAAA' },
          { type: 'source', id: `${run.runId}:s`, sourceType: 'url', url: 'https://a.example/', title: 'A' },
          { type: 'source', id: `${run.runId}:d`, sourceType: 'document', mediaType: 'text/plain', title: 'B' },
          { type: 'data', id: `${run.runId}:w`, name: 'weather', data: { c: 1 } },
          { type: 'data-delta', id: `${run.runId}:w`, patch: [{ op: 'replace', path: '/c', value: 2 }] },
          { type: 'data', id: `${run.runId}:x`, name: 'ping', data: 1, transient: true },
          ...textEvents(run, 'text', 'ok'),
          complete,
        ]),
      );
      const chat = await open(source, { onData });
      const url = 'data:text/plain;base64,aGk=';
      await chat.sendMessage({
        text: 'see',
        files: [{ type: 'file', mediaType: 'text/plain', filename: 'a.txt', url }],
      });
      expect(chat.error).toBeUndefined();
      expect(source.runs[0]!.history[0]!.content.parts).toMatchObject([
        { type: 'file', mimeType: 'text/plain', filename: 'a.txt', data: 'aGk=' },
        { type: 'text', text: 'see' },
      ]);
      expect(shown(chat.lastMessage)).toMatchObject([
        step,
        { type: 'file', url: 'data:image/png;base64,AAAA' },
        { type: 'source-url', url: 'https://a.example/' },
        { type: 'source-document', title: 'B' },
        { type: 'data-weather', data: { c: 2 } },
        textPart('ok'),
      ]);
      expect([shown(chat.lastMessage)]).toEqual(reloaded(source));
      expect(onData.mock.calls.map(([part]) => part)).toContainEqual(expect.objectContaining({ type: 'data-ping' }));
    });

    test('shows the partial text and the error of a failed run', async () => {
      const source = scriptedSource((run) => [
        { type: 'text-start', id: `${run.runId}:t` },
        { type: 'text-delta', id: `${run.runId}:t`, delta: 'Hel' },
        {
          type: 'run-end',
          outcome: 'error',
          error: { message: 'The model is overloaded.', code: 'overloaded', data: { key: 'secret' } },
        },
      ]);
      const onFinish = vi.fn<(end: { isError: boolean; isDisconnect: boolean }) => void>();
      const onData = vi.fn<(part: unknown) => void>();
      const chat = await open(source, { onFinish, onData });
      await chat.sendMessage({ text: 'hi' });
      expect(chat.status).toBe('error');
      expect(chat.error?.message).toMatch(
        endpoint.hidesErrors ? /^The agent failed to answer/ : /^The model is overloaded/,
      );
      expect(onFinish.mock.calls[0]![0]).toMatchObject({ isError: true, isDisconnect: false });
      expect(shown(chat.lastMessage)).toEqual([step, textPart('Hel')]);
      expect(JSON.stringify(onData.mock.calls).includes('secret')).toBe(!endpoint.isOurs);
      expect(chat.lastMessage?.metadata).toMatchObject({ intertie: { status: 'error' } });
    });

    test('stops while a tool input is streaming', async () => {
      const source = scriptedSource(
        (run) => [
          { type: 'tool-input-start', toolCallId: `${run.runId}:c`, toolName: 'rm', executor: 'client' },
          { type: 'tool-input-delta', toolCallId: `${run.runId}:c`, delta: '{"n":' },
          new Promise(() => undefined),
        ],
        (run) => [...textEvents(run, 'text', 'ok'), complete],
      );
      const chat = await open(source);
      const sent = chat.sendMessage({ text: 'hi' });
      await vi.waitFor(() => expect(shown(chat.lastMessage)[1]).toMatchObject({ state: 'input-streaming' }));
      await chat.stop();
      await sent;
      expect(chat.status).toBe('ready');
      const isStopped = (): void => expect(source.signals[0]!.aborted).toBe(true);
      // Closing the connection does not stop a durable run; the next message replaces it.
      if (endpoint.stops) await vi.waitFor(isStopped);
      await chat.sendMessage({ text: 'again' });
      isStopped();
      expect(chat.error).toBeUndefined();
      expect(shown(chat.lastMessage)).toEqual([step, textPart('ok')]);
      const [, stopped] = source.runs[1]!.history;
      expect(stopped!.content.parts).toMatchObject([{ toolName: 'rm', state: 'partial-call' }]);
    });

    test('edits and regenerates messages', async () => {
      const source = scriptedSource((run) => [...textEvents(run, 'text', `answer ${run.history.length}`), complete]);
      const chat = await open(source);
      await chat.sendMessage({ text: 'one' });
      await chat.sendMessage({ text: 'two' });
      const first = chat.messages[0]!.id;
      await chat.sendMessage({ text: 'uno', messageId: first });
      expect(chat.messages).toHaveLength(2);
      const [edited] = source.runs[2]!.history;
      expect(edited).toMatchObject({
        [endpoint.isDurable ? 'clientId' : 'id']: first,
        content: { parts: [{ text: 'uno' }] },
      });
      expect(source.runs[2]!.history).toHaveLength(1);
      const before = chat.lastMessage!.id;
      await chat.regenerate();
      expect(chat.messages).toHaveLength(2);
      expect(chat.lastMessage!.id).not.toBe(before);
      expect(source.runs[3]).toMatchObject({ parentMessageId: edited!.id, answers: [] });
      await chat.regenerate({ messageId: chat.lastMessage!.id });
      expect(chat.messages).toHaveLength(2);
      expect(chat.error).toBeUndefined();
    });

    test('shows the interleaved texts and calls of parallel agents', async () => {
      const source = recordSource(scriptedSource(parallelAgents));
      const chat = await open(source);
      await chat.sendMessage({ text: 'go' });
      expect(chat.error).toBeUndefined();
      const texts = chat.lastMessage!.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      expect(texts).toEqual(['leftxleftyleftz', 'rightxrightyrightz']);
      const calls = shown(chat.lastMessage).filter(({ type }) => type === 'tool-search');
      expect(calls).toMatchObject([{ output: { hits: 1 } }, { output: { hits: 1 } }]);
      // `ai` 6 loses a text that is open at a step boundary, so a stream has fewer boundaries than the message.
      const withoutSteps = (parts: object[]): object[] =>
        parts.filter((part) => !('type' in part) || part.type !== 'step-start');
      expect(withoutSteps(shown(chat.lastMessage))).toEqual(withoutSteps(reloaded(source)[0]!));
    });
  });
});

/** Two parallel sub-agents under one node: one ends its text and calls a tool while the other is still streaming text. */
function* parallelAgents(run: RunInput): Generator<AgentEvent> {
  const name = (what: string): string => `${run.runId}:${what}`;
  const attribution = (side: string): object => ({ agentId: name(side), stepId: name(`step-${side}`) });
  const delta = (side: string, value: string): AgentEvent => ({
    type: 'text-delta',
    id: name(`text-${side}`),
    delta: value,
  });
  const end = function* (side: string): Generator<AgentEvent> {
    yield { type: 'text-end', id: name(`text-${side}`) };
    const search = {
      toolCallId: name(`call-${side}`),
      toolName: 'search',
      executor: 'runtime' as const,
      ...attribution(side),
    };
    yield { type: 'tool-call', input: { q: side }, ...search };
    yield { type: 'tool-result', toolCallId: name(`call-${side}`), status: 'ok', output: { hits: 1 } };
    yield { type: 'step-end', stepId: name(`step-${side}`), finishReason: 'stop' };
    yield { type: 'agent-end', agentId: name(side), outcome: 'complete', result: side };
  };
  yield { type: 'agent-start', agentId: name('team'), name: 'team', kind: 'node' };
  for (const side of ['left', 'right']) {
    yield { type: 'agent-start', agentId: name(side), name: side, kind: 'agent', parentAgentId: name('team') };
    yield { type: 'step-start', stepId: name(`step-${side}`), agentId: name(side) };
  }
  for (const side of ['left', 'right']) {
    yield { type: 'text-start', id: name(`text-${side}`), ...attribution(side) };
    yield delta(side, `${side}x`);
  }
  yield delta('left', 'lefty');
  yield delta('right', 'righty');
  yield delta('left', 'leftz');
  yield* end('left');
  yield delta('right', 'rightz');
  yield* end('right');
  yield { type: 'agent-end', agentId: name('team'), outcome: 'complete', result: { parts: ['left', 'right'] } };
  yield complete;
}
