import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { clientAgent } from './client-agent.ts';
import { startClientPage, waitForStored, type ClientPage } from './client-page.ts';
import { testClient } from './client-suite.ts';

const page = { folder: 'clients', doc: 'docs/clients/tanstack-ai.md', title: 'page.tsx' };

testClient({
  ...page,
  name: 'TanStack AI',
  // The client stops by disconnecting. A reloaded page joins the run before this time.
  agent: { ...clientAgent, stopOnDisconnect: { afterMs: 3_000 } },
  joins: true,
  stops: true,
  keepsApprovals: false,
  showsErrors: true,
});

describe('the page of TanStack AI with a tool that does not end', () => {
  let client: ClientPage;
  beforeAll(async () => {
    const change = (program: string): string =>
      program.replace(".client(() => 'Lisbon')", '.client(() => new Promise<string>(() => undefined))');
    client = await startClientPage({ ...page, change });
  });
  afterAll(() => client?.close());

  it('continues with another message after a reload, without running the tool again', async () => {
    const tab = await client.open('open-tool');
    await tab.getByRole('textbox', { name: 'Message' }).fill('Where am I?');
    await tab.keyboard.press('Enter');
    await waitForStored(client.server, 'open-tool', '"state":"input-available"');
    await tab.reload();
    await tab.getByText('getLocation: no result yet').waitFor();
    await tab.getByRole('textbox', { name: 'Message' }).fill('Hello');
    await tab.keyboard.press('Enter');
    await tab.getByText('You said: Hello.').first().waitFor();
    expect(client.errors).toEqual([]);
  });
});
