import { createRequire } from 'node:module';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { install } from '../../scripts/install.mjs';
import { root } from '../../scripts/workspace.mjs';
import { clientAgent } from './client-agent.ts';
import { readStored, startClientPage, waitForStored, type ClientPage } from './client-page.ts';

process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
const doc = 'docs/clients/copilotkit.md';

/** Time to install the packages of CopilotKit, once per machine. */
const installMs = 600_000;

type Handler = (request: Request) => Promise<Response>;

/** Starts the runtime of the documentation page, in the folder of the peer tests that has its dependencies. */
async function startRuntime(server: string): Promise<Handler> {
  const folder = 'tests/peers/ag-ui-copilotkit';
  install(folder);
  const text = readFileSync(join(root, doc), 'utf8');
  const [, program = ''] = /^```js title=runtime\.mjs\n(.*?)^```$/ms.exec(text) ?? [];
  const path = join(root, folder, '.intertie');
  mkdirSync(path, { recursive: true });
  const file = join(path, `runtime-${new URL(server).port}.mjs`);
  writeFileSync(file, program.replaceAll('http://127.0.0.1:4111', server));
  createRequire(file).resolve('@copilotkit/runtime/v2');
  const { handle } = (await import(pathToFileURL(file).href)) as { handle: Handler };
  return handle;
}

describe.each([
  { name: 'outcome', interrupts: 'outcome' as const },
  { name: 'LangGraph', interrupts: 'langgraph' as const },
])('CopilotKit with interrupts of form $name', ({ interrupts }) => {
  let client: ClientPage;
  beforeAll(async () => {
    const agent = { ...clientAgent, interrupts };
    client = await startClientPage({ folder: 'copilotkit', doc, title: 'page.tsx', agent, startApi: startRuntime });
  }, installMs);
  afterAll(() => client?.close());

  const send = async (page: Page, text: string): Promise<void> => {
    await page.getByRole('textbox').fill(text);
    await page.keyboard.press('Enter');
  };

  const approve = async (button: string, result: string): Promise<void> => {
    const page = await client.open(`approval-${button}`);
    await send(page, 'Send an email');
    await page.getByRole('button', { name: button }).click();
    await page.getByText(result).first().waitFor();
    await page.close();
  };

  it('continues after an approval', () => approve('Approve', 'The result is: "sent".'));
  if (interrupts === 'langgraph') return;
  it('continues after a denial', () => approve('Deny', 'The result is: execution-denied.'));

  it('streams an answer and shows it again after a reload', async () => {
    const page = await client.open('plain');
    await send(page, 'Hello');
    await page.getByText('You said: Hello.').first().waitFor();
    await page.reload();
    await page.getByText('You said: Hello.').first().waitFor();
    await send(page, 'Again');
    await page.getByText('You said: Again.').first().waitFor();
    await page.close();
  });

  it('shows a tool of the server', async () => {
    const page = await client.open('tool');
    await send(page, 'What is the weather?');
    await page.getByText('The result is: "sunny".').first().waitFor();
    expect(await page.getByText('weather: sunny').count()).toBe(1);
    await page.close();
  });

  it('runs a tool in the page and continues', async () => {
    const page = await client.open('client-tool');
    await send(page, 'Where am I?');
    await page.getByText('The result is: "Lisbon".').first().waitFor();
    expect(await readStored(client.server, 'client-tool')).toContain('Lisbon');
    await page.close();
  });

  it('shows the whole answer after a reload in the middle', async () => {
    const page = await client.open('reload');
    await send(page, 'A long answer');
    await page.getByText('word-3 ').first().waitFor();
    await page.reload();
    await page.getByText('word-59').first().waitFor();
    await page.close();
  });

  it('stops reading when the user stops', async () => {
    const page = await client.open('stop');
    await send(page, 'A long answer');
    await page.getByText('word-3 ').first().waitFor();
    await page.getByTestId('copilot-send-button').click();
    await waitForStored(client.server, 'stop', 'word-59');
    expect(await page.getByText('word-59').count()).toBe(0);
    await page.close();
  });

  it('survives an error', async () => {
    const page = await client.open('error');
    await send(page, 'Fail');
    await waitForStored(client.server, 'error', '"status":"error"');
    await send(page, 'Hello');
    await page.getByText('You said: Hello.').first().waitFor();
    await page.close();
  });
});
