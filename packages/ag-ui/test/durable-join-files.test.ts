import { HttpAgent } from '@ag-ui/client';
import type { Message } from '@ag-ui/core';
import type { AgentEvent } from '@intertie/core';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../ai-sdk/test/serve.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { handDriven, type HandDriven } from './hand-driven-agent.ts';

const asked: Message = { id: 'u1', role: 'user', content: 'Draw.' };

/** What AG-UI has no message for, as a client is told of it. */
type Beside = { name: string; id: string; after: string | undefined };
type Client = { agent: HttpAgent; beside: Beside[]; run(runId: string): Promise<unknown> };

async function doorTo(): Promise<HandDriven & { client(messages?: Message[]): Client }> {
  const driven = await handDriven();
  const { url, close } = await serve(createAGUIHandler(driven.agent));
  onTestFinished(async () => {
    await close();
    driven.close();
  });
  const client = (initialMessages: Message[] = [asked]): Client => {
    const agent = new HttpAgent({ url, threadId: 'thread-1', initialMessages });
    const beside: Beside[] = [];
    const run = (runId: string): Promise<unknown> =>
      agent.runAgent(
        { runId },
        {
          onCustomEvent: ({ event: { name, value, metadata } }) => {
            const { after } = ((metadata ?? {}).intertie ?? {}) as { after?: string };
            beside.push({ name, id: (value as { id: string }).id, after });
          },
        },
      );
    return { agent, beside, run };
  };
  return { ...driven, client };
}

const drawn = (runId: string): AgentEvent[] => [
  { type: 'run-start', runId, threadId: 'thread-1', messageId: `answer-${runId}` },
  { type: 'text-start', id: `${runId}:text` },
  { type: 'text-delta', id: `${runId}:text`, delta: 'Here it is.' },
  { type: 'text-end', id: `${runId}:text` },
  { type: 'file', id: `${runId}:file`, mimeType: 'image/png', data: 'aGk=' },
  { type: 'source', id: `${runId}:source`, sourceType: 'url', url: 'https://example.com/' },
];
const besideOf = (runId: string, after: string | undefined): Beside[] => [
  { name: 'intertie.file', id: `${runId}:file`, after },
  { name: 'intertie.source', id: `${runId}:source`, after },
];
const end: AgentEvent = { type: 'run-end', outcome: 'complete' };

afterEach(() => vi.restoreAllMocks());

describe('a client that joins when a file has been written', () => {
  it('is told of it, as one that was there has been, and where it stands', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { client, requests, write, finish } = await doorTo();
    const there = client();
    const running = there.run('run-1');
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    await write('run-1', drawn('run-1'));
    await vi.waitFor(() => expect(there.beside).toEqual(besideOf('run-1', undefined)));
    const joined = client();
    const joining = joined.run('run-1');
    await vi.waitFor(() => expect(joined.beside).toEqual(besideOf('run-1', 'run-1:text')));
    await finish('run-1', [end]);
    await Promise.all([running, joining]);
    expect([there, joined].map(({ beside }) => beside.length)).toEqual([2, 2]);
    expect(joined.agent.messages).toEqual(there.agent.messages);
    const late = client();
    await late.run('run-1');
    expect(late.beside).toEqual(besideOf('run-1', 'run-1:text'));
    expect(warn).not.toHaveBeenCalled();
  });

  it('is told of those of earlier answers too, each once', async () => {
    const { client, requests, write, finish } = await doorTo();
    const there = client();
    const first = there.run('run-1');
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    await finish('run-1', [...drawn('run-1'), end]);
    await first;
    there.agent.addMessage({ id: 'u2', role: 'user', content: 'Again.' });
    const second = there.run('run-2');
    await vi.waitFor(() => expect(requests).toHaveLength(2));
    await write('run-2', drawn('run-2'));
    const joined = client([asked]);
    const joining = joined.run('run-2');
    const all = [...besideOf('run-1', 'run-1:text'), ...besideOf('run-2', 'run-2:text')];
    await vi.waitFor(() => expect(joined.beside).toEqual(all));
    await finish('run-2', [end]);
    await Promise.all([second, joining]);
    expect(joined.beside).toEqual(all);
  });
});
