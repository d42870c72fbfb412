import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { install } from '../../scripts/install.mjs';
import { root } from '../../scripts/workspace.mjs';
import { clientAgent } from './client-agent.ts';
import { readStored, startClientPage, type ClientPage } from './client-page.ts';
import { testClient } from './client-suite.ts';

process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
const doc = 'docs/clients/copilotkit.md';

type Handler = (request: Request) => Promise<Response>;

/** Statements for the runtime's module, because all runtimes of a process share their threads. */
const forgetThreads = `
import { InMemoryAgentRunner } from '@copilotkit/runtime/v2';
export const forget = () => new InMemoryAgentRunner().clearThreads();
`;

/** Starts the runtime of the documentation page, in the folder of the peer tests that has its dependencies. */
async function startRuntime(server: string): Promise<Handler> {
  const folder = 'tests/peers/ag-ui-copilotkit';
  install(folder);
  const text = readFileSync(join(root, doc), 'utf8');
  const [, program = ''] = /^```js title=runtime\.mjs\n(.*?)^```$/ms.exec(text) ?? [];
  const path = join(root, folder, '.intertie');
  mkdirSync(path, { recursive: true });
  const file = join(path, `runtime-${new URL(server).port}-${crypto.randomUUID()}.mjs`);
  writeFileSync(file, program.replaceAll('http://127.0.0.1:4111', server) + forgetThreads);
  const { handle, forget } = (await import(pathToFileURL(file).href)) as { handle: Handler; forget: () => void };
  forget();
  return handle;
}

const page = { folder: 'copilotkit', doc, title: 'page.tsx', startApi: startRuntime };

testClient({
  ...page,
  name: 'CopilotKit',
  input: /.*/,
  joins: true,
  stops: false,
  showsErrors: false,
  clickStop: (tab) => tab.getByTestId('copilot-send-button').click(),
});

describe('CopilotKit with LangGraph interrupts', () => {
  let client: ClientPage;
  beforeAll(async () => {
    client = await startClientPage({ ...page, agent: { ...clientAgent, interrupts: 'langgraph' } });
  });
  afterAll(() => client?.close());

  it('continues after an approval', async () => {
    const tab = await client.open('approval');
    await tab.getByRole('textbox').fill('Send an email');
    await tab.keyboard.press('Enter');
    await tab.getByRole('button', { name: 'Approve' }).click();
    await tab.getByText('The result is: "sent".').first().waitFor();
    expect(await readStored(client.server, 'approval')).toContain('"approved":true');
  });
});

describe('CopilotKit after a restart of its runtime', () => {
  let client: ClientPage;
  let restart: () => Promise<void>;
  beforeAll(async () => {
    const startApi = async (server: string): Promise<Handler> => {
      let handle = await startRuntime(server);
      restart = async () => void (handle = await startRuntime(server));
      return (request) => handle(request);
    };
    client = await startClientPage({ ...page, startApi });
  });
  afterAll(() => client?.close());

  it('continues the thread of the server without showing its older messages', async () => {
    const tab = await client.open('restart');
    const send = async (text: string): Promise<void> => {
      await tab.getByRole('textbox').fill(text);
      await tab.keyboard.press('Enter');
      await tab.getByText(`You said: ${text}.`).first().waitFor();
    };
    await send('Hello');
    await restart();
    await tab.reload();
    await tab.waitForLoadState('networkidle');
    expect(await tab.getByText('You said: Hello.').count()).toBe(0);
    await send('Again');
    expect(await tab.getByText(/^You said: /).allTextContents()).toEqual(['You said: Again.']);
    const stored = await readStored(client.server, 'restart');
    expect(stored.match(/"role":"user"/g)).toHaveLength(2);
    expect(client.errors).toEqual([]);
  });
});
