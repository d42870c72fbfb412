import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { AgentDefinition } from 'intertie';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { root } from '../../scripts/workspace.mjs';
import { readStored, startClientPage, waitForStored, type ClientPage } from './client-page.ts';

// Inside the checkout, so that packages resolve to their built public exports.
const folder = join(root, '.intertie/react-page');
const doc = readFileSync(join(root, 'docs/react-page.md'), 'utf8');

describe('docs/react-page.md', () => {
  let client: ClientPage;

  beforeAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const files = [...doc.matchAll(/^```\w+ title=(\S+)\n(.*?)^```$/gms)];
    for (const [, name = '', text = ''] of files) writeFileSync(join(folder, name), text);
    const platform = { module: 'preserve', target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], jsx: 'react-jsx' };
    const checks = { strict: true, verbatimModuleSyntax: true, allowImportingTsExtensions: true, skipLibCheck: true };
    const compilerOptions = { ...platform, ...checks, noEmit: true };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const { default: config } = (await import(join(folder, 'intertie.config.ts'))) as {
      default: { agents: { helper: AgentDefinition } };
    };
    client = await startClientPage({
      folder: 'clients',
      doc: 'docs/react-page.md',
      title: 'page.tsx',
      agent: config.agents.helper,
      startApi: async (server) => (request) => {
        const { pathname, search } = new URL(request.url);
        return fetch(new Request(new URL(pathname + search, server), request));
      },
    });
  }, 600_000);
  afterAll(() => client?.close());

  const send = async (page: Page, text: string): Promise<void> => {
    await page.getByLabel('Message').fill(text);
    await page.keyboard.press('Enter');
  };

  it('has no type errors', () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    expect(execFileSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { encoding: 'utf8' })).toBe('');
  });

  it('shows the message of the user and the result of a tool after a reload', async () => {
    const page = await client.open('weather');
    await send(page, 'What is the weather in Lisbon?');
    await page.getByText('Lisbon: 21 °C, clear').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    const before = await page.locator('main').textContent();
    expect(before).toContain('What is the weather in Lisbon?');
    await page.reload();
    await page.getByText('Lisbon: 21 °C, clear').waitFor();
    expect(await page.locator('main').textContent()).toBe(before);
    await page.close();
  });

  it('joins a live answer after a reload', async () => {
    const page = await client.open('long');
    await send(page, 'Write a long answer');
    await page.getByText('1. Events').waitFor();
    await page.reload();
    await page.getByText('Write a long answer').waitFor();
    await page.getByText('2. Runs').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await waitForStored(client.server, 'long', '"status":"aborted"');
    expect((await readStored(client.server, 'long')).match(/"role":"user"/g)).toHaveLength(1);
    await page.close();
  });

  it.each([
    ['Approve', 'Sent to Ada.'],
    ['Deny', 'Not sent.'],
  ])('answers an approval after a reload: %s', async (button, result) => {
    const page = await client.open(`email-${button}`);
    await send(page, 'Send an email to Ada');
    await page.getByRole('button', { name: button }).waitFor();
    await page.reload();
    await page.getByText('Send an email to Ada').waitFor();
    await page.getByRole('button', { name: button }).click();
    await page.getByText(result).waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await page.reload();
    await page.getByText(result).waitFor();
    expect(await page.getByRole('button', { name: button }).count()).toBe(0);
    await page.close();
  });

  it('runs a tool of the page after a reload', async () => {
    const page = await client.open('location');
    await send(page, 'Where am I?');
    await page.getByRole('button', { name: 'Share your location' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Share your location' }).click();
    await page.getByText('as your page says').waitFor();
    expect(await readStored(client.server, 'location')).toContain('"city":"Lisbon"');
    await page.close();
  });

  /** Brings a tab to the front. Headless Chromium treats every tab as focused, so it sends no event. */
  const focus = (page: Page): Promise<boolean> => page.evaluate(() => dispatchEvent(new Event('focus')));
  const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

  it('shows the turn of another tab when it gets the focus, and sends the next turn on the same branch', async () => {
    const [a, b] = [await client.open('tabs'), await client.open('tabs')];
    await b.getByLabel('Message').fill('What is the weather in Oslo?');
    await send(a, 'Send an email to Ada');
    await press(a, 'Approve');
    await a.getByText('Sent to Ada.').waitFor();
    await a.getByRole('button', { name: 'Send', exact: true }).waitFor();
    expect(await b.getByText('Sent to Ada.').count()).toBe(0);

    await focus(b);
    await b.getByText('Sent to Ada.').waitFor();
    expect(await b.getByLabel('Message').inputValue()).toBe('What is the weather in Oslo?');
    await press(b, 'Send');
    await b.getByText('Oslo: 21 °C, clear').waitFor();
    await b.getByRole('button', { name: 'Send', exact: true }).waitFor();
    const shown = await b.locator('main').textContent();
    for (const page of [a, b]) {
      await page.reload();
      await page.getByText('Oslo: 21 °C, clear').waitFor();
      expect(await page.locator('main').textContent()).toBe(shown);
      expect(await page.getByText('Sent to Ada.').count()).toBe(1);
    }
    await Promise.all([a.close(), b.close()]);
  });

  it('joins a live answer of another tab once when it gets the focus several times', async () => {
    const [a, b] = [await client.open('live'), await client.open('live')];
    const streams: string[] = [];
    b.on('response', (response) => {
      if (response.url().endsWith('/stream') && response.status() === 200) streams.push(response.url());
    });
    await send(a, 'Write a long answer');
    await a.getByText('1. Events').waitFor();
    await b.evaluate(() => {
      for (let count = 0; count < 3; count++) dispatchEvent(new Event('focus'));
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await b.getByRole('button', { name: 'Stop' }).waitFor();
    await Promise.all([focus(a), focus(b)]);
    await b.getByText('2. Runs').waitFor();
    expect(streams).toHaveLength(1);
    await press(b, 'Stop');
    await waitForStored(client.server, 'live', '"status":"aborted"');
    await a.getByRole('button', { name: 'Send', exact: true }).waitFor();
    for (const page of [a, b]) expect(await page.getByText('1. Events').count()).toBe(1);
    await Promise.all([a.close(), b.close()]);
  });

  it('keeps a message that could not be sent when it gets the focus', async () => {
    const page = await client.open('unsent');
    await page.route('**/chat', (route) => route.abort());
    await send(page, 'Where am I?');
    await page.getByRole('alert').waitFor();
    await Promise.all([page.waitForResponse((response) => response.url().includes('/messages')), focus(page)]);
    await page.waitForTimeout(200);
    expect(await page.getByText('Where am I?').count()).toBe(1);
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.unroute('**/chat');
    await send(page, 'What is the weather in Lisbon?');
    await page.getByText('Lisbon: 21 °C, clear').waitFor();
    await page.close();
  });

  it('shows that an email was not sent if a new message came before its approval', async () => {
    const page = await client.open('superseded');
    await send(page, 'Send an email to Ada');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await send(page, 'What is the weather in Lisbon?');
    await page.getByText('Lisbon: 21 °C, clear').waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await page.reload();
    await page.getByText('Not sent.').waitFor();
    expect(await page.getByText('Writing an email').count()).toBe(0);
    await page.close();
  });

  it('logs no page errors', () => {
    expect(client.errors).toEqual([]);
  });
});
