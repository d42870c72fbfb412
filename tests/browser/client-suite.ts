import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readStored, startClientPage, waitForStored, type ClientPage, type ClientPageOptions } from './client-page.ts';

export type ClientSuiteOptions = ClientPageOptions & {
  name: string;
  /** Whether a reloaded page joins the live run. Otherwise it shows the answer on a load after its end. */
  joins: boolean;
  /** Whether a stop ends the run. Otherwise the page only stops reading. */
  stops: boolean;
  /** Whether a reloaded page shows an open approval. Otherwise the next message cancels it. Default: true. */
  keepsApprovals?: boolean;
  /** Whether the page shows the text of an error. */
  showsErrors: boolean;
  /** Label of the input. Default: `Message`. */
  input?: string | RegExp;
  clickStop?: (page: Page) => Promise<void>;
};

/** Time to install the packages of a client, once per machine. */
const installMs = 600_000;

/** Tests the program of a documentation page: stream, tools, approval, client tool, reload, stop, history and error. */
export function testClient(options: ClientSuiteOptions): void {
  const { name, joins, stops, keepsApprovals = true, showsErrors, input = 'Message' } = options;
  const { clickStop = (page) => page.getByRole('button', { name: 'Stop' }).click() } = options;

  describe(`the page of ${name}`, () => {
    let client: ClientPage;
    beforeAll(async () => void (client = await startClientPage(options)), installMs);
    afterAll(() => client?.close());

    const send = async (page: Page, text: string): Promise<void> => {
      await page.getByRole('textbox', { name: input }).fill(text);
      await page.keyboard.press('Enter');
    };
    const shows = async (page: Page, text: string): Promise<boolean> => {
      // A client may render a message twice for a moment.
      await page.getByText(text).first().waitFor();
      return true;
    };

    it('streams an answer, and shows it again after a reload', async () => {
      const page = await client.open('plain');
      await send(page, 'Hello');
      expect(await shows(page, 'You said: Hello.')).toBe(true);
      await page.reload();
      expect(await shows(page, 'You said: Hello.')).toBe(true);
      await send(page, 'Again');
      expect(await shows(page, 'You said: Again.')).toBe(true);
      await page.close();
    });

    it('shows a tool of the server', async () => {
      const page = await client.open('tool');
      await send(page, 'What is the weather?');
      expect(await shows(page, 'The result is: "sunny".')).toBe(true);
      expect(await page.getByText(/weather: "?sunny"?/).count()).toBe(1);
      await page.close();
    });

    it('runs a tool in the page, and continues', async () => {
      const page = await client.open('client-tool');
      await send(page, 'Where am I?');
      expect(await shows(page, 'The result is: "Lisbon".')).toBe(true);
      expect(await readStored(client.server, 'client-tool')).toContain('Lisbon');
      await page.close();
    });

    it.each([
      ['Approve', 'The result is: "sent".'],
      ['Deny', 'The result is: execution-denied.'],
    ])('continues after an approval: %s', async (button, result) => {
      const page = await client.open(`approval-${button}`);
      await send(page, 'Send an email');
      await page.getByRole('button', { name: button }).click();
      expect(await shows(page, result)).toBe(true);
      await page.close();
    });

    it(`${keepsApprovals ? 'shows' : 'continues without'} an open approval after a reload`, async () => {
      const page = await client.open('approval-reload');
      await send(page, 'Send an email');
      const approve = page.getByRole('button', { name: 'Approve' });
      await approve.waitFor();
      await page.reload();
      if (keepsApprovals) await approve.click();
      else {
        await shows(page, 'Send an email');
        await send(page, 'Hello');
      }
      expect(await shows(page, keepsApprovals ? 'The result is: "sent".' : 'You said: Hello.')).toBe(true);
      expect(keepsApprovals || (await approve.count()) === 0).toBe(true);
      await page.close();
    });

    it(`shows the answer after a reload in the middle${joins ? '' : ' and another at its end'}`, async () => {
      const page = await client.open('reload');
      await send(page, 'A long answer');
      await shows(page, 'word-3 ');
      await page.reload();
      if (!joins) {
        // The run continues on the server, and the page shows what is stored when it loads.
        await shows(page, 'A long answer');
        await waitForStored(client.server, 'reload', 'word-59');
        await page.reload();
      }
      expect(await shows(page, 'word-59')).toBe(true);
      await page.close();
    });

    it(`${stops ? 'stops the run' : 'only stops reading'} when the user stops`, async () => {
      const page = await client.open('stop');
      await send(page, stops ? 'A very long answer' : 'A long answer');
      await shows(page, 'word-3 ');
      await clickStop(page);
      await waitForStored(client.server, 'stop', stops ? '"status":"aborted"' : 'word-59');
      expect(await page.getByText('word-59').count()).toBe(0);
      expect((await readStored(client.server, 'stop')).match(/"role":"user"/g)).toHaveLength(1);
      await page.close();
    });

    it(`${showsErrors ? 'shows' : 'survives'} an error`, async () => {
      const page = await client.open('error');
      await send(page, 'Fail');
      if (showsErrors) await shows(page, 'The model is away.');
      await waitForStored(client.server, 'error', '"status":"error"');
      await send(page, 'Hello');
      expect(await shows(page, 'You said: Hello.')).toBe(true);
      await page.close();
    });

    it('throws no errors', () => {
      expect(client.errors).toEqual([]);
    });
  });
}
