import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

import { check, canonical } from '@intertie/conformance';
import { parseTape } from '@intertie/core';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { launch } from './browser.ts';
import { ConsolePage } from './console-page.ts';
import { startProduct, type Product } from './console-product.ts';

const soon = { timeout: 20_000 };
const panes = ['Streams', 'Topology', 'Timeline', 'Tree', 'Tape'] as const;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Axe = {
  run(where: object, how: object): Promise<{ violations: Array<{ id: string; nodes: Array<{ html: string }> }> }>;
};

/** In the page: what axe finds in the pane that is shown. */
async function audit(): Promise<string[]> {
  const { axe: auditor } = globalThis as unknown as { axe: Axe };
  const { violations } = await auditor.run({ include: [['.pane']] }, {});
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

describe('the inspector', () => {
  let product: Product;
  let context: BrowserContext;
  let close: (() => Promise<void>) | undefined;
  let console1: ConsolePage;
  let page: Page;
  let newsroom: string;
  const missing: string[] = [];

  const pane = (): Locator => page.locator('.pane');
  const show = async (name: (typeof panes)[number]): Promise<void> => {
    await page.getByRole('tab', { name }).click();
    await page.locator(`#panel-${name.toLowerCase()} > :not(.empty)`).first().waitFor();
  };
  const grid = (): Locator => pane().getByRole('grid');
  const summary = (): Locator => pane().locator('.stream-summary');
  const cells = (column: string): Locator => pane().locator(`.cell[data-column=${column}][data-index]`);
  const ended = (): Promise<void> => summary().getByText('ended').waitFor(soon);

  beforeAll(async () => {
    product = await startProduct();
    ({ context, close } = await launch());
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: product.url });
    console1 = await ConsolePage.open(context, product.url);
    ({ page } = console1);
    page.on('response', (response) => void (response.status() === 404 && missing.push(response.url())));
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.evaluate(() => localStorage.setItem('intertie:inspector-width', '820'));
    await page.reload();
  });

  afterAll(async () => {
    await close?.();
    await product?.close();
  });

  it('shows a run as it happens: what came, what was understood, what a front end is told', async () => {
    await console1.ask('Night trains', 'newsroom');
    newsroom = page.url();
    await show('Streams');
    await cells('target').first().waitFor(soon);
    await ended();
    expect(await pane().locator('.head').allTextContents()).toEqual([
      expect.stringMatching(/^Source open-harness \d\d/),
      expect.stringMatching(/^Canonical \d\d/),
      expect.stringMatching(/^UI message stream \d\d/),
    ]);
    await summary().getByText('keeps the rules').waitFor();
    // Rows out of sight are not there.
    expect(Number(await grid().getAttribute('aria-rowcount'))).toBeGreaterThan(100);
    expect(await pane().locator('.stream-row').count()).toBeLessThan(90);
    await console1.picture('streams-light');
  });

  it('lights up causes and effects, by the pointer and by the keyboard', async () => {
    await grid().focus();
    await page.keyboard.press('Home');
    for (let row = 0; row < 3; row++) await page.keyboard.press('j');
    const lit = (column: string): Promise<number> => pane().locator(`.cell[data-column=${column}][data-lit]`).count();
    await pane().getByText('node:start').first().hover();
    const [frames, events, targets] = await Promise.all([lit('frame'), lit('event'), lit('target')]);
    expect(frames).toBe(1);
    expect(events).toBeGreaterThan(0);
    expect(targets).toBeGreaterThan(0);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await console1.picture(`streams-lit-${colorScheme}`);
    }
    await page.mouse.move(5, 5);
    // An event is active, and its frame is one to the left.
    expect(await pane().locator('.cell[aria-selected=true]').getAttribute('data-column')).toBe('event');
    await page.keyboard.press('h');
    expect(await pane().locator('.cell[aria-selected=true]').getAttribute('data-column')).toBe('frame');
  });

  it('opens a row as JSON, and closes it', async () => {
    await cells('event').filter({ hasText: 'agent-start' }).first().click();
    const details = pane().getByRole('region', { name: 'Row in full' });
    await details
      .getByRole('region', { name: /^Source/ })
      .getByText('"node:start"')
      .waitFor();
    await details.getByRole('region', { name: 'Canonical' }).getByText('"agent-start"').waitFor();
    await details
      .getByRole('region', { name: /^UI message/ })
      .getByText('"data-agent"')
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => details.count()).toBe(0);
  });

  it('filters by family and agent, and searches', async () => {
    const count = async (): Promise<number> => Number(await grid().getAttribute('aria-rowcount'));
    const all = await count();
    await pane().getByRole('button', { name: 'deltas' }).click();
    await expect.poll(count).toBeLessThan(all / 2);
    await pane().getByRole('button', { name: 'deltas' }).click();
    await grid().focus();
    await page.keyboard.press('/');
    await page.keyboard.type('edgeId');
    await expect.poll(count).toBeLessThan(20);
    expect(await count()).toBeGreaterThan(0);
    await pane().getByLabel('Search the streams').fill('');
    await expect.poll(count).toBe(all);
  });

  it('writes the same run as AG-UI, and keeps a ledger of what got lost', async () => {
    await pane().getByLabel('Target protocol').selectOption('AG-UI 1.0');
    // A run that was followed is shown from its end, and only what is in view is drawn.
    const isBegun = async (): Promise<boolean> => {
      await grid().evaluate((list) => list.scrollTo(0, 0));
      return pane().getByText('RUN_STARTED').first().isVisible();
    };
    await expect.poll(isBegun, soon).toBe(true);
    await summary().getByText('keeps the rules').waitFor();
    await summary().getByRole('button', { name: /loss/ }).click();
    expect(await pane().getByRole('region', { name: 'Loss ledger' }).isVisible()).toBe(true);
    await page.emulateMedia({ colorScheme: 'dark' });
    await console1.picture('streams-ag-ui-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await summary().getByRole('button', { name: /loss/ }).click();
    await pane().getByLabel('Target protocol').selectOption('UI message stream');
  });

  it('follows a run to its end, and lets go where one scrolls up', async () => {
    await console1.ask('Play it', 'recording');
    await cells('event').first().waitFor(soon);
    const rest = (): Promise<number> =>
      grid().evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
    await expect.poll(() => grid().evaluate((list) => list.scrollTop), soon).toBeGreaterThan(200);
    await expect.poll(rest, soon).toBeLessThan(60);
    await grid().hover();
    await page.mouse.wheel(0, -400);
    await expect
      .poll(() => summary().getByRole('button', { name: 'follow' }).getAttribute('aria-pressed'))
      .toBe('false');
    await ended();
    expect(await rest()).toBeGreaterThan(60);
    await grid().focus();
    await page.keyboard.press('f');
    await expect.poll(rest).toBeLessThan(60);
  });

  it('draws who there is and who went to whom, and filters the streams by one of them', async () => {
    await page.goto(newsroom);
    await show('Topology');
    await expect.poll(() => pane().locator('.agent-card .name').allTextContents(), soon).toHaveLength(4);
    await expect.poll(() => pane().locator('.agent-edge-label').count(), soon).toBe(4);
    // As many colours as agents, though two of them would like the same one.
    const colours = (): Promise<string[]> =>
      pane()
        .locator('.agent-card')
        .evaluateAll((cards) => cards.map((card) => getComputedStyle(card).borderLeftColor));
    expect(new Set(await colours()).size).toBe(4);
    await console1.picture('topology-light');
    await pane().locator('.agent-card', { hasText: 'archive' }).click();
    await pane().getByRole('button', { name: 'Show in streams' }).click();
    await grid().waitFor();
    expect(await pane().getByLabel('Agent', { exact: true }).inputValue()).toBe('archive');
    const whose = (): Promise<string[]> =>
      pane()
        .locator('.cell[data-column=event] .index')
        .evaluateAll((list) => [...new Set(list.map((index) => (index as HTMLElement).title))]);
    await expect.poll(whose).toEqual(['archive']);
    await pane().getByLabel('Agent', { exact: true }).selectOption('All agents');
  });

  it('lays the run out in time', async () => {
    await show('Timeline');
    const labels = await pane().locator('.span-row .label').allTextContents();
    // The keys of the page work here too, unless the pane has its own.
    await pane().locator('.span-row').first().focus();
    await page.keyboard.press('4');
    expect(await page.getByRole('tab', { name: 'Tree' }).getAttribute('aria-selected')).toBe('true');
    await show('Timeline');
    expect(labels.slice(0, 3)).toEqual(['run run', 'agent plan', 'step plan']);
    expect(labels.filter((label) => label === 'tool search')).toHaveLength(2);
    await pane().locator('.span-row').first().focus();
    await page.keyboard.press('j');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/^agent plan.*complete$/);
    await pane().getByText('to the first token').waitFor();
    await console1.picture('timeline-light');
  });

  it('shows the branches of a thread, goes to one, and forks from a message', async () => {
    await console1.ask('What is the weather in Oslo?', 'helper');
    await console1.settled();
    const thread = new URL(page.url()).searchParams.get('thread')!;
    const tree = async (): Promise<{ messages: Array<{ id: string; role: string }>; headId?: string }> =>
      (await fetch(`${product.url}/api/threads/${thread}/tree`)).json() as never;
    const [question] = (await tree()).messages;
    await fetch(`${product.url}/api/agents/helper/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        id: thread,
        trigger: 'regenerate-message',
        messages: [{ id: question!.id, role: 'user', parts: [{ type: 'text', text: 'What is the weather in Oslo?' }] }],
      }),
    }).then((response) => response.text());
    await show('Tree');
    const items = pane().getByRole('treeitem');
    await expect.poll(() => items.count(), soon).toBe(3);
    const { headId } = await tree();
    await pane().locator('.tree-row:not([data-active])').click();
    await console1.picture('tree-light');
    await pane().getByRole('button', { name: 'Go to this branch' }).click();
    await expect.poll(async () => (await tree()).headId, soon).not.toBe(headId);
    await items.first().click();
    await pane().getByRole('button', { name: 'Fork from here' }).click();
    await expect.poll(async () => (await tree()).headId, soon).toBe(question!.id);
  });

  it('scrubs through a run, and the chat is what the events so far make', async () => {
    await console1.ask('Night trains', 'newsroom');
    await show('Streams');
    await ended();
    await show('Tape');
    const slider = pane().getByRole('slider', { name: 'Event' });
    await slider.fill('60');
    await page.getByText('The chat after 60 events of the run.').waitFor();
    const message = pane().getByRole('article', { name: 'The message at this event' });
    const early = await message.textContent();
    await console1.picture('tape-light');
    await slider.focus();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(await slider.inputValue()).toBe('62');
    await page.keyboard.press('End');
    expect((await message.textContent())!.length).toBeGreaterThan(early!.length);
    await page.keyboard.press('Home');
    await pane().getByText('Before the first event.').waitFor();
    await slider.fill('60');
    expect(await message.textContent()).toBe(early);
    await page.keyboard.press('f');
    await page.getByText('The chat after').waitFor({ state: 'detached' });
  });

  it('gives the run away as a tape, a test and a command, and takes a tape', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      pane().getByRole('button', { name: 'Download' }).click(),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    const { items } = parseTape(text);
    expect(
      check(
        canonical,
        items.map(({ item }) => item),
      ).violations,
    ).toEqual([]);

    await pane().getByRole('button', { name: 'As a test' }).click();
    await pane().getByText('The test copied.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('const events: AgentEvent[] = [');

    await pane().getByRole('button', { name: 'curl: run it again' }).click();
    await pane().getByText('The command copied.').waitFor();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(stdout).toContain('"type":"start"');
    expect(stdout).toContain('Night trains');

    // The text that was never begun is found, with the rule and what to do.
    const broken = text
      .split('\n')
      .filter((line) => !line.includes('"text-start"'))
      .join('\n');
    await pane()
      .getByLabel('Tape file', { exact: true })
      .setInputFiles({ name: 'broken.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(broken) });
    await pane().getByText('broken.jsonl opened.').waitFor();
    await show('Streams');
    await summary()
      .getByRole('button', { name: /violation/ })
      .click();
    const finding = pane().locator('.violation').first();
    expect(await finding.textContent()).toMatch(/C3-open.*Rule.*Fix/s);
    await console1.picture('streams-violation-light');
    await show('Tape');
    await pane().getByRole('button', { name: 'Back to the run' }).click();
    await pane().getByRole('button', { name: 'Back to the run' }).waitFor({ state: 'detached' });
  });

  it.each([
    ['light', 1440],
    ['dark', 1440],
    ['light', 390],
    ['dark', 390],
  ] as const)('is for everybody, %s and %i wide', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    if (width < 700) await page.getByRole('button', { name: 'Inspect', exact: true }).click();
    for (const name of panes) {
      await show(name);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(over, `${name} is as wide as the page`).toBeLessThanOrEqual(0);
      await page.evaluate(axe);
      expect(await page.evaluate(audit), name).toEqual([]);
      await console1.picture(`${name.toLowerCase()}-${colorScheme}-${width}`);
    }
  });

  it('did so without a complaint', () => {
    // A tape has no frames of its own, and the browser says so.
    expect(missing.filter((url) => !url.endsWith('/frames'))).toEqual([]);
    expect(console1.complaints.filter((complaint) => !complaint.includes('status of 404'))).toEqual([]);
  });
});
