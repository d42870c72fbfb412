import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from '@intertie/agent';
import { createInMemoryStore, type AgentEvent, type AgentSource } from '@intertie/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { chatMajors } from '../../ai-sdk/test/chats.ts';
import { complete, scriptedSource, textEvents } from '../../ai-sdk/test/scripted-source.ts';
import { serve } from '../../ai-sdk/test/serve.ts';
import { runControl } from '../../core/test/run-control.ts';
import { runInput } from '../../core/test/run-input.ts';
import { AGUIChatTransport } from '../src/client/ag-ui-chat-transport.ts';
import { agUiSource } from '../src/client/ag-ui-source.ts';
import type { DurableAGUIHandlerOptions } from '../src/server/ag-ui-handler-options.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';

const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, { interval: 2, timeout: 5000 });

function gate(): { open(): void; opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => void (open = resolve));
  return { open: () => open(), opened };
}

/** Creates a source that emits one text and then hangs until it is stopped or the test ends. */
function endless(): AgentSource {
  const { open, opened } = gate();
  onTestFinished(open);
  return scriptedSource((run) => [...textEvents(run, 'one', 'One.'), opened, complete]);
}

/** Serves an agent with durable runs and records the methods of its requests. */
async function serveDurable(source: AgentSource, options: DurableAGUIHandlerOptions = {}) {
  const agent = new Agent({ source, store: createInMemoryStore() });
  const methods: string[] = [];
  const handle = createAGUIHandler(agent, options);
  const { url, close } = await serve(async (request) => {
    methods.push(request.method);
    return handle(request);
  });
  onTestFinished(async () => {
    await close();
    await agent.close();
  });
  const getState = async (threadId = 'thread-1'): Promise<string | undefined> =>
    (await (await agent.latest({ threadId }))?.record())?.state;
  return { agent, url, methods, getState };
}

describe.each(chatMajors)('$name and an agent with durable runs', ({ major, createHookChat }) => {
  function chatAt(url: string, stopOnAbort?: boolean) {
    const transport = new AGUIChatTransport({ url, version: major, ...(stopOnAbort === false && { stopOnAbort }) });
    const chat = createHookChat({ id: 'thread-1', transport: transport as never });
    const hasBegun = (): Promise<void> => until(() => expect(JSON.stringify(chat.messages)).toContain('One.'));
    return { chat, transport, hasBegun };
  }

  it('stops the run when the chat is stopped', async () => {
    const { url, getState, methods } = await serveDurable(endless());
    const { chat, hasBegun } = chatAt(url);
    const sent = chat.sendMessage({ text: 'Go.' });
    await hasBegun();
    await chat.stop();
    await sent;
    await until(async () => expect(await getState()).toBe('aborted'));
    expect({ methods, status: chat.status }).toEqual({ methods: ['POST', 'DELETE'], status: 'ready' });
  });

  it('stops the run before its response has started', async () => {
    const held = gate();
    const { url, getState, methods } = await serveDurable(endless(), { prepare: () => held.opened.then(() => ({})) });
    const { chat } = chatAt(url);
    const sent = chat.sendMessage({ text: 'Go.' });
    await until(() => expect(methods).toEqual(['POST']));
    await chat.stop();
    held.open();
    await sent;
    await until(async () => expect(await getState()).toBe('aborted'));
  });

  it('stops a run that the chat resumed', async () => {
    const { agent, url, getState } = await serveDurable(endless());
    await agent.start({ threadId: 'thread-1' });
    const { chat, hasBegun } = chatAt(url);
    const resumed = chat.resumeStream();
    await hasBegun();
    await chat.stop();
    await resumed;
    await until(async () => expect(await getState()).toBe('aborted'));
  });

  it('does not stop a paused run when the signal aborts later', async () => {
    const approval: AgentEvent = { type: 'question', questionId: 'q', kind: 'approval' };
    const waitingFor = [{ type: 'question' as const, questionId: 'q' }];
    const paused: AgentEvent = { type: 'run-end', outcome: 'paused', waitingFor };
    const { agent, url, getState, methods } = await serveDurable(
      scriptedSource((run) => [...textEvents(run, 'one', 'One.'), approval, paused]),
    );
    await agent.start({ threadId: 'thread-1' });
    await until(async () => expect(await getState()).toBe('paused'));
    const stop = new AbortController();
    const options = { chatId: 'thread-1', abortSignal: stop.signal };
    const reader = (await chatAt(url).transport.reconnectToStream(options))!.getReader();
    while (!(await reader.read()).done);
    stop.abort();
    // Time for a request that must not be sent.
    await sleep(50);
    expect({ methods, state: await getState() }).toEqual({ methods: ['GET'], state: 'paused' });
  });

  it('does not stop the run when the chat reconnects during a pending request', async () => {
    const { agent, url, getState, methods } = await serveDurable(endless());
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
    expect({ methods, state: await getState() }).toEqual({ methods: ['GET', 'GET'], state: 'running' });
    await Promise.all([(await one)!.cancel(), again!.cancel()]);
  });

  it('does not stop the run on reconnect, on cancel, or with stopOnAbort: false', async () => {
    const { url, getState, methods } = await serveDurable(endless());
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
    // Time for a request that must not be sent.
    await sleep(50);
    await until(async () => expect(await getState('thread-2')).toBe('running'));
    expect(await getState()).toBe('running');
    expect(methods).not.toContain('DELETE');
  });
});

