import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readStored, startClientPage, waitForStored, type ClientPage } from './client-page.ts';

const doc = 'docs/clients/assistant-ui.md';

describe.each([
  { name: 'the AI SDK', title: 'ai-sdk.tsx', stops: true, resumes: true },
  { name: 'AG-UI', title: 'ag-ui.tsx', stops: false, resumes: false },
])('assistant-ui with $name', ({ title, stops, resumes }) => {
  let client: ClientPage;
  beforeAll(async () => {
    client = await startClientPage({ folder: 'clients', doc, title });
  });
  afterAll(() => client?.close());

  const send = async (page: Awaited<ReturnType<ClientPage['open']>>, text: string): Promise<void> => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };

  it('streams an answer and shows it again after a reload', async () => {
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
    expect(await page.getByText('weather: "sunny"').count()).toBe(1);
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

  it(`shows the answer after a reload in the middle${resumes ? '' : ' and another at its end'}`, async () => {
    const page = await client.open('reload');
    await send(page, 'A long answer');
    await page.getByText('word-3 ').waitFor();
    await page.reload();
    if (!resumes) {
      // The run continues on the server, and the page shows what is stored when it loads.
      await page.getByText('A long answer').waitFor();
      await waitForStored(client.server, 'reload', 'word-59');
      await page.reload();
    }
    await page.getByText('word-59').waitFor();
    await page.close();
  });

  it(`${stops ? 'stops the run' : 'only stops reading'} when the user stops`, async () => {
    const page = await client.open('stop');
    await send(page, 'A long answer');
    await page.getByText('word-3 ').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await waitForStored(client.server, 'stop', stops ? '"status":"aborted"' : 'word-59');
    expect(await page.getByText('word-59').count()).toBe(0);
    await page.close();
  });

  it('shows an error', async () => {
    const page = await client.open('error');
    await send(page, 'Fail');
    await page.getByText('The model is away.').waitFor();
    await page.close();
  });

  it('throws no errors', () => {
    expect(client.errors).toEqual([]);
  });
});
