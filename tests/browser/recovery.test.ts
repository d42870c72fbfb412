import { createInMemoryStore, generateId } from '@intertie/core';
import { serve, type ServedIntertie } from 'intertie';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startDemoAgents, type StartedDemos } from '../../packages/server/dist/demo/start-demo-agents.js';
import { launch } from './browser.ts';
import { ConsolePage } from './console-page.ts';
import { checkEverySize, sizes } from './sizes.ts';

const leaseMs = 1500;
/** A server with this setting loses its lease while it runs, as if it was frozen. */
const frozen = { heartbeatMs: 600_000, sweepMs: 600_000 };

describe('the console of a server that continues the runs of another one', () => {
  const store = createInMemoryStore({ leaseMs });
  const stops: Array<() => Promise<void>> = [];
  let server: ServedIntertie;
  let context: BrowserContext;
  let tab: ConsolePage;
  let page: Page;

  const startServer = async (runs?: typeof frozen): Promise<ServedIntertie> => {
    const demo: StartedDemos = await startDemoAgents({ pace: 0.6 });
    const agents = { helper: demo.agents.helper! };
    const started = await serve({ database: store, agents }, { port: 0, ...(runs && { runs }) });
    stops.push(
      () => started.close(),
      () => demo.stop(),
    );
    return started;
  };

  /** Starts a long answer on a server and returns the id of its thread. Reads the beginning of the answer. */
  const startAnswer = async ({ url }: ServedIntertie): Promise<string> => {
    const id = generateId();
    const messages = [{ id: `${id}-1`, role: 'user', parts: [{ type: 'text', text: 'Write a long answer' }] }];
    const response = await fetch(`${url}/api/agents/helper/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id, messages }),
    });
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body!) {
      text += decoder.decode(bytes, { stream: true });
      if (text.includes('text-delta')) break;
    }
    return id;
  };

  const spans = (): Locator => page.locator('.span-row .label');
  const facts = (): Locator => page.locator('.timeline-facts');

  beforeAll(async () => {
    server = await startServer();
    const launched = await launch();
    ({ context } = launched);
    stops.unshift(launched.close);
    tab = await ConsolePage.open(context, server.url);
    ({ page } = tab);
    await page.setViewportSize(sizes[0]);
  });

  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  it('shows in the timeline that another server has continued the run after a crash', async () => {
    const thread = await startAnswer(await startServer(frozen));
    await page.goto(`${server.url}/?thread=${thread}&pane=timeline`);
    await spans().getByText('attempt 2').waitFor({ timeout: 60_000 });
    await tab.waitForText('8. Ends');
    await tab.waitUntilIdle();
    await checkEverySize(tab, { name: 'recovered', view: 'Inspect' }, async () => {
      await facts().getByText('1 change of process').waitFor();
      expect(await spans().getByText('attempt 2').isVisible()).toBe(true);
    });
    await checkEverySize(tab, { name: 'recovered-chat', view: 'Chat' });
    await page.getByRole('tab', { name: 'Streams' }).click();
    await page.locator('.stream-summary').getByText('1 recovery').waitFor();
    await checkEverySize(tab, { name: 'recovered-streams', view: 'Inspect' });
  });

  it('shows in the timeline that a server has handed the run over at its shutdown', async () => {
    const leaving = await startServer();
    const thread = await startAnswer(leaving);
    await leaving.close();
    await page.goto(`${server.url}/?thread=${thread}&pane=timeline`);
    await spans().getByText('handed over').waitFor({ timeout: 60_000 });
    await tab.waitForText('8. Ends');
    await tab.waitUntilIdle();
    await checkEverySize(tab, { name: 'handed-over', view: 'Inspect' }, async () => {
      await facts().getByText('1 change of process').waitFor();
      expect(await spans().getByText('handed over').isVisible()).toBe(true);
    });
  });

  it('counts the reconnects of the page in the timeline', async () => {
    const thread = await startAnswer(server);
    await page.goto(`${server.url}/?thread=${thread}&pane=timeline`);
    await tab.waitForText('1. Events');
    await spans().first().waitFor();
    await page.getByRole('button', { name: 'Connection faults' }).click();
    await page.getByRole('button', { name: 'Cut', exact: true }).click();
    await page.keyboard.press('Escape');
    await facts().getByText('1 reconnect').waitFor();
    await tab.waitForText('8. Ends');
    await tab.waitUntilIdle();
    await checkEverySize(tab, { name: 'reconnects', view: 'Inspect' }, () =>
      facts().getByText('1 reconnect').waitFor(),
    );
    await page.getByRole('tab', { name: 'Streams' }).click();
    // The frames of the source from before and after the cut. A narrow inspector has no room for their column.
    await checkEverySize(tab, { name: 'reconnects-streams', view: 'Inspect' }, async () => {
      await page.locator('.stream-row').first().waitFor();
      if (page.viewportSize()!.width < 430) return;
      expect(Number(await page.locator('.head[data-column=frame] b').innerText())).toBeGreaterThan(100);
    });
    tab.ignoreNetworkErrors();
  });

  it('logs no errors', () => {
    // The other server recorded the frames of the source: the browser logs the 404.
    expect(tab.errors.filter((error) => !error.includes('status of 404'))).toEqual([]);
  });
});
