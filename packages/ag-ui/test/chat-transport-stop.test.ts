import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from '@intertie/agent';
import { createInMemoryStore, type AgentEvent, type AgentSource } from '@intertie/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { chatMajors } from '../../ai-sdk/test/chats.ts';
import { complete, says, scriptedSource } from '../../ai-sdk/test/scripted-source.ts';
import { serve } from '../../ai-sdk/test/serve.ts';
import { runControl } from '../../core/test/run-control.ts';
import { runInput } from '../../core/test/run-input.ts';
import { AGUIChatTransport } from '../src/client/ag-ui-chat-transport.ts';
import { agUiSource } from '../src/client/ag-ui-source.ts';
import type { DurableAGUIHandlerOptions } from '../src/server/ag-ui-handler-options.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';

const until = (look: () => void | Promise<void>): Promise<void> => vi.waitFor(look, { interval: 2, timeout: 5000 });

function gate(): { open(): void; opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => void (open = resolve));
  return { open: () => open(), opened };
}

/** Says a word, and then nothing until it is stopped or the test is over. */
function endless(): AgentSource {
  const { open, opened } = gate();
  onTestFinished(open);
  return scriptedSource((run) => [...says(run, 'one', 'One.'), opened, complete]);
}

/** An agent that keeps its runs, and what it was asked. */
async function keeping(source: AgentSource, options: DurableAGUIHandlerOptions = {}) {
  const agent = new Agent({ source, store: createInMemoryStore() });
  const asked: string[] = [];
  const handle = createAGUIHandler(agent, options);
  const { url, close } = await serve(async (request) => {
    asked.push(request.method);
    return handle(request);
  });
  onTestFinished(async () => {
    await close();
    await agent.close();
  });
  const stateOf = async (threadId = 'thread-1'): Promise<string | undefined> =>
    (await (await agent.latest({ threadId }))?.record())?.state;
  return { agent, url, asked, stateOf };
}

describe.each(chatMajors)('a stop of $name, where the agent keeps its runs,', ({ major, createHookChat }) => {
  function chatAt(url: string, stopOnAbort?: boolean) {
    const transport = new AGUIChatTransport({ url, version: major, ...(stopOnAbort === false && { stopOnAbort }) });
    const chat = createHookChat({ id: 'thread-1', transport: transport as never });
    const hasBegun = (): Promise<void> => until(() => expect(JSON.stringify(chat.messages)).toContain('One.'));
    return { chat, transport, hasBegun };
  }

  it('stops the run', async () => {
    const { url, stateOf, asked } = await keeping(endless());
    const { chat, hasBegun } = chatAt(url);
    const sent = chat.sendMessage({ text: 'Go.' });
    await hasBegun();
    await chat.stop();
    await sent;
    await until(async () => expect(await stateOf()).toBe('aborted'));
    expect({ asked, status: chat.status }).toEqual({ asked: ['POST', 'DELETE'], status: 'ready' });
  });

  it('stops the run also before its answer has begun', async () => {
    const held = gate();
    const { url, stateOf, asked } = await keeping(endless(), { prepare: () => held.opened.then(() => ({})) });
    const { chat } = chatAt(url);
    const sent = chat.sendMessage({ text: 'Go.' });
    await until(() => expect(asked).toEqual(['POST']));
    await chat.stop();
    held.open();
    await sent;
    await until(async () => expect(await stateOf()).toBe('aborted'));
  });

  it('stops a run that the chat came back to', async () => {
    const { agent, url, stateOf } = await keeping(endless());
    await agent.start({ threadId: 'thread-1' });
    const { chat, hasBegun } = chatAt(url);
    const resumed = chat.resumeStream();
    await hasBegun();
    await chat.stop();
    await resumed;
    await until(async () => expect(await stateOf()).toBe('aborted'));
  });

  it('is not what an abort is after the run has paused: it can still be answered', async () => {
    const approval: AgentEvent = { type: 'question', questionId: 'q', kind: 'approval' };
    const waitingFor = [{ type: 'question' as const, questionId: 'q' }];
    const paused: AgentEvent = { type: 'run-end', outcome: 'paused', waitingFor };
    const { agent, url, stateOf, asked } = await keeping(
      scriptedSource((run) => [...says(run, 'one', 'One.'), approval, paused]),
    );
    await agent.start({ threadId: 'thread-1' });
    await until(async () => expect(await stateOf()).toBe('paused'));
    const stop = new AbortController();
    const options = { chatId: 'thread-1', abortSignal: stop.signal };
    const told = (await chatAt(url).transport.reconnectToStream(options))!.getReader();
    while (!(await told.read()).done);
    stop.abort();
    // Long enough for a request that must not come.
    await sleep(50);
    expect({ asked, state: await stateOf() }).toEqual({ asked: ['GET'], state: 'paused' });
  });

  it('is not what a chat does that asks again while it still waits', async () => {
    const { agent, url, stateOf, asked } = await keeping(endless());
    await agent.start({ threadId: 'thread-1' });
    const { open, opened } = gate();
    let calls = 0;
    const held: typeof fetch = async (...given) => {
      const response = await fetch(...given);
      if ((calls += 1) === 1) await opened;
      return response;
    };
    const transport = new AGUIChatTransport({ url, version: major, fetch: held });
    const first = new AbortController();
    const one = transport.reconnectToStream({ chatId: 'thread-1', abortSignal: first.signal });
    await until(() => expect(calls).toBe(1));
    const again = await transport.reconnectToStream({
      chatId: 'thread-1',
      abortSignal: new AbortController().signal,
    });
    open();
    await one;
    first.abort();
    await sleep(50);
    expect({ asked, state: await stateOf() }).toEqual({ asked: ['GET', 'GET'], state: 'running' });
    await Promise.all([(await one)!.cancel(), again!.cancel()]);
  });

  it('is not what a chat does that asks again, or whose reader leaves, or that is told not to', async () => {
    const { url, stateOf, asked } = await keeping(endless());
    const { chat, hasBegun } = chatAt(url, false);
    const sent = chat.sendMessage({ text: 'Go.' });
    await hasBegun();
    await chat.stop();
    await sent;
    const { transport } = chatAt(url);
    const first = new AbortController();
    const one = await transport.reconnectToStream({ chatId: 'thread-1', abortSignal: first.signal });
    const again = transport.reconnectToStream({ chatId: 'thread-1', abortSignal: new AbortController().signal });
    first.abort();
    await (await again)!.cancel();
    await one!.cancel();
    const message = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Again.' }] };
    const send = { trigger: 'submit-message', messageId: undefined, messages: [message] } as const;
    const abortSignal = new AbortController().signal;
    const reader = (await transport.sendMessages({ ...send, chatId: 'thread-2', abortSignal })).getReader();
    await reader.read();
    await reader.cancel();
    // Long enough for a request that must not come.
    await sleep(50);
    await until(async () => expect(await stateOf('thread-2')).toBe('running'));
    expect(await stateOf()).toBe('running');
    expect(asked).not.toContain('DELETE');
  });
});

