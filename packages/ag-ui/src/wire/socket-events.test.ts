import type { AgentEvent, RunControl } from '@intertie/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { collect } from '../../test/scripted-model.ts';
import { agUiSource } from '../client/ag-ui-source.ts';
import { runInput } from '../../../core/test/run-input.ts';

/** Socket without a connection. `test:peers` uses a real one in a worker. */
class StubSocket extends EventTarget {
  static last: StubSocket;
  readonly url: string;
  readonly sent: string[] = [];
  isClosed = false;

  constructor(url: string) {
    super();
    this.url = url;
    StubSocket.last = this;
  }
  send(frame: string): void {
    this.sent.push(frame);
  }
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.dispatchEvent(new Event('close'));
  }
  receive(...frames: unknown[]): void {
    for (const frame of frames) {
      const data = typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame);
      this.dispatchEvent(new MessageEvent('message', { data }));
    }
  }
}

const run = runInput({ runId: 'r', threadId: 't', messageId: 'm' });
const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r' };
const text = { type: 'TEXT_MESSAGE_CHUNK', messageId: 'x', delta: 'Hi' };
const finished = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' };

async function listen(signal: AbortSignal = new AbortController().signal): Promise<{
  socket: StubSocket;
  events: Promise<AgentEvent[]>;
}> {
  vi.stubGlobal('WebSocket', StubSocket);
  const control: RunControl = { signal, barrier: async () => undefined, liveAnswers: (async function* () {})() };
  const events = collect(agUiSource({ url: 'wss://example.com/agent' }).run(run, control));
  const socket = await vi.waitFor(() => {
    expect(StubSocket.last).toBeDefined();
    return StubSocket.last;
  });
  return { socket, events };
}

afterEach(() => {
  vi.unstubAllGlobals();
  StubSocket.last = undefined as never;
});

describe('agUiSource with a WebSocket URL', () => {
  it('sends the request on open and ignores foreign frames', async () => {
    const { socket, events } = await listen();
    expect(socket.sent).toEqual([]);
    socket.dispatchEvent(new Event('open'));
    expect(JSON.parse(socket.sent[0]!)).toMatchObject({ threadId: 't', runId: 'r', protocolVersion: '1.0' });
    socket.receive({ type: 'cf_agent_state', state: {} }, 'no JSON', new Uint8Array([1]), [started], { hello: 1 });
    socket.receive(started, { type: 'cf_agent_mcp_servers' }, text, 'null', finished);
    expect((await events).map(({ type }) => type)).toEqual([
      'run-start',
      'text-start',
      'text-delta',
      'text-end',
      'run-end',
    ]);
    expect([socket.url, socket.isClosed]).toEqual(['wss://example.com/agent', true]);
  });

  it.each([
    ['closes before the end', (socket: StubSocket) => socket.close(), 'truncated'],
    ['fails', (socket: StubSocket) => socket.dispatchEvent(new Event('error')), 'socket'],
  ])('ends with an error if the socket %s', async (_, breaks, code) => {
    const { socket, events } = await listen();
    socket.receive(started, text);
    breaks(socket);
    expect((await events).at(-1)).toMatchObject({ type: 'run-end', outcome: 'error', error: { code } });
  });

  it('closes the socket when the run is stopped', async () => {
    const stop = new AbortController();
    const { socket, events } = await listen(stop.signal);
    socket.receive(started, text);
    stop.abort();
    expect((await events).at(-1)).toMatchObject({ type: 'run-end', outcome: 'aborted' });
    expect(socket.isClosed).toBe(true);
  });

  it('ends with a clear error if WebSocket is unavailable', async () => {
    vi.stubGlobal('WebSocket', undefined);
    const control: RunControl = {
      signal: new AbortController().signal,
      barrier: async () => undefined,
      liveAnswers: (async function* () {})(),
    };
    const events = await collect(agUiSource({ url: 'ws://example.com/' }).run(run, control));
    expect(events.at(-1)).toMatchObject({ error: { message: expect.stringContaining('WebSocket is not available') } });
  });
});
