import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { clientAgent } from './client-agent.ts';
import { readStored, startClientPage, waitForStored, type ClientPage } from './client-page.ts';

describe('TanStack AI', () => {
  let client: ClientPage;
  beforeAll(async () => {
    const agent = { ...clientAgent, stopOnDisconnect: { afterMs: 2_000 } };
    client = await startClientPage({ folder: 'clients', doc: 'docs/clients/tanstack-ai.md', title: 'page.tsx', agent });
  });
  afterAll(() => client?.close());

  const send = async (page: Page, text: string): Promise<void> => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };

  it('streams an answer across origins and shows it again after a reload', async () => {
    const page = await client.open('plain');
    await send(page, 'Hello');
    await page.getByText('You said: Hello.').waitFor();
    await page.reload();
    await page.getByText('You said: Hello.').waitFor();
    await send(page, 'Again');
    await page.getByText('You said: Again.').waitFor();
    await page.close();
  });

  it('shows a tool of the server', async () => {
    const page = await client.open('tool');
    await send(page, 'What is the weather?');
    await page.getByText('The result is: "sunny".').waitFor();
    expect(await page.getByText(/weather: "?sunny"?/).count()).toBe(1);
    await page.close();
  });

  it('runs a tool in the page and continues', async () => {
    const page = await client.open('client-tool');
    await send(page, 'Where am I?');
    await page.getByText('The result is: "Lisbon".').waitFor();
    expect(await readStored(client.server, 'client-tool')).toContain('Lisbon');
    await page.close();
  });

  it.each([
    ['Approve', 'The result is: "sent".'],
    ['Deny', 'The result is: '],
  ])('continues after an approval: %s', async (button, result) => {
    const page = await client.open(`approval-${button}`);
    await send(page, 'Send an email');
    await page.getByRole('button', { name: button }).click();
    await page.getByText(result).waitFor();
    await page.close();
  });

  it('joins a live run after a reload', async () => {
    const page = await client.open('reload');
    await send(page, 'A long answer');
    await page.getByText('word-3 ').waitFor();
    await page.reload();
    await page.getByText('word-59').waitFor();
    expect(await page.getByText('word-0 ').count()).toBe(1);
    await page.close();
  });

  it('stops a run of an agent with stopOnDisconnect', async () => {
    const page = await client.open('stop');
    await send(page, 'A long answer');
    await page.getByText('word-3 ').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await waitForStored(client.server, 'stop', '"status":"aborted"');
    await page.close();
  });

  it('shows an error', async () => {
    const page = await client.open('error');
    await send(page, 'Fail');
    await page.getByRole('alert').getByText('The model is away.').waitFor();
    await page.close();
  });

  it('throws no errors', () => {
    expect(client.errors).toEqual([]);
  });
});
