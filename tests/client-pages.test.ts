import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startDemoServer, type DemoServer } from '../packages/server/test/demo-server.ts';
import { root } from '../scripts/workspace.mjs';

const run = promisify(execFile);
const page = readFileSync(join(root, 'docs/clients/curl.md'), 'utf8');
const commands = [...page.matchAll(/^```sh title=(\S+)\n(.*?)^```$/gms)].map(([, title = '', text = '']) => ({
  title,
  text,
}));

/** Text in the output of each command of the page. */
const outputs: { [title: string]: string } = {
  send: '"type":"finish"',
  messages: '"role":"assistant"',
  approve: '"result":"accepted"',
  'ag-ui': 'RUN_FINISHED',
  stop: '"result"',
};

describe('the commands of docs/clients/curl.md', () => {
  let server: DemoServer;
  beforeAll(async () => {
    server = await startDemoServer();
  });
  afterAll(() => server.close());

  it('have the tested titles', () => {
    expect(commands.map(({ title }) => title)).toEqual(Object.keys(outputs));
  });

  it.each(commands)('run as written: $title', async ({ title, text }) => {
    const { stdout } = await run('bash', ['-euc', text.replaceAll('http://127.0.0.1:4111', server.url)]);
    expect(stdout).toContain(outputs[title]);
  });
});
