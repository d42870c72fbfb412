import { HttpAgent } from '@ag-ui/client';
import type { Message } from '@ag-ui/core';
import type { AgentEvent } from '@intertie/core';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../ai-sdk/test/serve.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { createAGUIEncoder } from '../src/encode/encode-ag-ui.ts';
import { scriptOf } from './durable-run-script.ts';
import { handDriven, type HandDriven } from './hand-driven-agent.ts';

const asked: Message = { id: 'u1', role: 'user', content: 'Go.' };

type Door = HandDriven & { url: string; client(messages?: Message[]): HttpAgent };

async function doorTo(driven: HandDriven): Promise<Door> {
  const served = await serve(createAGUIHandler(driven.agent));
  onTestFinished(async () => {
    await served.close();
    driven.close();
  });
  const client = (messages: Message[] = [asked]): HttpAgent =>
    new HttpAgent({ url: served.url, threadId: 'thread-1', initialMessages: messages });
  return { ...driven, url: served.url, client };
}

/** How many events the client is told of these. */
function toldOf(events: readonly AgentEvent[]): number {
  const encoder = createAGUIEncoder({ protocolVersion: '1.0' });
  let count = 0;
  for (const event of events) encoder.feed(event, () => void (count += 1));
  return count;
}

/** Reads until so many events have come, and leaves. */
async function readAndLeave(client: HttpAgent, runId: string, count: number): Promise<void> {
  let seen = 0;
  const run = client.runAgent({ runId }, { onEvent: () => void (seen += 1), onRunFailed: () => undefined });
  await vi.waitFor(() => expect(seen).toBe(count), { interval: 1, timeout: 5000 });
  client.abortRun();
  await run.catch(() => undefined);
}

/** What a client has. That a result is an error only a snapshot can say; the stream says it in the metadata. */
function has({ messages, state }: HttpAgent): unknown {
  return {
    state,
    messages: messages.map((message) => ({ ...message, ...(message.role === 'tool' && { error: '' }) })),
  };
}

afterEach(() => vi.restoreAllMocks());

describe('a client that comes back to a run that is kept', () => {
  const script = scriptOf('run-1');

  async function whole(): Promise<HttpAgent> {
    const door = await doorTo(await handDriven());
    const client = door.client();
    const run = client.runAgent({ runId: 'run-1' });
    await vi.waitFor(() => expect(door.requests).toHaveLength(1));
    await door.finish('run-1', script);
    await run;
    return client;
  }

  it(
    'has at every place what one has that never left, with all of it before or a part',
    { timeout: 60_000 },
    async () => {
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
      const stayed = await whole();
      expect(stayed.messages).toHaveLength(9);
      for (let cut = 1; cut < script.length; cut += 1) {
        const door = await doorTo(await handDriven());
        const partial = door.client();
        const leaving = readAndLeave(partial, 'run-1', toldOf(script.slice(0, cut)));
        await vi.waitFor(() => expect(door.requests).toHaveLength(1), { interval: 1 });
        await door.write('run-1', script.slice(0, cut));
        await leaving;
        // It goes on while nobody reads.
        const joined = Math.min(cut + (cut % 3), script.length - 1);
        await door.write('run-1', script.slice(cut, joined));
        const fresh = door.client();
        const runs = [partial, fresh].map((client) => {
          let count = 0;
          const run = client.runAgent({ runId: 'run-1' }, { onEvent: () => void (count += 1) });
          return vi.waitFor(() => expect(count).toBeGreaterThan(1), { interval: 1 }).then(() => ({ run }));
        });
        const [one, other] = await Promise.all(runs);
        await door.finish('run-1', script.slice(joined));
        await Promise.all([one!.run, other!.run]);
        expect([cut, has(fresh)]).toEqual([cut, has(stayed)]);
        expect([cut, has(partial)]).toEqual([cut, has(stayed)]);
      }
      expect(warn.mock.calls.map(([said]) => String(said))).toEqual([]);
    },
  );
});