it('stops the durable run of the AG-UI agent behind an agent', async () => {
  const inner = await serveDurable(endless());
  const outer = await serveDurable(agUiSource({ url: inner.url }));
  const content = { format: 2 as const, parts: [{ type: 'text' as const, id: 't', text: 'Go.' }] };
  const run = await outer.agent.start({ threadId: 'thread-1', message: { content } });
  await until(async () => expect(await inner.getState()).toBe('running'));
  await run.stop();
  await until(async () => expect([await outer.getState(), await inner.getState()]).toEqual(['aborted', 'aborted']));
});

describe('agUiSource and an agent without durable runs', () => {
  it('disconnects when the run is stopped', async () => {
    const methods: string[] = [];
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
      methods.push(request.method);
      return handle(request);
    });
    onTestFinished(() => served.close());
    const run = agUiSource({ url: served.url }).run(
      runInput({ runId: 'r', threadId: 't' }),
      runControl({ signal: AbortSignal.timeout(200) }),
    );
    for await (const _ of run) void _;
    await stopped.opened;
    expect(methods).toEqual(['POST']);
  });

  it('aborts a request without a response soon after a stop', async () => {
    const disconnected = gate();
    const served = await serve((request) => {
      request.signal.addEventListener('abort', disconnected.open);
      return new Promise<Response>(() => undefined);
    });
    onTestFinished(() => served.close());
    const run = agUiSource({ url: served.url }).run(
      runInput({ runId: 'r', threadId: 't' }),
      runControl({ signal: AbortSignal.timeout(100) }),
    );
    for await (const _ of run) void _;
    await expect(disconnected.opened).resolves.toBeUndefined();
  });
});

describe('DELETE', () => {
  it('stops the named or latest run and returns the result', async () => {
    const { agent, url, getState } = await serveDurable(endless());
    const { runId } = await agent.start({ threadId: 'thread-1' });
    const ask = async (query: string): Promise<unknown> => {
      const response = await fetch(`${url}?${query}`, { method: 'DELETE' });
      return [response.status, await response.json()];
    };
    expect(await ask('')).toEqual([422, { error: { message: 'DELETE requires the query parameter `threadId`.' } }]);
    expect(await ask('threadId=thread-1&runId=other')).toMatchObject([404, { error: { code: 'not-found' } }]);
    expect(await ask('threadId=thread-2')).toMatchObject([404, { error: { code: 'not-found' } }]);
    expect(await ask(`threadId=thread-1&runId=${runId}`)).toEqual([200, { runId, result: 'requested' }]);
    await until(async () => expect(await getState()).toBe('aborted'));
    expect(await ask('threadId=thread-1')).toEqual([200, { runId, result: 'ended' }]);
  });
});
