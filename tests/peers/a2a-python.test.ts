import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { startDemoServer, type DemoServer } from '../../packages/server/test/demo-server.ts';
import { pythonFor } from '../../scripts/python.mjs';

const path = (name: string): string => fileURLToPath(new URL(`a2a-python/${name}`, import.meta.url));
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

describe('the client of a2a-sdk', () => {
  let server: DemoServer;
  beforeAll(async () => {
    server = await startDemoServer();
  });
  afterAll(() => server.close());
  beforeEach((context) => context.skip('missing' in found, 'missing' in found ? found.missing : ''));

  it.each(['JSONRPC', 'HTTP+JSON'])(
    'sends, streams, subscribes, answers, cancels and lists over %s',
    async (binding) => {
      const python = 'python' in found ? found.python : '';
      const args = [path('client.py'), `${server.url}/api/agents/helper/a2a`, binding];
      const { stdout } = await promisify(execFile)(python, args);
      const results = JSON.parse(stdout) as Results;
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
    },
  );
});
