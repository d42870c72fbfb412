import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { root } from '../../scripts/workspace.mjs';
import { launch } from './browser.ts';

/** The example as `npm start` runs it, ten times as fast. */
function start(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [
    join(root, 'examples/chat-page/dist/main.js'),
    '--port',
    '0',
    '--speed',
    '10',
  ]);
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (data: Buffer) => {
      said += data.toString();
      const url = /http:\/\/localhost:\d+/.exec(said)?.[0];
      if (url) resolve({ url, child });
    });
    child.stderr.on('data', (data: Buffer) => void (said += data.toString()));
    child.on('exit', () => reject(new Error(`It ended: ${said}`)));
  });
}

describe('the chat page', () => {
  let child: ChildProcess | undefined;
  let close: (() => Promise<void>) | undefined;
  let context: BrowserContext;
  let page: Page;
  let url: string;
  const complaints: string[] = [];

  beforeAll(async () => {
    ({ url, child } = await start());
    ({ context, close } = await launch());
    page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    await page.goto(url);
  });

  afterAll(async () => {
    await close?.();
    child?.kill();
  });

  const shown = (name: string) => page.getByText(name, { exact: false }).first().waitFor();
  const agents = () => page.locator('.turn h2').allTextContents();

  it('sends by the keyboard, and streams what three agents say and do', async () => {
    await page.getByLabel('Your message').fill('Why is our build so slow?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await page.locator('details.reasoning').first().waitFor();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    expect(await agents()).toEqual(['Planner', 'Log reader', 'Critic']);
    const colours = await page
      .locator('.turn h2')
      .evaluateAll((names) => names.map((name) => getComputedStyle(name).color));
    expect(new Set(colours).size).toBe(3);
    expect(await page.getByLabel('Tool read_log').getAttribute('data-state')).toBe('output-available');
    expect(await page.locator('.turn li').count()).toBe(3);
  });

  it('goes on where it was after a reload, and asks still', async () => {
    const before = await page.locator('main').textContent();
    await page.reload();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    expect(await page.locator('main').textContent()).toBe(before);
  });

  it('does what was allowed, in the same message', async () => {
    await page.getByRole('button', { name: 'Allow' }).press('Enter');
    await shown('61 entries');
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await page.locator('article.assistant').count()).toBe(1);
    expect(await page.getByLabel('Tool clear_cache').getAttribute('data-state')).toBe('output-available');
    const after = await page.locator('main').textContent();
    await page.reload();
    await shown('61 entries');
    expect(await page.locator('main').textContent()).toBe(after);
  });

  it('is told no, and why; stops when told to', async () => {
    await page.getByRole('button', { name: 'New chat' }).click();
    await page.getByRole('button', { name: 'Why is our build so slow?' }).click();
    await page.getByLabel('Why not?').fill('Not today.');
    await page.keyboard.press('Enter');
    await shown('the cache stays');
    expect(await page.getByLabel('Tool clear_cache').textContent()).toContain('Not today.');
    await page.getByRole('button', { name: 'Send' }).waitFor();

    await page.getByLabel('Your message').fill('And the time?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it.each([
    ['light', 390],
    ['dark', 390],
    ['light', 1200],
    ['dark', 1200],
  ] as const)('fits, %s and %i wide', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const { over, ink, ground } = await page.evaluate(() => {
      const { color, backgroundColor } = getComputedStyle(document.body);
      const { scrollWidth } = document.documentElement;
      return { over: scrollWidth - innerWidth, ink: color, ground: backgroundColor };
    });
    expect(over).toBeLessThanOrEqual(0);
    const light = (colour: string): number => Number(/\d+/.exec(colour)?.[0]);
    expect(light(ink) < light(ground)).toBe(colorScheme === 'light');
  });

  it('did so without a complaint', () => {
    expect(complaints).toEqual([]);
  });
});
