import { gzipSync } from 'node:zlib';

import axe from 'axe-core';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { launch } from './browser.ts';
import { ConsolePage } from './console-page.ts';
import { startConsoleServer, type ConsoleServer } from './console-server.ts';

/** Generous, since the machine may be busy. */
const soon = { timeout: 20_000 };

type Axe = {
  run(context: object, options: object): Promise<{ violations: Array<{ id: string; nodes: Array<{ html: string }> }> }>;
};

/** Runs axe; evaluated in the page. */
async function audit(rules: object): Promise<string[]> {
  const { axe: auditor } = globalThis as unknown as { axe: Axe };
  const { violations } = await auditor.run(document, { rules });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

describe('the console', () => {
  let server: ConsoleServer;
  let context: BrowserContext;
  let close: (() => Promise<void>) | undefined;
  let tab: ConsolePage;
  const opened: ConsolePage[] = [];

  const open = async (url = server.url): Promise<ConsolePage> => {
    const page = await ConsolePage.open(context, url);
    opened.push(page);
    return page;
  };

  beforeAll(async () => {
    server = await startConsoleServer();
    ({ context, close } = await launch());
    tab = await open();
  });

  afterAll(async () => {
    await close?.();
    await server?.close();
  });

  it('opens on a recorded run with three suggestions', async () => {
    const { page } = tab;
    await tab.waitForText('docs/architecture.md');
    expect(await page.locator('.recording .speaker .name').allTextContents()).toEqual([
      'Guide',
      'Reader',
      'Critic',
      'Guide',
    ]);
    expect(await page.locator('.suggestion').count()).toBe(3);
    await tab.screenshot('1-welcome');
  });

  it('shows collapsed reasoning, a tool with input and output, and Markdown', async () => {
    const { page } = tab;
    await tab.start('What is the weather in Lisbon?', 'helper');
    await page.getByLabel('Tool weather').waitFor();
    await tab.waitUntilIdle();
    const answer = tab.answers.last();
    expect(await answer.innerText()).toContain('In Lisbon it is');
    expect(await answer.locator('strong').count()).toBeGreaterThan(0);
    expect(await page.locator('details.reasoning').first().getAttribute('open')).toBeNull();
    await page.getByLabel('Tool weather').locator('summary').click();
    expect(await page.getByLabel('Tool weather').innerText()).toContain('"celsius"');
    await expect
      .poll(() => page.locator('.thread[data-current] .title').innerText())
      .toBe('What is the weather in Lisbon?');
    await tab.screenshot('2-chat');
  });

  it('shows an external image as a link and HTML as text', async () => {
    await tab.start('See ![it](https://example.org/x.png) <b>now</b>', 'helper');
    await tab.waitUntilIdle();
    const answer = tab.answers.last();
    await answer.getByRole('link', { name: 'it' }).waitFor();
    expect(await answer.locator('img').count()).toBe(0);
    expect(await answer.innerText()).toContain('<b>now</b>');
  });

  it('names the agents and shows messages between them on request', async () => {
    const { page } = tab;
    await tab.start('What is known about tides?', 'swarm');
    await tab.waitUntilIdle();
    expect(await tab.getLastAnswer()).not.toContain('Sources, please');
    await page.getByRole('button', { name: 'Messages between agents' }).click();
    await tab.waitForText('Sources, please');
    const names = await page.locator('.speaker .name').allTextContents();
    expect(new Set(names)).toEqual(new Set(['supervisor', 'researcher', 'writer']));
    const colors = await page
      .locator('.speaker .name')
      .evaluateAll((all) => all.map((name) => getComputedStyle(name).color));
    expect(new Set(colors).size).toBe(3);
    await tab.screenshot('3-internal');
    await page.getByRole('button', { name: 'Messages between agents' }).click();
  });

  it('keeps an approval request after a reload and continues in the same message', async () => {
    const { page } = tab;
    await tab.start('Send an email to Ada', 'helper');
    await tab.button('Approve').waitFor();
    await tab.waitUntilIdle();
    await page.reload();
    await tab.button('Approve').click();
    await tab.waitForText('Done: the email is');
    await tab.waitUntilIdle();
    expect(await tab.answers.count()).toBe(1);
    expect(await tab.button('Approve').count()).toBe(0);
  });

  it('denies a tool call with a reason', async () => {
    const { page } = tab;
    await tab.start('Send an email to Grace', 'helper');
    await page.getByLabel('Reason for denial').fill('Not today.');
    await page.keyboard.press('Enter');
    await tab.waitForText('All right');
    await tab.waitUntilIdle();
    expect(await page.getByLabel('Tool sendEmail').locator('.state').innerText()).toBe('denied');
  });

  it('answers a swarm at its breakpoint', async () => {
    const { page } = tab;
    await tab.start('Plan a trip to Bergen, and ask me first', 'swarm');
    await tab.waitForText('what matters most');
    await tab.waitUntilIdle();
    await tab.screenshot('4-breakpoint');
    await page.locator('.decision').getByLabel('Answer').fill('money');
    await page.locator('.decision').getByRole('button', { name: 'Answer', exact: true }).click();
    await tab.waitForText('You said: money. Go by bus.');
    await tab.waitUntilIdle();
    expect(await tab.answers.count()).toBe(1);
  });

  it('submits the result of a client tool with a form generated from its schema, after a reload', async () => {
    const { page } = tab;
    await tab.start('Give me a form', 'questions');
    const card = page.getByLabel('Tool book_trip');
    await card.getByLabel('City').waitFor();
    await tab.waitUntilIdle();
    await page.reload();
    await card.getByLabel('Nights').fill('2.5');
    await tab.button('Submit result').click();
    await card.getByText('City is required.').waitFor();
    await card.getByLabel('City').fill('Bergen');
    await tab.button('Submit result').click();
    await card.getByText('Nights must be an integer.').waitFor();
    await card.getByLabel('Nights').fill('3');
    await card.getByLabel('Class').selectOption('first');
    await card.getByLabel('Breakfast').check();
    await tab.screenshot('4-form');
    await page.keyboard.press('Control+Enter');
    await tab.waitForText('Received: [{"city":"Bergen","nights":3,"class":"first","breakfast":true}]');
    await tab.waitUntilIdle();
    expect(await tab.answers.count()).toBe(1);
    expect(await card.locator('.state').innerText()).toBe('done');
  });

  it('answers a question that has a schema', async () => {
    const { page } = tab;
    await tab.start('Ask a question', 'questions');
    const card = page.getByLabel('Question: Which trip?');
    await card.getByLabel('City').fill('Oslo');
    await card.getByLabel('Nights').fill('1');
    await card.getByRole('button', { name: 'Answer' }).click();
    await tab.waitForText('Received: [{"city":"Oslo","nights":1,"class":"second","breakfast":false}]');
    await tab.waitUntilIdle();
    expect(await tab.answers.count()).toBe(1);
  });

  it('answers a live run, which continues in the same message', async () => {
    const { page } = tab;
    await tab.start('Go', 'live-question');
    const card = page.getByLabel('Question: Which way?');
    await card.getByLabel('Answer').waitFor();
    await page.reload();
    await card.getByLabel('Answer').selectOption('right');
    await card.getByRole('button', { name: 'Answer' }).click();
    await tab.waitForText('Then "right".');
    await tab.waitUntilIdle();
    expect(await tab.answers.count()).toBe(1);
    expect(await tab.getLastAnswer()).toContain('I am in the middle of it.');
  });

  it('decides two open approvals one after the other', async () => {
    const { page } = tab;
    await tab.start('Two at once', 'questions');
    await page.getByLabel('Tool delete_draft').getByRole('button', { name: 'Deny' }).waitFor();
    await tab.waitUntilIdle();
    await page.getByLabel('Tool delete_draft').getByRole('button', { name: 'Deny' }).click();
    await expect.poll(() => page.getByLabel('Tool delete_draft').locator('.state').innerText(), soon).toBe('denied');
    expect(await tab.getLastAnswer()).not.toContain('Received');
    // The first answer is stored, and only the second is still open.
    await page.reload();
    await page.getByLabel('Tool send_letter').getByRole('button', { name: 'Approve' }).click();
    await tab.waitForText('Received: ["delete_draft no","send_letter yes"]');
    await tab.waitUntilIdle();
    expect(await page.getByLabel('Tool delete_draft').locator('.state').innerText()).toBe('denied');
    expect(await page.getByLabel('Tool send_letter').locator('.state').innerText()).toBe('done');
  });

  it('resumes a flow with a message', async () => {
    await tab.start('Night trains', 'newsroom');
    await tab.waitForText('Shall I publish it?');
    await tab.waitUntilIdle();
    await tab.send('yes');
    await tab.waitForText('Published: https://example.com/column');
    await tab.waitUntilIdle();
    expect(await tab.answers.count()).toBe(2);
  });

  it('resumes an answer after a reload without losing text', async () => {
    const { page } = tab;
    await tab.start('Write a long answer', 'helper');
    await tab.waitForText('2. Runs');
    await page.reload();
    await tab.waitForText('2. Runs');
    expect(await tab.button('Stop').count()).toBe(1);
    await tab.waitForText('8. Ends');
    await tab.waitUntilIdle();
    expect((await tab.getLastAnswer()).match(/\d\. \w+/g)).toEqual([
      '1. Events',
      '2. Runs',
      '3. Threads',
      '4. Questions',
      '5. Readers',
      '6. Writers',
      '7. Stores',
      '8. Ends',
    ]);
  });

  it('shows and stops a run of another tab', async () => {
    await tab.start('Hello there', 'helper');
    await tab.waitUntilIdle();
    const second = await open(tab.page.url());
    await second.answers.first().waitFor();
    await tab.page.locator('.chat').getByLabel('Agent', { exact: true }).selectOption('slow');
    await tab.send('Write a long answer');
    await second.waitForText('1. Events');
    await second.button('Stop').click();
    await Promise.all([tab.waitUntilIdle(), second.waitUntilIdle()]);
    await tab.waitForText('Stopped.');
    await expect.poll(async () => (await tab.getLastAnswer()) === (await second.getLastAnswer()), soon).toBe(true);
    expect(await tab.getLastAnswer()).not.toContain('8. Ends');
    await second.page.close();
  });

  it('streams to five tabs, more than the browser has connections for, and stops from any of them', async () => {
    await tab.start('Write a long answer', 'slow');
    const others = await Promise.all(Array.from({ length: 4 }, () => open(tab.page.url())));
    const tabs = [tab, ...others];
    await Promise.all(tabs.map((each) => each.waitForText('1. Events')));
    // Every tab receives more than the beginning.
    await Promise.all(tabs.map((each) => each.waitForText('3. Threads')));
    const statuses = await Promise.all(
      tabs.map(({ page }) => page.evaluate(async () => (await fetch('/health')).status)),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    await others[3]!.button('Stop').click();
    await Promise.all(tabs.map((each) => each.waitUntilIdle()));
    await Promise.all(tabs.map((each) => each.waitForText('Stopped.')));
    const last = await tab.getLastAnswer();
    for (const other of others) await expect.poll(() => other.getLastAnswer(), soon).toBe(last);
    await Promise.all(others.map(({ page }) => page.close()));
  });

  it('shows a decision that was made in another tab', async () => {
    await tab.start('Send an email to Edsger', 'helper');
    await tab.button('Approve').waitFor();
    await tab.waitUntilIdle();
    const second = await open(tab.page.url());
    await second.button('Approve').click();
    await tab.waitForText('Done: the email is');
    await tab.waitUntilIdle();
    expect(await tab.button('Approve').count()).toBe(0);
    await second.page.close();
  });

  it('resumes after an interrupted connection and logs the resume', async () => {
    const { page } = tab;
    await tab.start('Write a long answer', 'slow');
    await tab.waitForText('1. Events');
    await page.getByRole('button', { name: 'Connection faults' }).click();
    await page.getByRole('button', { name: 'Cut', exact: true }).click();
    await tab.waitForText(/Resumed after event/);
    await tab.screenshot('5-wire');
    await page.keyboard.press('Escape');
    await tab.waitForText('2. Runs');
    await tab.button('Stop').click();
    await tab.waitForText('Stopped.');
    const before = await tab.getLastAnswer();
    await page.reload();
    await tab.waitForText('Stopped.');
    await expect.poll(() => tab.getLastAnswer(), soon).toBe(before);
    tab.ignoreNetworkErrors();
  });

  it('shows no text twice on a connection with duplicates and delays', async () => {
    const { page } = tab;
    await tab.start('Write a long answer', 'helper');
    await tab.waitForText('1. Events');
    await page.getByRole('button', { name: 'Connection faults' }).click();
    await page.getByRole('button', { name: 'Duplicate' }).click();
    await page.getByRole('button', { name: 'Delay 400 ms' }).click();
    await tab.waitForText('3. Threads');
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.keyboard.press('Escape');
    await tab.waitForText('8. Ends');
    await tab.waitUntilIdle();
    const before = await tab.getLastAnswer();
    expect(before.match(/\d\. \w+/g)).toHaveLength(8);
    await page.reload();
    await tab.waitForText('8. Ends');
    await expect.poll(() => tab.getLastAnswer(), soon).toBe(before);
    tab.ignoreNetworkErrors();
  });

  it('edits, regenerates, and switches between versions', async () => {
    const { page } = tab;
    await tab.start('First words', 'helper');
    await tab.waitUntilIdle();
    await page.locator('article.user').hover();
    await tab.button('Edit').click();
    await page.getByLabel('Edit your message').fill('Second words');
    await page.keyboard.press('Enter');
    await tab.waitForText('You said: Second words');
    await tab.waitUntilIdle();
    await page.getByLabel('Version 2 of 2').waitFor();
    await tab.button('Previous version').first().click();
    await tab.waitForText('You said: First words');
    await tab.button('Regenerate').click();
    await expect.poll(() => page.getByLabel('Version 2 of 2').count(), soon).toBe(1);
    await tab.waitUntilIdle();
    await page.reload();
    await tab.waitForText('You said: First words');
    expect(await page.getByLabel(/Version \d of 2/).count()).toBe(2);
  });

  it('stores files that were dropped, pasted and picked', async () => {
    const { page } = tab;
    await page.getByRole('button', { name: 'New thread' }).click();
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const dropped = await page.evaluateHandle((base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.codePointAt(0) ?? 0);
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], 'pixel.png', { type: 'image/png' }));
      return transfer;
    }, pixel);
    await page.locator('.messages').dispatchEvent('drop', { dataTransfer: dropped });
    await tab.input.evaluate((field, base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.codePointAt(0) ?? 0);
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }, pixel);
    await page.getByRole('button', { name: 'Remove pasted.png' }).waitFor();
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Tides are late.') };
    await page.getByLabel('Files to attach').setInputFiles([notes]);
    await page.getByRole('button', { name: 'Remove notes.txt' }).waitFor();
    await page.getByRole('button', { name: 'Remove pixel.png' }).waitFor();
    await tab.send('What is this?');
    await tab.answers.first().waitFor();
    await tab.waitUntilIdle();
    await page.reload();
    await page.getByAltText('pasted.png').waitFor();
    const picture = page.getByAltText('pixel.png');
    await picture.waitFor();
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth), soon).toBe(1);
    expect(await page.locator('article.user .file').innerText()).toContain('notes.txt');
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('article.user .file').click()]);
    expect(download.suggestedFilename()).toBe('notes.txt');
  });

  it('shows the error of a run after a reload and retries', async () => {
    const { page } = tab;
    await tab.start('Fail', 'helper');
    await tab.waitForText('The demo failed on purpose.');
    await tab.waitUntilIdle();
    await page.reload();
    await tab.waitForText('The demo failed on purpose.');
    await tab.button('Try again').click();
    await expect.poll(() => page.getByLabel('Version 2 of 2').count(), soon).toBe(1);
  });

  it('keeps a message that could not be sent and sends it again', async () => {
    const { page } = tab;
    await tab.start('Hello', 'helper');
    await tab.waitUntilIdle();
    await page.route('**/chat', (route) => route.abort('connectionrefused'));
    await tab.send('Are you there?');
    await tab.waitForText('Cannot reach the server.');
    await page.unroute('**/chat');
    await tab.button('Try again').click();
    await tab.waitForText('You said: Are you there?');
    await tab.waitUntilIdle();
    expect(await page.locator('article.user').count()).toBe(2);
    tab.ignoreNetworkErrors();
  });

  it('finds, renames and deletes threads', async () => {
    const { page } = tab;
    const threads = page.locator('.thread:not(.match)');
    await page.getByLabel('Search titles and messages').fill('Night trains');
    await expect.poll(() => threads.count(), soon).toBe(1);
    await threads.hover();
    await page.getByRole('button', { name: 'Rename Night trains' }).click();
    await page.getByLabel('Thread title').fill('By night');
    await page.keyboard.press('Enter');
    await page.getByLabel('Search titles and messages').fill('By night');
    await threads.getByText('By night').waitFor();
    await threads.hover();
    await page.getByRole('button', { name: 'Delete By night' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No title contains these words.').waitFor();
    await page.getByLabel('Search titles and messages').fill('');
  });

  it('supports keyboard shortcuts', async () => {
    const { page } = tab;
    await page.locator('.thread a', { hasText: 'Write a long answer' }).first().click();
    await page.locator('article.assistant').first().waitFor();
    await page.locator('.chat-bar .title').click();
    await page.keyboard.press('j');
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('message');
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      'Search titles and messages',
    );
    await page.locator('.chat-bar .title').click();
    const scroller = page.locator('.scroller');
    const rest = (): Promise<number> =>
      scroller.evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
    await scroller.evaluate((list) => list.scrollTo(0, 0));
    await page.keyboard.press('f');
    await expect.poll(rest).toBeLessThan(2);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    const edge = page.getByRole('separator', { name: 'Inspector width' });
    const width = Number(await edge.getAttribute('aria-valuenow'));
    await edge.press('ArrowLeft');
    expect(Number(await edge.getAttribute('aria-valuenow'))).toBe(width + 24);
    await page.reload();
    expect(Number(await edge.getAttribute('aria-valuenow'))).toBe(width + 24);
    await page.getByRole('tab', { name: 'Streams' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('tab', { name: 'Topology' }).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('ArrowLeft');
  });

  it.each([
    ['light', 1440],
    ['dark', 1440],
    ['light', 390],
    ['dark', 390],
  ] as const)('fits and is accessible in %s mode at a width of %i px', async (colorScheme, width) => {
    const { page } = tab;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
    await page.evaluate(axe.source);
    const views = width === 390 ? ['Threads', 'Inspect', 'Chat'] : ['all'];
    for (const view of views) {
      if (view !== 'all') await page.getByRole('navigation', { name: 'Views' }).getByText(view).click();
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      // On narrow screens the main landmark is in one of three views.
      const rules = ['landmark-one-main', 'page-has-heading-one'].map((id) => [
        id,
        { enabled: view !== 'Threads' && view !== 'Inspect' },
      ]);
      const found = await page.evaluate(audit, Object.fromEntries(rules) as object);
      expect(found, view).toEqual([]);
      await tab.screenshot(`6-${colorScheme}-${width}-${view}`);
    }
  });

  it('respects reduced motion', async () => {
    const still = await context.newPage();
    await still.emulateMedia({ reducedMotion: 'reduce' });
    await still.goto(server.url);
    // The recording is complete immediately.
    await still.locator('.recording .sources').waitFor();
    expect(await still.locator('.recording [aria-busy=true]').count()).toBe(0);
    await still.getByLabel('Your message').fill('Write a long answer');
    await still.locator('.chat').getByLabel('Agent', { exact: true }).selectOption('slow');
    await still.getByLabel('Your message').press('Enter');
    await still.locator('.chat').getByText('Thinking…').first().waitFor();
    const moving = await still.evaluate(() =>
      document
        .getAnimations()
        .filter(({ playState, effect }) => playState === 'running' && Number(effect?.getComputedTiming().duration) > 1)
        .map((animation) => (animation as CSSAnimation).animationName),
    );
    expect(moving).toEqual([]);
    await still.locator('.chat').getByRole('button', { name: 'Stop' }).click();
    await still.getByText('Stopped.').waitFor();
    await still.close();
  });

  it('loads at most 200 kB for the entry and 350 kB for the first view, compressed', async () => {
    const first = await context.newPage();
    const sizes = new Map<string, number>();
    const bodies: Array<Promise<void>> = [];
    first.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.startsWith('/api/')) return;
      bodies.push(response.body().then((body) => void sizes.set(pathname, gzipSync(body).length)));
    });
    await first.goto(server.url);
    await first.locator('.sources').getByText('docs/architecture.md').waitFor();
    await Promise.all(bodies);
    await first.close();
    const entry = [...sizes].find(([path]) => /\/index-[^/]*\.js$/.test(path))?.[1];
    expect(entry).toBeLessThanOrEqual(200_000);
    const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect(all, JSON.stringify(Object.fromEntries(sizes))).toBeLessThanOrEqual(350_000);
  });

  it('logs no errors and sends no requests to other origins', () => {
    expect(opened.flatMap(({ errors }) => errors)).toEqual([]);
  });
});
