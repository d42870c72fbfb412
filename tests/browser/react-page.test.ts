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

  it('logs no page errors', () => {
    expect(client.errors).toEqual([]);
  });
});
