import { HttpAgent } from '@ag-ui/client';
import type { Message } from '@ag-ui/core';
import type { AgentEvent } from '@intertie/core';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../ai-sdk/test/serve.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { createAGUIEncoder } from '../src/encode/encode-ag-ui.ts';
import { createScript } from './durable-run-script.ts';
import { handDriven, type HandDriven } from './hand-driven-agent.ts';

const userMessage: Message = { id: 'u1', role: 'user', content: 'Go.' };

type Server = HandDriven & { url: string; client(messages?: Message[]): HttpAgent };

async function start(driven: HandDriven): Promise<Server> {
  const served = await serve(createAGUIHandler(driven.agent));
  onTestFinished(async () => {
    await served.close();
    driven.close();
  });
  const client = (messages: Message[] = [userMessage]): HttpAgent =>
    new HttpAgent({ url: served.url, threadId: 'thread-1', initialMessages: messages });
  return { ...driven, url: served.url, client };
}

/** Counts the AG-UI events for the given canonical events. */
function countEvents(events: readonly AgentEvent[]): number {
  const encoder = createAGUIEncoder({ protocolVersion: '1.0' });
  let count = 0;
  for (const event of events) encoder.feed(event, () => void (count += 1));
  return count;
}

/** Reads the given number of events and disconnects. */
async function readAndLeave(client: HttpAgent, runId: string, count: number): Promise<void> {
  let seen = 0;
  const run = client.runAgent({ runId }, { onEvent: () => void (seen += 1), onRunFailed: () => undefined });
  await vi.waitFor(() => expect(seen).toBe(count), { interval: 1, timeout: 5000 });
  client.abortRun();
  await run.catch(() => undefined);
}

/** Messages and state of a client, without `error` of results: only snapshots set it; the stream uses metadata. */
function getState({ messages, state }: HttpAgent): unknown {
  return {
    state,
    messages: messages.map((message) => ({ ...message, ...(message.role === 'tool' && { error: '' }) })),
  };
}

afterEach(() => vi.restoreAllMocks());

describe('a client that rejoins a durable run', () => {
  const script = createScript('run-1');

  async function runToEnd(): Promise<HttpAgent> {
    const server = await start(await handDriven());
    const client = server.client();
    const run = client.runAgent({ runId: 'run-1' });
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    await server.finish('run-1', script);
    await run;
    return client;
  }

  it(
    'gives a rejoining client the same messages as one that stayed, wherever it disconnected',
    { timeout: 60_000 },
    async () => {
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
      const stayed = await runToEnd();
      expect(stayed.messages).toHaveLength(9);
      for (let cut = 1; cut < script.length; cut += 1) {
        const server = await start(await handDriven());
        const partial = server.client();
        const leaving = readAndLeave(partial, 'run-1', countEvents(script.slice(0, cut)));
        await vi.waitFor(() => expect(server.requests).toHaveLength(1), { interval: 1 });
        await server.write('run-1', script.slice(0, cut));
        await leaving;
        // The run continues without a reader.
        const joined = Math.min(cut + (cut % 3), script.length - 1);
        await server.write('run-1', script.slice(cut, joined));
        const fresh = server.client();
        const runs = [partial, fresh].map((client) => {
          let count = 0;
          const run = client.runAgent({ runId: 'run-1' }, { onEvent: () => void (count += 1) });
          return vi.waitFor(() => expect(count).toBeGreaterThan(1), { interval: 1 }).then(() => ({ run }));
        });
        const [one, other] = await Promise.all(runs);
        await server.finish('run-1', script.slice(joined));
        await Promise.all([one!.run, other!.run]);
        expect([cut, getState(fresh)]).toEqual([cut, getState(stayed)]);
        expect([cut, getState(partial)]).toEqual([cut, getState(stayed)]);
      }
      expect(warn.mock.calls.map(([warning]) => String(warning))).toEqual([]);
    },
  );
});
