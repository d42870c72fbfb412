import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { newPostgresUrl } from '../../packages/postgres/test/databases.ts';
import { startDemoServer, type DemoServer } from '../../packages/server/test/demo-server.ts';
import { spawnNode } from '../../packages/server/test/nodes.ts';
import { pythonFor } from '../../scripts/python.mjs';

const path = (name: string): string => fileURLToPath(new URL(`a2a-python/${name}`, import.meta.url));
const nodeProgram = fileURLToPath(new URL('../../packages/server/test/a2a-node-process.mjs', import.meta.url));
const found = pythonFor(path('requirements.txt'));

type TaskResult = { id: string; state: string; text: string };
type Results = {
  [name in 'streamed' | 'sent' | 'got' | 'asked' | 'answered' | 'subscribed' | 'text' | 'canceled']: TaskResult;
} & {
  listed: number;
  subscribedFirst: string;
  errors: { [name: string]: string | null };
  files: string[];
};

/** Runs a command of the Python client. */
async function call<Result>(command: string, ...args: string[]): Promise<Result> {
  const python = 'python' in found ? found.python : '';
  const { stdout } = await promisify(execFile)(python, [path('client.py'), command, ...args]);
  return JSON.parse(stdout) as Result;
}

const getUrl = (server: { url: string }, agent: string): string => `${server.url}/api/agents/${agent}/a2a`;

describe('the client of a2a-sdk', () => {
  let server: DemoServer;
  beforeAll(async () => {
    server = await startDemoServer();
  });
  afterAll(() => server.close());
  beforeEach((context) => context.skip('missing' in found, 'missing' in found ? found.missing : ''));

  const agents = ['helper', 'swarm', 'newsroom', 'remote', 'recording'];
  const bindings = ['JSONRPC', 'HTTP+JSON'];

  it.each(bindings.flatMap((binding) => agents.map((agent) => [agent, binding] as const)))(
    'gets the answer of the demo agent %s over %s',
    async (agent, binding) => {
      type Asked = { [name in 'sent' | 'streamed' | 'got']: TaskResult } & { listed: string[] };
      const { sent, streamed, got, listed } = await call<Asked>('ask', getUrl(server, agent), binding);
      expect(sent).toMatchObject({ state: 'TASK_STATE_COMPLETED', text: expect.stringMatching(/\w/) });
      expect(streamed).toMatchObject({ state: 'TASK_STATE_COMPLETED', text: sent.text });
      expect(got).toMatchObject({ id: streamed.id, state: 'TASK_STATE_COMPLETED', text: sent.text });
      expect(listed).toEqual(expect.arrayContaining([sent.id, streamed.id]));
    },
  );

  it.each(bindings)('leaves a stream and subscribes to its task again over %s', async (binding) => {
    const slow = await startDemoServer({ pace: 0.3 });
    try {
      const url = getUrl(slow, 'helper');
      const left = await call<TaskResult>('leave', url, binding, '4');
      expect(left.state).toBe('TASK_STATE_WORKING');
      const done = await call<TaskResult>('subscribe', url, binding, left.id);
      expect(done).toMatchObject({ id: left.id, state: 'TASK_STATE_COMPLETED' });
      expect(done.text.startsWith(left.text)).toBe(true);
    } finally {
      await slow.close();
    }
  });

  it('subscribes on another node to a task whose node was killed', { timeout: 90_000 }, async () => {
    const database = await newPostgresUrl();
    const nodes = await Promise.all(
      [1, 2].map(async () => spawnNode(nodeProgram, [database, getUrl(server, 'helper')])),
    );
    const [first, second] = nodes.map((node) => node!);
    try {
      const left = await call<TaskResult>('leave', getUrl(first!, 'recording'), 'JSONRPC', '4');
      await first!.kill('SIGKILL');
      const url = getUrl(second!, 'recording');
      const done = await call<TaskResult>('subscribe', url, 'JSONRPC', left.id);
      expect(done).toMatchObject({ id: left.id, state: 'TASK_STATE_COMPLETED' });
      const { sent } = await call<{ sent: TaskResult }>('ask', url, 'JSONRPC');
      expect(done.text).toBe(sent.text);
    } finally {
      await Promise.all(nodes.map(async (node) => node?.kill('SIGKILL')));
    }
  });

  it.each(bindings)('reports missing credentials over %s', async (binding) => {
    const closed = await startDemoServer({ token: 'a-long-secret-token' });
    try {
      await expect(call('ask', getUrl(closed, 'helper'), binding)).rejects.toThrow('401');
    } finally {
      await closed.close();
    }
  });

  it.each(bindings)('sends, streams, subscribes, answers, cancels and lists over %s', async (binding) => {
    const results = await call<Results>('tour', getUrl(server, 'helper'), binding);
    expect(results.streamed.state).toBe('TASK_STATE_COMPLETED');
    expect(results.streamed.text).toContain('Lisbon');
    expect(results.sent.text).toBe(results.streamed.text);
    expect(results.got).toMatchObject({ id: results.streamed.id, text: results.streamed.text });
    expect(results.listed).toBe(2);
    expect(results.asked.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(results.subscribedFirst).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(results.answered).toMatchObject({ id: results.asked.id, state: 'TASK_STATE_COMPLETED' });
    expect(results.subscribed).toMatchObject({ state: 'TASK_STATE_COMPLETED', text: results.answered.text });
    expect(results.text).toMatchObject({ state: 'TASK_STATE_COMPLETED' });
    expect(results.text.text).not.toBe(results.answered.text);
    expect(results.canceled.state).toBe('TASK_STATE_CANCELED');
    expect(results.errors).toEqual({
      unknown: 'TaskNotFoundError',
      ended: 'TaskNotCancelableError',
      more: 'UnsupportedOperationError',
      subscribe: 'UnsupportedOperationError',
    });
    expect(results.files).toEqual(['image/svg+xml']);
  });
});
