import {
  seal,
  sourceStream,
  type AgentEvent,
  type AgentSource,
  type Answer,
  type RunControl,
  type RunInput,
} from '@intertie/core';
import { describe, expect, test, vi } from 'vitest';
import { chatMajors, settled, shown } from '../../../test/chats.ts';
import { complete, textEvents } from '../../../test/scripted-source.ts';
import { SourceChatTransport } from '../transport/source-chat-transport.ts';

/** Source that waits inside the process for answers, like a flow with `humanInput`. */
function flow(): { source: AgentSource; signals: AbortSignal[]; runs: RunInput[] } {
  const signals: AbortSignal[] = [];
  const runs: RunInput[] = [];
  const run: AgentSource['run'] = (input, control) => {
    signals.push(control.signal);
    runs.push(input);
    const play = async function* (): AsyncGenerator<AgentEvent> {
      const answers = control.liveAnswers[Symbol.asyncIterator]();
      for (const name of ['first', 'second']) {
        yield* textEvents(input, name, `Before the ${name}.`);
        const questionId = `${input.runId}:${name}`;
        yield { type: 'question', questionId, kind: 'input', message: `The ${name}?` };
        const answer = await next(answers);
        if (answer === undefined) return;
        yield { type: 'answer', ...answer };
      }
      yield { type: 'state-snapshot', state: { answered: 2 } };
      yield* textEvents(input, 'end', 'Thanks.');
      yield { ...complete, resume: 'token' } as AgentEvent;
    };
    return sourceStream(
      play(),
      seal(input, () => undefined),
      { signal: control.signal },
    );
  };
  return { source: { name: 'flow', pauses: 'live', run }, signals, runs };
}

async function next(answers: AsyncIterator<Answer>): Promise<Answer | undefined> {
  const { done, value } = await answers.next();
  return done ? undefined : value;
}

describe.each(chatMajors)('$name', ({ ai, createChat }) => {
  const open = ({ source }: { source: AgentSource }, more: object = {}) =>
    createChat({
      transport: new SourceChatTransport(source),
      sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithToolCalls,
      ...more,
    });
  const texts = (chat: ReturnType<typeof open>): unknown[] =>
    shown(chat.lastMessage).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const asked = (chat: ReturnType<typeof open>): string =>
    (chat.lastMessage!.parts.findLast(({ type }) => type === 'dynamic-tool') as { toolCallId: string }).toolCallId;
  const answer = async (chat: ReturnType<typeof open>, output: unknown): Promise<void> => {
    await chat.addToolOutput({ tool: 'question' as never, toolCallId: asked(chat), output });
    await settled(chat);
  };

  test('continues one run and one message over three streams', async () => {
    const { source, signals, runs } = flow();
    const chat = open({ source });
    await chat.sendMessage({ text: 'go' });
    expect(chat.status).toBe('ready');
    expect(texts(chat)).toEqual(['Before the first.']);
    await answer(chat, 1);
    expect(texts(chat)).toEqual(['Before the first.', 'Before the second.']);
    await answer(chat, 2);
    expect(chat.error).toBeUndefined();
    expect(texts(chat)).toEqual(['Before the first.', 'Before the second.', 'Thanks.']);
    expect(shown(chat.lastMessage).flatMap(({ output }) => output ?? [])).toEqual([1, 2]);
    expect(chat.messages).toHaveLength(2);
    expect(chat.lastMessage?.metadata).toMatchObject({ intertie: { status: 'complete' } });
    expect(runs).toHaveLength(1);
    expect(signals[0]!.aborted).toBe(false);
    // The next turn receives the state of the run.
    await chat.sendMessage({ text: 'and now?' });
    expect(runs[1]).toMatchObject({ sourceState: 'token', state: { answered: 2 } });
  });

  test('stops a waiting run when another message is sent', async () => {
    const { source, signals } = flow();
    const chat = open({ source });
    await chat.sendMessage({ text: 'go' });
    await chat.sendMessage({ text: 'never mind' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(texts(chat)).toEqual(['Before the first.']);
  });

  test('stops the run after an answer', async () => {
    const signals: AbortSignal[] = [];
    const source: AgentSource = {
      name: 'slow',
      pauses: 'live',
      run: (input, control: RunControl) => {
        signals.push(control.signal);
        const play = async function* (): AsyncGenerator<AgentEvent> {
          yield { type: 'question', questionId: 'q', kind: 'input' };
          await next(control.liveAnswers[Symbol.asyncIterator]());
          yield* textEvents(input, 'text', 'Well');
          await new Promise(() => undefined);
        };
        return sourceStream(
          play(),
          seal(input, () => undefined),
          { signal: control.signal },
        );
      },
    };
    const chat = open({ source });
    await chat.sendMessage({ text: 'go' });
    await chat.addToolOutput({ tool: 'question' as never, toolCallId: asked(chat), output: 1 });
    await vi.waitFor(() => expect(texts(chat)).toEqual(['Well']));
    await chat.stop();
    expect(signals[0]!.aborted).toBe(true);
  });
});

test('aborts the oldest run when too many are waiting', async () => {
  const { source, signals } = flow();
  const transport = new SourceChatTransport(source);
  for (let thread = 0; thread <= 100; thread += 1) {
    const messages = [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'go' }] }];
    const options = { chatId: `thread-${thread}`, trigger: 'submit-message', messageId: undefined, messages } as const;
    const reader = (await transport.sendMessages({ ...options, abortSignal: undefined })).getReader();
    while (!(await reader.read()).done);
  }
  expect(signals.map(({ aborted }) => aborted).indexOf(false)).toBe(1);
});
