import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { root } from '../../scripts/workspace.mjs';
import { launch } from './browser.ts';

/** Starts the example like `npm start`, at ten times the speed. */
function start(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [
    join(root, 'examples/chat-page/dist/main.js'),
    '--port',
    '0',
    '--speed',
    '10',
  ]);
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString();
      const url = /http:\/\/localhost:\d+/.exec(output)?.[0];
      if (url) resolve({ url, child });
    });
    child.stderr.on('data', (data: Buffer) => void (output += data.toString()));
    child.on('exit', () => reject(new Error(`The example exited: ${output}`)));
  });
}

describe('the chat page', () => {
  let child: ChildProcess | undefined;
  let close: (() => Promise<void>) | undefined;
  let context: BrowserContext;
  let page: Page;
  let url: string;
  const errors: string[] = [];

  beforeAll(async () => {
    ({ url, child } = await start());
    ({ context, close } = await launch());
    page = await context.newPage();
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
    await page.goto(url);
  });

  afterAll(async () => {
    await close?.();
    child?.kill();
  });

  const waitForText = (text: string) => page.getByText(text, { exact: false }).first().waitFor();
  const getAgents = () => page.locator('.turn h2').allTextContents();

  it('sends with Enter and streams the parts of three agents', async () => {
    await page.getByLabel('Your message').fill('Why is our build so slow?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await page.locator('details.reasoning').first().waitFor();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    expect(await getAgents()).toEqual(['Planner', 'Log reader', 'Critic']);
    const colors = await page
      .locator('.turn h2')
      .evaluateAll((names) => names.map((name) => getComputedStyle(name).color));
    expect(new Set(colors).size).toBe(3);
    expect(await page.getByLabel('Tool read_log').getAttribute('data-state')).toBe('output-available');
    expect(await page.locator('.turn li').count()).toBe(3);
  });

  it('restores the chat and its open question after a reload', async () => {
    const before = await page.locator('main').textContent();
    await page.reload();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    expect(await page.locator('main').textContent()).toBe(before);
  });

  it('continues in the same message after an approval', async () => {
    await page.getByRole('button', { name: 'Allow' }).press('Enter');
    await waitForText('61 entries');
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await page.locator('article.assistant').count()).toBe(1);
    expect(await page.getByLabel('Tool clear_cache').getAttribute('data-state')).toBe('output-available');
    const after = await page.locator('main').textContent();
    await page.reload();
    await waitForText('61 entries');
    expect(await page.locator('main').textContent()).toBe(after);
  });

  it('denies with a reason and stops with Escape', async () => {
    await page.getByRole('button', { name: 'New chat' }).click();
    await page.getByRole('button', { name: 'Why is our build so slow?' }).click();
    await page.getByLabel('Reason').fill('Not today.');
    await page.keyboard.press('Enter');
    await waitForText('the cache stays');
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
  ] as const)('fits in %s mode at a width of %i px', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const { overflow, color, background } = await page.evaluate(() => {
      const style = getComputedStyle(document.body);
      const { scrollWidth } = document.documentElement;
      return { overflow: scrollWidth - innerWidth, color: style.color, background: style.backgroundColor };
    });
    expect(overflow).toBeLessThanOrEqual(0);
    const getLightness = (value: string): number => Number(/\d+/.exec(value)?.[0]);
    expect(getLightness(color) < getLightness(background)).toBe(colorScheme === 'light');
  });

  it('logs no page errors', () => {
    expect(errors).toEqual([]);
  });
});
