import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { chatBody } from '../../packages/server/test/client.ts';
import { startDemoServer, type DemoServer } from '../../packages/server/test/demo-server.ts';

const run = promisify(execFile);
const json = ['-H', 'content-type: application/json'];

describe('curl', () => {
  let server: DemoServer;
  beforeAll(async () => {
    server = await startDemoServer({ pace: 0.2 });
  });
  afterAll(() => server.close());

  const curl = async (path: string, ...args: string[]): Promise<string> => {
    const { stdout } = await run('curl', ['--silent', '--no-buffer', ...args, server.url + path]);
    return stdout;
  };
  const read = async <T>(path: string): Promise<T> => JSON.parse(await curl(path)) as T;

  const untilLive = async (thread: string): Promise<void> => {
    while (!('live' in (await read<object>(`/api/threads/${thread}`)))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  it('gets the complete run when it retries after a disconnect', async () => {
    const body = ['--data', chatBody('cut', 'hello')];
    const asked = curl('/api/chat', ...json, ...body).catch((error: unknown) => error);
    await untilLive('cut');
    let cuts = 0;
    while (cuts === 0) {
      const answer = await curl('/api/dev/wire', ...json, '--data', '{"thread":"cut","cut":true}');
      ({ disturbed: cuts } = JSON.parse(answer) as { disturbed: number });
    }
    // curl reports an incomplete response as an error.
    expect(await asked).toBeInstanceOf(Error);
    const rest = await curl('/api/chat/cut/stream');
    expect(rest).toMatch(/"type":"start"[^]*"type":"finish"[^]*data: \[DONE\]\n\n$/);
    // A repeated request does not start a second run.
    expect(await curl('/api/chat', ...json, ...body)).toMatch(/data: \[DONE\]\n\n$/);
    const { runs } = await read<{ runs: Array<{ runId: string; state: string }> }>('/api/threads/cut/runs');
    expect(runs.map(({ state }) => state)).toEqual(['complete']);
  });

  it('follows a run by cursor, and as a stream', async () => {
    await curl('/api/chat', ...json, '--data', chatBody('follow', 'What is the weather in Oslo?'));
    const { runs } = await read<{ runs: Array<{ runId: string }> }>('/api/threads/follow/runs');
    const { runId } = runs[0]!;
    const all = await curl(`/api/runs/${runId}/events`);
    const ids = [...all.matchAll(/^id: (.+)$/gm)].map(([, id]) => id!);
    const tail = await curl(`/api/runs/${runId}/events`, '-H', `Last-Event-ID: ${ids[9]!}`);
    expect([...tail.matchAll(/^id: (.+)$/gm)].map(([, id]) => id)).toEqual(ids.slice(10));
    const events = await read<Array<{ type: string }>>(`/streams/runs/${runId}?offset=-1`);
    expect([events.length, events.at(-1)?.type]).toEqual([ids.length, 'run-end']);
    expect(await curl(`/streams/runs/${runId}`, '--head')).toMatch(/^stream-closed: true\r$/im);
  });

  it('stops a run', async () => {
    const talking = curl('/api/chat', ...json, '--data', chatBody('stop', 'Write a long answer'));
    await untilLive('stop');
    await curl('/api/chat/stop/stop', '--request', 'POST');
    expect(await talking).toContain('"type":"abort"');
  });
});
