import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { pack } from '../../scripts/pack.mjs';
import { startIntertie, type StartedIntertie } from './start-intertie.ts';

const run = promisify(execFile);

describe('intertie, packed and installed in an empty folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-server-'));

  beforeAll(async () => {
    const archives = pack(folder).map(({ archive }) => archive);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', ...archives], { cwd: folder });
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The program behind `npx intertie`, so that signals reach it instead of npx. */
  const start = (...args: string[]): Promise<StartedIntertie> =>
    startIntertie(join(folder, 'node_modules/.bin/intertie'), [...args, '--port', '0'], { cwd: folder });

  it('starts with the demo agents, stores messages, and has them after a restart', async () => {
    const first = await start();
    expect(first.agents).toEqual(['helper', 'swarm', 'newsroom', 'remote', 'recording']);
    const messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'What is the weather in Oslo?' }] }];
    const body = JSON.stringify({ id: 'kept', messages });
    const answer = await fetch(`${first.url}/api/chat`, { method: 'POST', body });
    expect(await answer.text()).toContain('[DONE]');
    // The console, not the plain page that replaces it in a checkout without a build.
    expect(await (await fetch(first.url)).text()).toContain('/assets/');
    expect(await first.stop()).toBe(0);
    const second = await start();
    const kept = (await (await fetch(`${second.url}/api/threads/kept/messages`)).json()) as { messages: unknown[] };
    expect(kept.messages).toHaveLength(2);
    expect(await second.stop()).toBe(0);
  });

  it('reads a TypeScript configuration, and exits although the configuration holds a handle', async () => {
    writeFileSync(
      join(folder, 'intertie.config.ts'),
      `import { defineConfig, tape, type IntertieConfig } from 'intertie';
      const items: Array<{ t: number; item: unknown }> = [
        { t: 0, item: { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' } },
        { t: 1, item: { type: 'run-end', outcome: 'complete' } },
      ];
      const config: IntertieConfig = defineConfig({
        agents: { recorded: tape({ header: { tape: 1, dialect: 'canonical' }, items }) },
      });
      setInterval(() => undefined, 1_000); // A handle that stays open, like that of a connection pool.
      export default config;`,
    );
    const served = await start('serve');
    expect(served.agents).toEqual(['recorded']);
    expect(await served.stop()).toBe(0);
  });
});
