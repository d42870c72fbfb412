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
import { startConsoleServer, type ConsoleServer } from './console-server.ts';

const soon = { timeout: 20_000 };
const panes = ['Streams', 'Topology', 'Timeline', 'Tree', 'Tape'] as const;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Axe = {
  run(context: object, options: object): Promise<{ violations: Array<{ id: string; nodes: Array<{ html: string }> }> }>;
};

/** Runs axe on the current pane; evaluated in the page. */
async function audit(): Promise<string[]> {
  const { axe: auditor } = globalThis as unknown as { axe: Axe };
  const { violations } = await auditor.run({ include: [['.pane']] }, {});
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

describe('the inspector', () => {
  let server: ConsoleServer;
  let context: BrowserContext;
  let close: (() => Promise<void>) | undefined;
  let tab: ConsolePage;
  let page: Page;
  let newsroomUrl: string;
  const notFound: string[] = [];

  const pane = (): Locator => page.locator('.pane');
  const show = async (name: (typeof panes)[number]): Promise<void> => {
    await page.getByRole('tab', { name }).click();
    await page.locator(`#panel-${name.toLowerCase()} > :not(.empty)`).first().waitFor();
  };
  const grid = (): Locator => pane().getByRole('grid');
  const summary = (): Locator => pane().locator('.stream-summary');
  const cells = (column: string): Locator => pane().locator(`.cell[data-column=${column}][data-index]`);
  const waitForEnd = (): Promise<void> =>
    summary().locator('.status:not([data-status=live], [data-status=loading], [data-status=idle])').waitFor(soon);

  beforeAll(async () => {
    server = await startConsoleServer();
    ({ context, close } = await launch());
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
    tab = await ConsolePage.open(context, server.url);
    ({ page } = tab);
    page.on('response', (response) => void (response.status() === 404 && notFound.push(response.url())));
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.evaluate(() => localStorage.setItem('intertie:inspector-width', '820'));
    await page.reload();
  });

  afterAll(async () => {
    await close?.();
    await server?.close();
  });

  it('shows source frames, canonical events and target events of a live run', async () => {
    await tab.start('Night trains', 'newsroom');
    newsroomUrl = page.url();
    await show('Streams');
    await cells('target').first().waitFor(soon);
    await waitForEnd();
    expect(await pane().locator('.head').allTextContents()).toEqual([
      expect.stringMatching(/^Source open-harness \d\d/),
      expect.stringMatching(/^Events \d\d/),
      expect.stringMatching(/^UI message stream \d\d/),
    ]);
    await summary().getByText('no protocol errors').waitFor();
    await tab.screenshot('streams-light');
  });

  it('shows each part in one row, its events on request, and all events without folding', async () => {
    const count = async (): Promise<number> => Number(await grid().getAttribute('aria-rowcount'));
    const folded = await count();
    await grid().focus();
    await page.keyboard.press('Home');
    const part = cells('event').filter({ hasText: /×\d/ }).first();
    expect(await part.locator('.text').textContent()).toMatch(/\w+ \w+/);
    await part.locator('.fold').click();
    await expect.poll(count).toBeGreaterThan(folded);
    await cells('event').filter({ hasText: '-delta' }).first().waitFor();
    await pane().locator('.fold[data-expanded]').first().click();
    await expect.poll(count).toBe(folded);
    await pane().getByRole('button', { name: 'fold' }).click();
    // The rows are virtualized.
    await expect.poll(count).toBeGreaterThan(100);
    expect(await pane().locator('.stream-row').count()).toBeLessThan(90);
    await pane().getByRole('button', { name: 'fold' }).click();
    await expect.poll(count).toBe(folded);
  });

  it('changes the width of columns with the keyboard and keeps it', async () => {
    const head = pane().locator('.head').nth(1);
    const width = async (): Promise<number> => (await head.boundingBox())!.width;
    const before = await width();
    await pane().getByRole('separator', { name: 'Width of Events' }).focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(width).toBeGreaterThan(before + 10);
    const after = await width();
    await page.reload();
    await expect.poll(width, soon).toBe(after);
    await pane().getByRole('separator', { name: 'Width of Events' }).focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(width).toBeLessThan(after);
    await waitForEnd();
  });

  it('highlights related cells by pointer and by keyboard', async () => {
    await grid().focus();
    await page.keyboard.press('Home');
    for (let row = 0; row < 3; row++) await page.keyboard.press('j');
    const countHighlighted = (column: string): Promise<number> =>
      pane().locator(`.cell[data-column=${column}][data-highlighted]`).count();
    await pane().getByText('node:start').first().hover();
    const [frames, events, targets] = await Promise.all([
      countHighlighted('frame'),
      countHighlighted('event'),
      countHighlighted('target'),
    ]);
    expect(frames).toBe(1);
    expect(events).toBeGreaterThan(0);
    expect(targets).toBeGreaterThan(0);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await tab.screenshot(`streams-lit-${colorScheme}`);
    }
    await page.mouse.move(5, 5);
    // The active cell is an event; its frame is to the left.
    expect(await pane().locator('.cell[aria-selected=true]').getAttribute('data-column')).toBe('event');
    await page.keyboard.press('h');
    expect(await pane().locator('.cell[aria-selected=true]').getAttribute('data-column')).toBe('frame');
  });

  it('opens the details of a row and closes them', async () => {
    await cells('event').filter({ hasText: 'agent-start' }).first().click();
    const details = pane().getByRole('region', { name: 'Row details' });
    await details
      .getByRole('region', { name: /^Source/ })
      .getByText('"node:start"')
      .waitFor();
    await details.getByRole('region', { name: 'Event', exact: true }).getByText('"agent-start"').waitFor();
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
    await pane().getByRole('button', { name: 'text', exact: true }).click();
    await expect.poll(count).toBeLessThan(all);
    await pane().getByRole('button', { name: 'text', exact: true }).click();
    await grid().focus();
    await page.keyboard.press('/');
    await page.keyboard.type('edgeId');
    await expect.poll(count).toBeLessThan(20);
    expect(await count()).toBeGreaterThan(0);
    await pane().getByLabel('Search streams').fill('');
    await expect.poll(count).toBe(all);
  });

  it('encodes the same run as AG-UI and reports losses', async () => {
    await pane().getByLabel('Protocol of the client').selectOption('AG-UI 1.0');
    // A followed run is scrolled to its end, and only visible rows are rendered.
    const showsStart = async (): Promise<boolean> => {
      await grid().evaluate((list) => list.scrollTo(0, 0));
      return pane().getByText('RUN_STARTED').first().isVisible();
    };
    await expect.poll(showsStart, soon).toBe(true);
    await summary().getByText('no protocol errors').waitFor();
    await summary()
      .getByRole('button', { name: /left out/ })
      .click();
    expect(await pane().getByRole('region', { name: 'Left out or changed' }).isVisible()).toBe(true);
    await page.emulateMedia({ colorScheme: 'dark' });
    await tab.screenshot('streams-ag-ui-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await summary()
      .getByRole('button', { name: /left out/ })
      .click();
    await pane().getByLabel('Protocol of the client').selectOption('UI message stream');
  });

  it('follows a run to its end and stops following when the user scrolls up', async () => {
    await tab.start('Write a long answer', 'slow');
    await cells('event').first().waitFor(soon);
    await pane().getByRole('button', { name: 'fold' }).click();
    const rest = (): Promise<number> =>
      grid().evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
    await expect.poll(() => grid().evaluate((list) => list.scrollTop), soon).toBeGreaterThan(200);
    await expect.poll(rest, soon).toBeLessThan(60);
    await grid().hover();
    await page.mouse.wheel(0, -400);
    await expect
      .poll(() => summary().getByRole('button', { name: 'follow' }).getAttribute('aria-pressed'))
      .toBe('false');
    await expect.poll(rest, soon).toBeGreaterThan(500);
    await tab.button('Stop').click();
    await summary().getByText('stopped').waitFor();
    expect(await rest()).toBeGreaterThan(500);
    await grid().focus();
    await page.keyboard.press('f');
    await expect.poll(rest).toBeLessThan(60);
    await pane().getByRole('button', { name: 'fold' }).click();
  });

  it('draws agents and their messages, and filters the streams by an agent', async () => {
    await page.goto(newsroomUrl);
    await show('Topology');
    await expect.poll(() => pane().locator('.agent-card .name').allTextContents(), soon).toHaveLength(4);
    await expect.poll(() => pane().locator('.agent-edge-label').count(), soon).toBe(4);
    // All agents differ in color, although two hash to the same one.
    const getColors = (): Promise<string[]> =>
      pane()
        .locator('.agent-card')
        .evaluateAll((cards) => cards.map((card) => getComputedStyle(card).borderLeftColor));
    expect(new Set(await getColors()).size).toBe(4);
    await tab.screenshot('topology-light');
    await pane().locator('.agent-card', { hasText: 'archive' }).click();
    await pane().getByRole('button', { name: 'Show in streams' }).click();
    await grid().waitFor();
    expect(await pane().getByLabel('Agent', { exact: true }).inputValue()).toBe('archive');
    const getRowAgents = (): Promise<string[]> =>
      pane()
        .locator('.cell[data-column=event] .index')
        .evaluateAll((list) => [...new Set(list.map((index) => (index as HTMLElement).title))]);
    await expect.poll(getRowAgents).toEqual(['archive']);
    await pane().getByLabel('Agent', { exact: true }).selectOption('All agents');
  });

  it('shows the run on a timeline', async () => {
    await show('Timeline');
    const labels = await pane().locator('.span-row .label').allTextContents();
    // Shortcuts of the page also work in a pane.
    await pane().locator('.span-row').first().focus();
    await page.keyboard.press('4');
    expect(await page.getByRole('tab', { name: 'Tree' }).getAttribute('aria-selected')).toBe('true');
    await show('Timeline');
    expect(labels.slice(0, 3)).toEqual(['run run', 'agent plan', 'step plan']);
    expect(labels.filter((label) => label === 'tool search')).toHaveLength(2);
    await pane().locator('.span-row').first().focus();
    await page.keyboard.press('j');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/^agent plan.*complete$/);
    await pane().getByText('to first output').waitFor();
    await tab.screenshot('timeline-light');
  });

  it('shows the branches of a thread, switches to one, and forks from a message', async () => {
    await tab.start('What is the weather in Oslo?', 'helper');
    await tab.waitUntilIdle();
    const thread = new URL(page.url()).searchParams.get('thread')!;
    const tree = async (): Promise<{ messages: Array<{ id: string; role: string }>; headId?: string }> =>
      (await fetch(`${server.url}/api/threads/${thread}/tree`)).json() as never;
    const [question] = (await tree()).messages;
    await fetch(`${server.url}/api/agents/helper/chat`, {
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
    await tab.screenshot('tree-light');
    await pane().getByRole('button', { name: 'Go to this branch' }).click();
    await expect.poll(async () => (await tree()).headId, soon).not.toBe(headId);
    await items.first().click();
    await pane().getByRole('button', { name: 'Fork from here' }).click();
    await expect.poll(async () => (await tree()).headId, soon).toBe(question!.id);
  });

  it('scrubs through a run and shows the chat at that event', async () => {
    await tab.start('Night trains', 'newsroom');
    await show('Streams');
    await waitForEnd();
    await show('Tape');
    const slider = pane().getByRole('slider', { name: 'Event' });
    await slider.fill('60');
    await page.getByText('Showing the chat after 60 events of the run.').waitFor();
    const message = pane().getByRole('article', { name: 'Message at this event' });
    const early = await message.textContent();
    await tab.screenshot('tape-light');
    await slider.focus();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(await slider.inputValue()).toBe('62');
    await page.keyboard.press('End');
    expect((await message.textContent())!.length).toBeGreaterThan(early!.length);
    await page.keyboard.press('Home');
    await pane().getByText('Before the first event').waitFor();
    await slider.fill('60');
    expect(await message.textContent()).toBe(early);
    await page.keyboard.press('f');
    await page.getByText('Showing the chat after').waitFor({ state: 'detached' });
  });

  it('exports the run as a tape, a test and a command, and opens a tape', async () => {
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

    await pane().getByRole('button', { name: 'Copy as test' }).click();
    await pane().getByText('Test copied.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('const events: AgentEvent[] = [');

    await pane().getByRole('button', { name: 'Copy curl to run again' }).click();
    await pane().getByText('Command copied.').waitFor();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(stdout).toContain('"type":"start"');
    expect(stdout).toContain('Night trains');

    // A tape without `text-start` events violates a rule.
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
      .getByRole('button', { name: /protocol error/ })
      .click();
    const finding = pane().locator('.violation').first();
    expect(await finding.textContent()).toMatch(/C3-open.*Rule.*Fix/s);
    await tab.screenshot('streams-violation-light');
    await show('Tape');
    await pane().getByRole('button', { name: 'Back to the run' }).click();
    await pane().getByRole('button', { name: 'Back to the run' }).waitFor({ state: 'detached' });
  });

  it.each([
    ['light', 1440],
    ['dark', 1440],
    ['light', 390],
    ['dark', 390],
  ] as const)('fits and is accessible in %s mode at a width of %i px', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    if (width < 700) await page.getByRole('button', { name: 'Inspect', exact: true }).click();
    for (const name of panes) {
      await show(name);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow, `overflow of ${name}`).toBeLessThanOrEqual(0);
      await page.evaluate(axe);
      expect(await page.evaluate(audit), name).toEqual([]);
      await tab.screenshot(`${name.toLowerCase()}-${colorScheme}-${width}`);
    }
  });

  it('logs no errors', () => {
    // The frames of a tape are not on the server: the browser logs the 404.
    expect(notFound.filter((url) => !url.endsWith('/frames'))).toEqual([]);
    expect(tab.errors.filter((error) => !error.includes('status of 404'))).toEqual([]);
  });
});