it('a stop of an agent stops the kept run of the AG-UI agent behind it', async () => {
  const inner = await keeping(endless());
  const outer = await keeping(agUiSource({ url: inner.url }));
  const content = { format: 2 as const, parts: [{ type: 'text' as const, id: 't', text: 'Go.' }] };
  const run = await outer.agent.start({ threadId: 'thread-1', message: { content } });
  await until(async () => expect(await inner.stateOf()).toBe('running'));
  await run.stop();
  await until(async () => expect([await outer.stateOf(), await inner.stateOf()]).toEqual(['aborted', 'aborted']));
});

describe('a stop, where runs are not kept,', () => {
  it('is that the client leaves', async () => {
    const asked: string[] = [];
    const stopped = gate();
    const source = endless();
    const watched: AgentSource = {
      ...source,
      run(run, control) {
        control.signal.addEventListener('abort', stopped.open);
        return source.run(run, control);
      },
    };
    const handle = createAGUIHandler(watched);
    const served = await serve(async (request) => {
      asked.push(request.method);
      return handle(request);
    });
    onTestFinished(() => served.close());
    const run = agUiSource({ url: served.url }).run(
      runInput({ runId: 'r', threadId: 't' }),
      runControl({ signal: AbortSignal.timeout(200) }),
    );
    for await (const _ of run) void _;
    await stopped.opened;
    expect(asked).toEqual(['POST']);
  });

  it('does not wait long for an agent that has not begun its answer', async () => {
    const left = gate();
    const served = await serve((request) => {
      request.signal.addEventListener('abort', left.open);
      return new Promise<Response>(() => undefined);
    });
    onTestFinished(() => served.close());
    const run = agUiSource({ url: served.url }).run(
      runInput({ runId: 'r', threadId: 't' }),
      runControl({ signal: AbortSignal.timeout(100) }),
    );
    for await (const _ of run) void _;
    await expect(left.opened).resolves.toBeUndefined();
  });
});

describe('DELETE', () => {
  it('stops the run that it names, or the thread’s last one, and says what came of it', async () => {
    const { agent, url, stateOf } = await keeping(endless());
    const { runId } = await agent.start({ threadId: 'thread-1' });
    const ask = async (query: string): Promise<unknown> => {
      const response = await fetch(`${url}?${query}`, { method: 'DELETE' });
      return [response.status, await response.json()];
    };
    expect(await ask('')).toEqual([422, { error: { message: 'DELETE requires the query parameter `threadId`.' } }]);
    expect(await ask('threadId=thread-1&runId=other')).toMatchObject([404, { error: { code: 'not-found' } }]);
    expect(await ask('threadId=thread-2')).toMatchObject([404, { error: { code: 'not-found' } }]);
    expect(await ask(`threadId=thread-1&runId=${runId}`)).toEqual([200, { runId, result: 'requested' }]);
    await until(async () => expect(await stateOf()).toBe('aborted'));
    expect(await ask('threadId=thread-1')).toEqual([200, { runId, result: 'ended' }]);
  });
});
