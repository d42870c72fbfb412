import axe from 'axe-core';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { launch } from './browser.ts';
import { ConsolePage } from './console-page.ts';
import { startConsoleServer, type ConsoleServer } from './console-server.ts';
import { audit, showView, sizes } from './sizes.ts';

const soon = { timeout: 20_000 };

describe('the console in daily use', () => {
  let server: ConsoleServer;
  let context: BrowserContext;
  let close: (() => Promise<void>) | undefined;
  let tab: ConsolePage;
  let page: Page;

  const summary = (): Locator => page.locator('.stream-summary');
  const sidebar = (): Locator => page.getByRole('navigation', { name: 'Threads' });
  const showPane = (name: string): Promise<void> => page.getByRole('tab', { name }).click();

  beforeAll(async () => {
    server = await startConsoleServer();
    ({ context, close } = await launch());
    tab = await ConsolePage.open(context, server.url);
    ({ page } = tab);
    await page.setViewportSize(sizes[0]);
  });

  afterAll(async () => {
    await close?.();
    await server?.close();
  });

  it('does not stop the answer on a double click on Send', async () => {
    await tab.start('Hello', 'slow');
    await tab.waitUntilIdle();
    await tab.input.fill('Write a long answer');
    await tab.button('Send').dblclick();
    await tab.waitForText('1. Events');
    expect(await tab.button('Stop').count()).toBe(1);
  });

  it('queues a message with Enter and sends it after the answer', async () => {
    await tab.send('This comes later');
    await page.getByLabel('Queued messages').getByText('This comes later').waitFor();
    await page.reload();
    await page.getByLabel('Queued messages').getByText('This comes later').waitFor();
    await tab.screenshot('daily-queued');
    await tab.button('Stop').click();
    await tab.waitForText('You said: This comes later');
    await tab.waitUntilIdle();
    expect(await page.getByLabel('Queued messages').count()).toBe(0);
  });

  it('replaces the answer with Ctrl+Enter', async () => {
    await tab.send('Write a long answer');
    await tab.waitForText('1. Events');
    await tab.input.fill('Something else');
    await tab.input.press('Control+Enter');
    await tab.waitForText('You said: Something else');
    await tab.waitUntilIdle();
    expect(await page.getByText('Stopped.').count()).toBeGreaterThan(0);
  });

  it('keeps the frames of the source after the connection was cut', async () => {
    await tab.start('Write a long answer', 'slow');
    await tab.waitForText('1. Events');
    await showPane('Streams');
    await page.locator('.head[data-column=frame]').waitFor();
    await page.getByRole('button', { name: 'Connection faults' }).click();
    await page.getByRole('button', { name: 'Cut', exact: true }).click();
    await tab.waitForText(/Resumed after event/);
    await page.keyboard.press('Escape');
    await tab.waitForText('3. Threads');
    const countFrames = async (): Promise<number> =>
      Number(await page.locator('.head[data-column=frame] b').innerText());
    const before = await countFrames();
    expect(before).toBeGreaterThan(5);
    await expect.poll(countFrames, soon).toBeGreaterThan(before);
    await tab.button('Stop').click();
    await tab.waitForText('Stopped.');
    await summary().getByText('stopped').waitFor();
    expect(await countFrames()).toBeGreaterThan(before);
    tab.ignoreNetworkErrors();
  });

  it('removes a connection error after reconnecting', async () => {
    await tab.start('Hello there', 'helper');
    await tab.waitUntilIdle();
    await context.setOffline(true);
    try {
      await tab.send('Are you there?');
      await page.locator('.failure').waitFor();
    } finally {
      await context.setOffline(false);
    }
    await tab.button('Try again').click();
    await tab.waitForText('You said: Are you there?');
    await tab.waitUntilIdle();
    expect(await page.locator('.failure, .problem').count()).toBe(0);
    tab.ignoreNetworkErrors();
  });

  it('shows the question of a swarm as a question, and answers it in the composer', async () => {
    await tab.start('Plan a trip to Bergen, and ask me first', 'swarm');
    const card = page.getByLabel(/^Question: Before anybody books/);
    await card.getByRole('button', { name: 'Decline to answer' }).waitFor();
    await tab.waitForText('Answering:');
    expect(await page.locator('.segment', { has: card }).locator('.speaker').innerText()).toContain('supervisor');
    expect(await card.getByText('Submit result').count()).toBe(0);
    await summary().getByText('waiting for you').waitFor();
    await tab.screenshot('daily-question');
    await expect.poll(() => sidebar().locator('[data-current] .waiting-mark').count(), soon).toBe(1);
    await expect.poll(() => page.title(), soon).toMatch(/^\(1\) /);
    await tab.input.fill('money');
    await tab.button('Answer').last().click();
    await tab.waitForText('You said: money. Go by bus.');
    await card.getByText('Answered by you:').waitFor();
    expect(await page.locator('article.user').count()).toBe(1);
    await expect.poll(() => sidebar().locator('.waiting-mark').count(), soon).toBe(0);
  });

  it('names who approved a call', async () => {
    await tab.start('Send an email to Ada', 'helper');
    await tab.button('Approve').click();
    await tab.waitForText('Done: the email is');
    await tab.waitForText('Approved by you.');
    expect(await tab.button('Approve').count()).toBe(0);
  });

  it('lists everything that waits in an inbox that the keyboard reaches', async () => {
    await tab.start('Send an email to Grace', 'helper');
    await tab.button('Approve').waitFor();
    const waiting = page.url();
    await tab.start('Two at once', 'questions');
    await tab.button('Approve').first().waitFor();
    await tab.waitUntilIdle();
    await page.locator('.chat-bar .title').click();
    await page.keyboard.press('w');
    const inbox = page.getByRole('list', { name: 'Waiting for you' });
    await expect.poll(() => inbox.getByRole('link').count(), soon).toBe(3);
    await tab.screenshot('daily-inbox');
    await inbox.getByRole('link').filter({ hasText: 'Send an email to Grace' }).focus();
    await page.keyboard.press('Enter');
    await expect
      .poll(() => new URL(page.url()).searchParams.get('thread'))
      .toBe(new URL(waiting).searchParams.get('thread'));
    await sidebar().getByRole('button', { name: 'All', exact: true }).click();
    expect(await sidebar().locator('.waiting-mark').count()).toBe(2);
  });

  it('marks a thread that waits for a plain message, until it is answered', async () => {
    const mark = sidebar().locator('.thread', { hasText: 'Night trains' }).locator('.waiting-mark');
    await tab.start('Night trains', 'newsroom');
    await tab.waitForText('Shall I publish it?');
    await tab.waitUntilIdle();
    const paused = new URL(page.url()).searchParams.get('thread');
    await mark.waitFor();
    const count = Number(/^\((\d+)\) /.exec(await page.title())?.[1]);
    await sidebar().getByRole('button', { name: 'New thread' }).click();
    await page.getByRole('button', { name: /^Waiting/ }).click();
    const inbox = page.getByRole('list', { name: 'Waiting for you' });
    await expect.poll(() => inbox.getByRole('link').count(), soon).toBe(count);
    await inbox.getByRole('link', { name: /^Waits for your message newsroom · Night trains/ }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('thread')).toBe(paused);
    await sidebar().getByRole('button', { name: 'All', exact: true }).click();
    await tab.waitForText('Shall I publish it?');
    await tab.waitUntilIdle();
    await tab.send('yes');
    await tab.waitForText('Published: https://example.com/column');
    await tab.waitUntilIdle();
    await mark.waitFor({ state: 'detached' });
    await expect.poll(() => page.title(), soon).toMatch(new RegExp(`^\\(${count - 1}\\) `));
  });

  it('shows the agent that answered in the topology, and no Markdown syntax in the tree and the tape', async () => {
    await tab.start('What is the weather in Lisbon?', 'helper');
    await tab.waitForText('In Lisbon it is');
    await tab.waitUntilIdle();
    await showPane('Topology');
    await page.locator('.agent-card', { hasText: 'complete' }).waitFor();
    await showPane('Tree');
    const preview = page.locator('.tree-row', { hasText: 'In Lisbon it is' }).locator('.preview');
    expect(await preview.innerText()).not.toContain('**');
    await showPane('Tape');
    await page.locator('.tape-message strong').first().waitFor();
    await showPane('Streams');
  });

  it('previews the answer of a swarm, not a message between its agents', async () => {
    await tab.start('What is known about tides?', 'swarm');
    await tab.waitUntilIdle();
    await showPane('Tree');
    const preview = page.locator('.tree-row .preview').last();
    await expect.poll(() => preview.innerText(), soon).toContain('of three sources');
    expect(await preview.innerText()).not.toContain('Sources, please');
    await showPane('Streams');
  });

  it('offers no composer for a missing thread', async () => {
    const missing = await ConsolePage.open(context, `${server.url}/?thread=missing`);
    await missing.waitForText('Thread not found.');
    expect(await missing.input.count()).toBe(0);
    // The status bar of an empty inspector is at its end.
    const bar = (await missing.page.locator('.stream-summary').boundingBox())!;
    expect(bar.y + bar.height).toBeGreaterThan(missing.page.viewportSize()!.height - 10);
    await missing.screenshot('daily-missing');
    await missing.page.close();
  });

  it('renders the end of a thread of 1,000 messages, and earlier ones as the user scrolls up', async () => {
    const messages = Array.from({ length: 1000 }, (_, n) => ({
      id: `long-${n}`,
      role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
      parts: [{ type: 'text' as const, text: `Message ${n} with **some** Markdown.` }],
    }));
    await server.intertie.agents.get('helper')!.importMessages({ threadId: 'long', messages });
    const long = await ConsolePage.open(context, `${server.url}/?thread=long`);
    const rows = long.page.locator('.message');
    await long.waitForText('Message 999 with');
    expect(await rows.count()).toBeLessThanOrEqual(50);
    const scroller = long.page.locator('.scroller');
    await scroller.hover();
    const top = await rows.first().textContent();
    await expect
      .poll(async () => {
        await long.page.mouse.wheel(0, -2000);
        return rows.count();
      }, soon)
      .toBeGreaterThan(50);
    // The messages that were at the top are still near the view.
    const kept = rows.filter({ hasText: top!.slice(0, 12) }).first();
    expect(Math.abs((await kept.boundingBox())!.y)).toBeLessThan(3000);
    await long.page.getByRole('button', { name: 'Show earlier messages' }).waitFor();
    await long.page.close();
  });

  it('keeps the time of a thread and its actions apart', async () => {
    const row = page.locator('.thread').nth(1);
    await row.hover();
    expect(await row.locator('time').evaluate((time) => getComputedStyle(time).visibility)).toBe('hidden');
  });

  it.each(sizes)('shows streams, all tabs and cards completely at $width px', async (size) => {
    await page.setViewportSize(size);
    await showView(page, 'Chat');
    await tab.input.waitFor();
    await tab.send('What is the weather in Oslo?');
    await tab.waitUntilIdle();
    await showView(page, 'Inspect');
    await page.locator('.stream-row').first().waitFor();
    // The visible rows are rendered, also if the list was hidden during the run.
    const hasVisibleRow = (): Promise<boolean> =>
      page.locator('.stream-rows').evaluate((list) => {
        const box = list.getBoundingClientRect();
        return document.elementFromPoint(box.left + box.width / 2, box.top + 30)?.closest('.stream-row') !== null;
      });
    await expect.poll(hasVisibleRow, soon).toBe(true);
    for (const name of ['Streams', 'Topology', 'Timeline', 'Tree', 'Tape']) {
      const box = (await page.getByRole('tab', { name }).boundingBox())!;
      expect(box.x + box.width, name).toBeLessThanOrEqual(size.width);
      await showPane(name);
      await page.locator(`#panel-${name.toLowerCase()} > :not(.empty)`).first().waitFor();
      await tab.screenshot(`daily-${size.width}-${name.toLowerCase()}`);
    }
    await showPane('Streams');
    await showView(page, 'Chat');
    const cut = await page
      .locator('.card')
      .evaluateAll(
        (cards) =>
          cards.filter((card) => card.getBoundingClientRect().right > innerWidth || card.scrollWidth > card.clientWidth)
            .length,
      );
    expect(cut).toBe(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const view of size.width > 900 ? (['Chat'] as const) : (['Threads', 'Inspect', 'Chat'] as const)) {
        await showView(page, view);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        await page.evaluate(axe.source);
        expect(await page.evaluate(audit), `${view} ${colorScheme}`).toEqual([]);
        await tab.screenshot(`daily-${size.width}-${colorScheme}-${view.toLowerCase()}`);
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('logs no errors', () => {
    expect(tab.errors).toEqual([]);
  });
});
