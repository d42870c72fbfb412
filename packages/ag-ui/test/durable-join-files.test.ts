import { HttpAgent } from '@ag-ui/client';
import type { Message } from '@ag-ui/core';
import type { AgentEvent } from '@intertie/core';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../ai-sdk/test/serve.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { handDriven, type HandDriven } from './hand-driven-agent.ts';

const userMessage: Message = { id: 'u1', role: 'user', content: 'Draw.' };

/** File or source that a client received as a custom event. */
type Unattached = { name: string; id: string; after: string | undefined };
type Client = { agent: HttpAgent; unattached: Unattached[]; run(runId: string): Promise<unknown> };

async function start(): Promise<HandDriven & { client(messages?: Message[]): Client }> {
  const driven = await handDriven();
  const { url, close } = await serve(createAGUIHandler(driven.agent));
  onTestFinished(async () => {
    await close();
    driven.close();
  });
  const client = (initialMessages: Message[] = [userMessage]): Client => {
    const agent = new HttpAgent({ url, threadId: 'thread-1', initialMessages });
    const unattached: Unattached[] = [];
    const run = (runId: string): Promise<unknown> =>
      agent.runAgent(
        { runId },
        {
          onCustomEvent: ({ event: { name, value, metadata } }) => {
            const { after } = ((metadata ?? {}).intertie ?? {}) as { after?: string };
            unattached.push({ name, id: (value as { id: string }).id, after });
          },
        },
      );
    return { agent, unattached, run };
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
const getUnattached = (runId: string, after: string | undefined): Unattached[] => [
  { name: 'intertie.file', id: `${runId}:file`, after },
  { name: 'intertie.source', id: `${runId}:source`, after },
];
const end: AgentEvent = { type: 'run-end', outcome: 'complete' };

afterEach(() => vi.restoreAllMocks());

describe('a client that joins after a file was emitted', () => {
  it('sends a late client the file and the message before it', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { client, requests, write, finish } = await start();
    const stayed = client();
    const running = stayed.run('run-1');
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    await write('run-1', drawn('run-1'));
    await vi.waitFor(() => expect(stayed.unattached).toEqual(getUnattached('run-1', undefined)));
    const joined = client();
    const joining = joined.run('run-1');
    await vi.waitFor(() => expect(joined.unattached).toEqual(getUnattached('run-1', 'run-1:text')));
    await finish('run-1', [end]);
    await Promise.all([running, joining]);
    expect([stayed, joined].map(({ unattached }) => unattached.length)).toEqual([2, 2]);
    expect(joined.agent.messages).toEqual(stayed.agent.messages);
    const late = client();
    await late.run('run-1');
    expect(late.unattached).toEqual(getUnattached('run-1', 'run-1:text'));
    expect(warn).not.toHaveBeenCalled();
  });

  it('sends a late client the files of earlier answers once', async () => {
    const { client, requests, write, finish } = await start();
    const stayed = client();
    const first = stayed.run('run-1');
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    await finish('run-1', [...drawn('run-1'), end]);
    await first;
    stayed.agent.addMessage({ id: 'u2', role: 'user', content: 'Again.' });
    const second = stayed.run('run-2');
    await vi.waitFor(() => expect(requests).toHaveLength(2));
    await write('run-2', drawn('run-2'));
    const joined = client([userMessage]);
    const joining = joined.run('run-2');
    const all = [...getUnattached('run-1', 'run-1:text'), ...getUnattached('run-2', 'run-2:text')];
    await vi.waitFor(() => expect(joined.unattached).toEqual(all));
    await finish('run-2', [end]);
    await Promise.all([second, joining]);
    expect(joined.unattached).toEqual(all);
  });
});
