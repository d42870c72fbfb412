import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenResponses as createOpenResponses7 } from '@ai-sdk/open-responses-7';
import * as ai6 from 'ai';
import * as ai7 from 'ai-7';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startDemoAgents, type StartedDemos } from '../../packages/server/src/demo/start-demo-agents.ts';
import { startDemoServer, type DemoServer } from '../../packages/server/test/demo-server.ts';
import { retryingSource, toolSource } from '../../packages/server/test/tool-source.ts';
import { pythonFor } from '../../scripts/python.mjs';

const run = promisify(execFile);
const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let demo: StartedDemos;
let server: DemoServer;
beforeAll(async () => {
  demo = await startDemoAgents({ pace: 0 });
  const agents = { ...demo.agents, caller: toolSource(), retry: retryingSource() };
  server = await startDemoServer({ agents, limits: { requestsPerSecond: 10_000 } });
});
afterAll(async () => {
  await server.close();
  await demo.stop();
});

it('serves the openai package of Python', async (context) => {
  const found = pythonFor(path('openai/requirements.txt'));
  context.skip('missing' in found, 'missing' in found ? found.missing : '');
  if ('missing' in found) return;
  const { stdout } = await run(found.python, [path('openai/client.py'), server.url]);
  expect(JSON.parse(stdout)).toEqual({
    models: ['helper', 'swarm', 'newsroom', 'remote', 'recording', 'caller', 'retry'],
    tools: ['reasoning', 'mcp_call', 'reasoning', 'message'],
    sent: expect.stringContaining('is **sent**'),
    denied: expect.stringContaining('have **not** sent'),
    called: 'The tool returned "cold".',
    read: 'You sent image/png iVBORw==.',
    images: 1,
    background: expect.stringMatching(/^(?:cancelled|completed)$/),
    refused: 'model_not_found',
    unknown: 'previous_response_not_found',
    failed: 'failed',
    items: 'message',
    deleted: true,
  });
}, 300_000);

describe('Codex', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-codex-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('holds a conversation of two turns with the swarm', async () => {
    const home = join(folder, 'home');
    const work = join(folder, 'work');
    for (const created of [home, work]) mkdirSync(created);
    writeFileSync(
      join(home, 'config.toml'),
      `model = "swarm"
model_provider = "intertie"

[model_providers.intertie]
name = "Intertie"
base_url = "${server.url}/v1"
wire_api = "responses"
`,
    );
    const codex = async (...args: string[]): Promise<string> => {
      const started = run(path('node_modules/.bin/codex'), ['exec', ...args, '--skip-git-repo-check'], {
        cwd: work,
        env: { ...process.env, CODEX_HOME: home },
      });
      started.child.stdin?.end();
      return (await started).stdout;
    };
    expect(await codex('Where does the time go in our build?')).toContain('On "Where does the time go in our build?"');
    expect(await codex('resume', '--last', 'And in our tests?')).toContain('On "And in our tests?"');
    // Codex sends store: false, so both turns are in one hidden thread.
    const { threads } = await server.store.listThreads({ search: 'our build' });
    expect(threads).toEqual([]);
    const { runs } = await server.store.registry.listLatestRuns(server.store.scope);
    const threadIds = runs.map(({ run: { threadId } }) => threadId);
    const branches = await Promise.all(threadIds.map((threadId) => server.store.listMessages({ threadId })));
    expect(branches.map((branch) => branch.map(({ role }) => role))).toContainEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
  }, 120_000);
});

describe.each([
  ['6', ai6, createOpenResponses],
  ['7', ai7 as unknown as typeof ai6, createOpenResponses7 as unknown as typeof createOpenResponses],
] as const)('@ai-sdk/open-responses on ai %s', (name, ai, create) => {
  const model = (agent: string): ai6.LanguageModel =>
    create({ name: 'intertie', url: `${server.url}/open-responses/v1/responses` })(agent);

  it.each(['helper', 'swarm', 'newsroom'])('streams text of %s', async (agent) => {
    const result = ai.streamText({ model: model(agent), prompt: 'Hello there' });
    expect(await result.text).not.toBe('');
    // Open Responses writes the tools of a runtime as function calls too, which the AI SDK counts as calls of the client.
    expect(await result.finishReason).toBe(agent === 'newsroom' ? 'tool-calls' : 'stop');
  });

  it('executes a tool of the client and continues', async () => {
    const own = await startDemoServer({ agents: { caller: toolSource() } });
    try {
      const caller = create({ name: 'intertie', url: `${own.url}/open-responses/v1/responses` })('caller');
      const weather = ai.tool({
        description: 'The weather in a city',
        inputSchema: ai.jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
        execute: async ({ city }) => ({ city, celsius: 3 }),
      });
      const result = ai.streamText({
        model: caller,
        prompt: `Weather, please (${name})`,
        tools: { weather },
        stopWhen: ai.stepCountIs(3),
      });
      expect(await result.text).toBe('The tool returned {"city":"Oslo","celsius":3}.');
      expect((await result.steps).length).toBe(2);
    } finally {
      await own.close();
    }
  });
});
