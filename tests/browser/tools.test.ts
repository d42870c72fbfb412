import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { launch } from './browser.ts';
import { ConsolePage } from './console-page.ts';
import { startConsoleServer, type ConsoleServer } from './console-server.ts';
import { checkAppearance, showView, sizes } from './sizes.ts';

const soon = { timeout: 20_000 };

describe('the console as a tool', () => {
  let server: ConsoleServer;
  let context: BrowserContext;
  let close: (() => Promise<void>) | undefined;
  let tab: ConsolePage;
  let page: Page;

  const showPane = (name: string): Promise<void> => page.getByRole('tab', { name }).click();
  const calls = (): Locator => page.locator('.prompt-call');

  beforeAll(async () => {
    server = await startConsoleServer();
    ({ context, close } = await launch());
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    tab = await ConsolePage.open(context, server.url);
    ({ page } = tab);
    await page.setViewportSize(sizes[0]);
  });

  afterAll(async () => {
    await close?.();
    await server?.close();
  });

  it('shows what each step sent to the model, with usage and cost', async () => {
    await tab.start('What is the weather in Lisbon?', 'helper');
    await showPane('Prompts');
    await tab.waitUntilIdle();
    await expect.poll(() => calls().count(), soon).toBe(2);
    await page.getByText(/2 model calls · \d+ in · \d+ out · \$0\.00/).waitFor();
    const last = calls().last();
    await last.getByText('Result of weather').waitFor();
    expect(await last.locator('.prompt-message h3').allTextContents()).toEqual(['User', 'Assistant', 'Tool results']);
    await last.getByText('2 tools').click();
    await last.getByText('"sendEmail"').waitFor();
    for (const size of sizes) {
      await page.setViewportSize(size);
      await showView(page, 'Inspect');
      const box = (await page.getByRole('tab', { name: 'Prompts' }).boundingBox())!;
      expect(box.x + box.width).toBeLessThanOrEqual(size.width);
      await checkAppearance(tab, 'tools-prompts');
    }
    await page.setViewportSize(sizes[0]);
    await last.getByRole('button', { name: 'Copy as program' }).click();
    await last.getByText('Program copied.').waitFor();
    const program = await page.evaluate(() => navigator.clipboard.readText());
    expect(program).toContain('await generateText({');
    expect(program).toContain('What is the weather in Lisbon?');
  });

  it('runs a message again with a change, as a branch', async () => {
    await page.getByRole('button', { name: 'Run again with a change' }).click();
    const form = page.getByRole('form', { name: 'Run again with a change' });
    await expect.poll(() => form.getByLabel('Message').inputValue(), soon).toBe('What is the weather in Lisbon?');
    await tab.screenshot('tools-run-again');
    await form.getByLabel('Message').fill('What is the weather in Oslo?');
    await form.getByRole('button', { name: 'Run as a new branch' }).click();
    await tab.waitForText('In Oslo it is');
    await tab.waitUntilIdle();
    await page.getByLabel('Version 2 of 2').waitFor();
    expect(await page.locator('article.user').count()).toBe(1);
  });

  it('shows the input of a runtime that calls its models itself', async () => {
    await tab.start('What is known about tides?', 'swarm');
    await tab.waitUntilIdle();
    await page.getByText('This runtime calls its models itself.').waitFor();
    expect(await calls().locator('.prompt-message').innerText()).toContain('What is known about tides?');
    await showPane('Streams');
  });

  it('finds messages by their text, with highlights, and opens the thread at the message', async () => {
    const messages = Array.from({ length: 300 }, (_, n) => ({
      id: `search-${n}`,
      role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
      parts: [{ type: 'text' as const, text: n === 40 ? 'The zebra crosses the street.' : `Message ${n}.` }],
    }));
    await server.intertie.agents.get('helper')!.importMessages({ threadId: 'search', messages });
    const field = page.getByLabel('Search titles and messages');
    const found = page.getByRole('region', { name: 'Messages' });
    for (const size of sizes) {
      await page.setViewportSize(size);
      await showView(page, 'Threads');
      await field.fill('ZEB street');
      await expect.poll(() => found.locator('mark').allTextContents(), soon).toEqual(['zeb', 'street']);
      await checkAppearance(tab, 'tools-search');
      await field.fill('no such word');
      await found.getByText('No message contains these words.').waitFor();
      await field.fill('zebra');
      await found.getByRole('link').first().focus();
      await page.keyboard.press('Enter');
      const message = page.locator('[data-message="search-40"]');
      await message.waitFor();
      await expect.poll(() => page.evaluate(() => document.activeElement?.textContent), soon).toContain('The zebra');
      await expect
        .poll(async () => {
          const { y, height } = (await message.boundingBox())!;
          return y > 0 && y + height < size.height;
        }, soon)
        .toBe(true);
    }
    await page.setViewportSize(sizes[0]);
    await field.fill('');
    expect(await found.count()).toBe(0);
  });

  it('opens a message of another branch from the search', async () => {
    const field = page.getByLabel('Search titles and messages');
    const found = page.getByRole('region', { name: 'Messages' });
    await field.fill('weather Lisbon');
    await expect.poll(() => found.locator('mark').allTextContents(), soon).toEqual(['weather', 'Lisbon']);
    await found.getByRole('link').click();
    await page.getByLabel('Version 1 of 2').waitFor();
    await tab.waitForText('What is the weather in Lisbon?');
    await field.fill('');
  });

  it('shows code in colors, tables, images and text from right to left, at all sizes', async () => {
    await tab.start('Show everything', 'rich');
    await tab.waitUntilIdle();
    await page.locator('.code .hljs-keyword').first().waitFor();
    const answer = tab.answers.last();
    expect(await answer.locator('.code').last().innerText()).toContain('plain <b>text</b>');
    await answer.getByRole('img', { name: 'picture.png' }).waitFor();
    const getDirection = (text: string): Promise<string> =>
      answer
        .getByText(text)
        .first()
        .evaluate((element) => getComputedStyle(element).direction);
    expect(await getDirection('مرحبا، هذا نص')).toBe('rtl');
    expect(await getDirection('שלום עולם')).toBe('rtl');
    expect(await getDirection('A function')).toBe('ltr');
    for (const size of sizes) {
      await page.setViewportSize(size);
      await showView(page, 'Chat');
      await answer.getByText('A function').scrollIntoViewIfNeeded();
      await checkAppearance(tab, 'tools-rich');
      // The button that scrolls to the end is not shown if all messages fit.
      await expect
        .poll(() =>
          page.evaluate(() => {
            const { scrollHeight, clientHeight } = document.querySelector('.scroller')!;
            return scrollHeight <= clientHeight && document.querySelector('.to-end') !== null;
          }),
        )
        .toBe(false);
    }
    await page.setViewportSize(sizes[0]);
  });

  it('shows a tool output of 20,000 lines as its visible lines, with a search', async () => {
    const card = page.getByLabel('Tool read_log');
    await card.locator('summary').click();
    const lines = card.locator('.long-text-line');
    await lines.first().waitFor();
    expect(await lines.count()).toBeLessThan(80);
    await card.getByLabel('Search output').fill('NEEDLE');
    await card.getByText('Line 1 of 1').waitFor();
    expect(await card.locator('.long-text-line[data-current]').innerText()).toBe('line 12345 with a needle');
    expect(await card.locator('mark').innerText()).toBe('needle');
    for (const size of sizes) {
      await page.setViewportSize(size);
      await showView(page, 'Chat');
      await checkAppearance(tab, 'tools-output');
    }
    await page.setViewportSize(sizes[0]);
    await card.getByLabel('Search output').fill('line 2000');
    await card.getByText('Line 1 of 2').waitFor();
    await card.getByLabel('Search output').press('Enter');
    await card.getByText('Line 2 of 2').waitFor();
  });

  it('logs no errors', () => {
    expect(tab.errors).toEqual([]);
  });
});
