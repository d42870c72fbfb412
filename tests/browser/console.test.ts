import { gzipSync } from 'node:zlib';

import axe from 'axe-core';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { launch } from './browser.ts';
import { ConsolePage } from './console-page.ts';
import { startProduct, type Product } from './console-product.ts';

/** How long something may take that is awaited, on a machine that has other things to do. */
const soon = { timeout: 20_000 };

type Axe = {
  run(where: object, how: object): Promise<{ violations: Array<{ id: string; nodes: Array<{ html: string }> }> }>;
};

/** In the page: what axe finds. */
async function audit(rules: object): Promise<string[]> {
  const { axe: auditor } = globalThis as unknown as { axe: Axe };
  const { violations } = await auditor.run(document, { rules });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

describe('the console', () => {
  let product: Product;
  let context: BrowserContext;
  let close: (() => Promise<void>) | undefined;
  let it1: ConsolePage;
  const opened: ConsolePage[] = [];

  const open = async (url = product.url): Promise<ConsolePage> => {
    const page = await ConsolePage.open(context, url);
    opened.push(page);
    return page;
  };

  beforeAll(async () => {
    product = await startProduct();
    ({ context, close } = await launch());
    it1 = await open();
  });

  afterAll(async () => {
    await close?.();
    await product?.close();
  });

  it('opens on a recorded run with three things to try', async () => {
    const { page } = it1;
    await it1.shown('docs/architecture.md');
    expect(await page.locator('.recording .speaker .name').allTextContents()).toEqual([
      'Guide',
      'Reader',
      'Critic',
      'Guide',
    ]);
    expect(await page.locator('.try').count()).toBe(3);
    await it1.picture('1-welcome');
  });

  it('chats with a model: a thought folded away, a tool with input and output, Markdown', async () => {
    const { page } = it1;
    await it1.ask('What is the weather in Lisbon?', 'helper');
    await page.getByLabel('Tool weather').waitFor();
    await it1.settled();
    const answer = it1.answers.last();
    expect(await answer.innerText()).toContain('In Lisbon it is');
    expect(await answer.locator('strong').count()).toBeGreaterThan(0);
    expect(await page.locator('details.reasoning').first().getAttribute('open')).toBeNull();
    await page.getByLabel('Tool weather').locator('summary').click();
    expect(await page.getByLabel('Tool weather').innerText()).toContain('"celsius"');
    await expect
      .poll(() => page.locator('.thread[data-current] .title').innerText())
      .toBe('What is the weather in Lisbon?');
    await it1.picture('2-chat');
  });

  it('shows a picture from elsewhere as a link, and HTML as it was written', async () => {
    await it1.ask('See ![it](https://example.org/x.png) <b>now</b>', 'helper');
    await it1.settled();
    const answer = it1.answers.last();
    await answer.getByRole('link', { name: 'it' }).waitFor();
    expect(await answer.locator('img').count()).toBe(0);
    expect(await answer.innerText()).toContain('<b>now</b>');
  });

  it('says who speaks, and on request what agents say to each other', async () => {
    const { page } = it1;
    await it1.ask('What is known about tides?', 'swarm');
    await it1.settled();
    expect(await it1.lastAnswer()).not.toContain('Sources, please');
    await page.getByRole('button', { name: 'What agents say to each other' }).click();
    await it1.shown('Sources, please');
    const names = await page.locator('.speaker .name').allTextContents();
    expect(new Set(names)).toEqual(new Set(['supervisor', 'researcher', 'writer']));
    const colours = await page
      .locator('.speaker .name')
      .evaluateAll((all) => all.map((name) => getComputedStyle(name).color));
    expect(new Set(colours).size).toBe(3);
    await it1.picture('3-internal');
    await page.getByRole('button', { name: 'What agents say to each other' }).click();
  });

  it('asks for approval, still asks after a reload, and goes on in the same message', async () => {
    const { page } = it1;
    await it1.ask('Send an email to Ada', 'helper');
    await it1.button('Approve').waitFor();
    await it1.settled();
    await page.reload();
    await it1.button('Approve').click();
    await it1.shown('Done: the email is');
    await it1.settled();
    expect(await it1.answers.count()).toBe(1);
    expect(await it1.button('Approve').count()).toBe(0);
  });

  it('tells the agent no, and why', async () => {
    const { page } = it1;
    await it1.ask('Send an email to Grace', 'helper');
    await page.getByLabel('Reason to deny').fill('Not today.');
    await page.keyboard.press('Enter');
    await it1.shown('All right');
    await it1.settled();
    expect(await page.getByLabel('Tool sendEmail').locator('.state').innerText()).toBe('denied');
  });

  it('answers a swarm at its breakpoint, in the page', async () => {
    const { page } = it1;
    await it1.ask('Plan a trip to Bergen, and ask me first', 'swarm');
    await it1.shown('what matters most');
    await it1.settled();
    await it1.picture('4-breakpoint');
    await page.locator('.decision').getByLabel('Answer').fill('money');
    await it1.button('Give the result').click();
    await it1.shown('You said: money. Go by bus.');
    await it1.settled();
    expect(await it1.answers.count()).toBe(1);
  });

  it('fills in the result of a client’s tool by a form made from its schema, after a reload too', async () => {
    const { page } = it1;
    await it1.ask('Give me a form', 'asking');
    const card = page.getByLabel('Tool book_trip');
    await card.getByLabel('City').waitFor();
    await it1.settled();
    await page.reload();
    await card.getByLabel('Nights').fill('2.5');
    await it1.button('Give the result').click();
    await card.getByText('City is needed.').waitFor();
    await card.getByLabel('City').fill('Bergen');
    await it1.button('Give the result').click();
    await card.getByText('Nights is a whole number.').waitFor();
    await card.getByLabel('Nights').fill('3');
    await card.getByLabel('Class').selectOption('first');
    await card.getByLabel('Breakfast').check();
    await it1.picture('4-form');
    await page.keyboard.press('Control+Enter');
    await it1.shown('Told: [{"city":"Bergen","nights":3,"class":"first","breakfast":true}]');
    await it1.settled();
    expect(await it1.answers.count()).toBe(1);
    expect(await card.locator('.state').innerText()).toBe('done');
  });

  it('answers a question with a shape', async () => {
    const { page } = it1;
    await it1.ask('Ask a question', 'asking');
    const card = page.getByLabel('Question: Which trip?');
    await card.getByLabel('City').fill('Oslo');
    await card.getByLabel('Nights').fill('1');
    await it1.button('Answer').click();
    await it1.shown('Told: [{"city":"Oslo","nights":1,"class":"second","breakfast":false}]');
    await it1.settled();
    expect(await it1.answers.count()).toBe(1);
  });

  it('answers a run that waits inside its process, and it goes on in the same message', async () => {
    const { page } = it1;
    await it1.ask('Go', 'waiting');
    const card = page.getByLabel('Question: Which way?');
    await card.getByLabel('Answer').waitFor();
    await page.reload();
    await card.getByLabel('Answer').selectOption('right');
    await it1.button('Answer').click();
    await it1.shown('Then "right".');
    await it1.settled();
    expect(await it1.answers.count()).toBe(1);
    expect(await it1.lastAnswer()).toContain('I am in the middle of it.');
  });

  it('decides two things that are asked at once, one after the other', async () => {
    const { page } = it1;
    await it1.ask('Two at once', 'asking');
    await page.getByLabel('Tool delete_draft').getByRole('button', { name: 'Deny' }).waitFor();
    await it1.settled();
    await page.getByLabel('Tool delete_draft').getByRole('button', { name: 'Deny' }).click();
    await expect.poll(() => page.getByLabel('Tool delete_draft').locator('.state').innerText(), soon).toBe('denied');
    expect(await it1.lastAnswer()).not.toContain('Told');
    // The first answer is kept, and only the second is still asked for.
    await page.reload();
    await page.getByLabel('Tool send_letter').getByRole('button', { name: 'Approve' }).click();
    await it1.shown('Told: ["delete_draft no","send_letter yes"]');
    await it1.settled();
    expect(await page.getByLabel('Tool delete_draft').locator('.state').innerText()).toBe('denied');
    expect(await page.getByLabel('Tool send_letter').locator('.state').innerText()).toBe('done');
  });

  it('resumes a flow that waits for a word', async () => {
    await it1.ask('Night trains', 'newsroom');
    await it1.shown('Shall I publish it?');
    await it1.settled();
    await it1.say('yes');
    await it1.shown('Published: https://example.com/column');
    await it1.settled();
    expect(await it1.answers.count()).toBe(2);
  });

  it('goes on after a reload in the middle of an answer, and loses nothing', async () => {
    const { page } = it1;
    await it1.ask('Write a long answer', 'helper');
    await it1.shown('2. Runs');
    await page.reload();
    await it1.shown('2. Runs');
    expect(await it1.button('Stop').count()).toBe(1);
    await it1.shown('8. Ends');
    await it1.settled();
    expect((await it1.lastAnswer()).match(/\d\. \w+/g)).toEqual([
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

  it('shows the same in a second tab, also a run that it did not start, and is stopped from there', async () => {
    await it1.ask('Hello there', 'helper');
    await it1.settled();
    const second = await open(it1.page.url());
    await second.answers.first().waitFor();
    await it1.page.locator('.chat').getByLabel('Agent', { exact: true }).selectOption('patient');
    await it1.say('Write a long answer');
    await second.shown('1. Events');
    await second.button('Stop').click();
    await Promise.all([it1.settled(), second.settled()]);
    await it1.shown('Stopped.');
    await expect.poll(async () => (await it1.lastAnswer()) === (await second.lastAnswer()), soon).toBe(true);
    expect(await it1.lastAnswer()).not.toContain('8. Ends');
    await second.page.close();
  });

  it('goes on in five tabs at once, more than a browser has connections for, and a stop gets through', async () => {
    await it1.ask('Write a long answer', 'patient');
    const others = await Promise.all(Array.from({ length: 4 }, () => open(it1.page.url())));
    const tabs = [it1, ...others];
    await Promise.all(tabs.map((tab) => tab.shown('1. Events')));
    // Nobody is told only the beginning.
    await Promise.all(tabs.map((tab) => tab.shown('3. Threads')));
    const statuses = await Promise.all(
      tabs.map(({ page }) => page.evaluate(async () => (await fetch('/health')).status)),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    await others[3]!.button('Stop').click();
    await Promise.all(tabs.map((tab) => tab.settled()));
    await Promise.all(tabs.map((tab) => tab.shown('Stopped.')));
    const last = await it1.lastAnswer();
    for (const tab of others) await expect.poll(() => tab.lastAnswer(), soon).toBe(last);
    await Promise.all(others.map(({ page }) => page.close()));
  });

  it('sees in one tab what was decided in the other', async () => {
    await it1.ask('Send an email to Edsger', 'helper');
    await it1.button('Approve').waitFor();
    await it1.settled();
    const second = await open(it1.page.url());
    await second.button('Approve').click();
    await it1.shown('Done: the email is');
    await it1.settled();
    expect(await it1.button('Approve').count()).toBe(0);
    await second.page.close();
  });

  it('survives a cut wire, and shows the resume', async () => {
    const { page } = it1;
    await it1.ask('Write a long answer', 'patient');
    await it1.shown('1. Events');
    await page.getByRole('button', { name: 'The wire' }).click();
    await page.getByRole('button', { name: 'Cut', exact: true }).click();
    await it1.shown(/Resumed behind/);
    await it1.picture('5-wire');
    await page.keyboard.press('Escape');
    await it1.shown('2. Runs');
    await it1.button('Stop').click();
    await it1.shown('Stopped.');
    const before = await it1.lastAnswer();
    await page.reload();
    await it1.shown('Stopped.');
    await expect.poll(() => it1.lastAnswer(), soon).toBe(before);
    // Of what was cut the browser says so itself.
    it1.complaints.splice(0, it1.complaints.length, ...it1.complaints.filter((text) => !/ERR_/.test(text)));
  });

  it('tells nothing twice on a wire that stutters, and nothing wrong on a slow one', async () => {
    const { page } = it1;
    await it1.ask('Write a long answer', 'helper');
    await it1.shown('1. Events');
    await page.getByRole('button', { name: 'The wire' }).click();
    await page.getByRole('button', { name: 'Duplicate' }).click();
    await page.getByRole('button', { name: 'Delay 400 ms' }).click();
    await it1.shown('3. Threads');
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.keyboard.press('Escape');
    await it1.shown('8. Ends');
    await it1.settled();
    const before = await it1.lastAnswer();
    expect(before.match(/\d\. \w+/g)).toHaveLength(8);
    await page.reload();
    await it1.shown('8. Ends');
    await expect.poll(() => it1.lastAnswer(), soon).toBe(before);
    it1.complaints.splice(0, it1.complaints.length, ...it1.complaints.filter((text) => !/ERR_/.test(text)));
  });

  it('edits, regenerates, and walks between the versions', async () => {
    const { page } = it1;
    await it1.ask('First words', 'helper');
    await it1.settled();
    await page.locator('article.user').hover();
    await it1.button('Edit').click();
    await page.getByLabel('Edit your message').fill('Second words');
    await page.keyboard.press('Enter');
    await it1.shown('You said: Second words');
    await it1.settled();
    await page.getByLabel('Version 2 of 2').waitFor();
    await it1.button('Previous version').first().click();
    await it1.shown('You said: First words');
    await it1.button('Regenerate').click();
    await expect.poll(() => page.getByLabel('Version 2 of 2').count(), soon).toBe(1);
    await it1.settled();
    await page.reload();
    await it1.shown('You said: First words');
    expect(await page.getByLabel(/Version \d of 2/).count()).toBe(2);
  });

  it('keeps files that were dropped, pasted and picked', async () => {
    const { page } = it1;
    await page.getByRole('button', { name: 'New thread' }).click();
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const dropped = await page.evaluateHandle((base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.codePointAt(0) ?? 0);
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], 'pixel.png', { type: 'image/png' }));
      return transfer;
    }, pixel);
    await page.locator('.messages').dispatchEvent('drop', { dataTransfer: dropped });
    await it1.input.evaluate((field, base64) => {
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
    await it1.say('What is this?');
    await it1.answers.first().waitFor();
    await it1.settled();
    await page.reload();
    await page.getByAltText('pasted.png').waitFor();
    const picture = page.getByAltText('pixel.png');
    await picture.waitFor();
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth), soon).toBe(1);
    expect(await page.locator('article.user .file').innerText()).toContain('notes.txt');
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('article.user .file').click()]);
    expect(download.suggestedFilename()).toBe('notes.txt');
  });

  it('says what went wrong, also after a reload, and tries again', async () => {
    const { page } = it1;
    await it1.ask('Fail', 'helper');
    await it1.shown('The demo failed on purpose.');
    await it1.settled();
    await page.reload();
    await it1.shown('The demo failed on purpose.');
    await it1.button('Try again').click();
    await expect.poll(() => page.getByLabel('Version 2 of 2').count(), soon).toBe(1);
  });

  it('keeps what could not be sent, and sends it again', async () => {
    const { page } = it1;
    await it1.ask('Hello', 'helper');
    await it1.settled();
    await page.route('**/chat', (route) => route.abort('connectionrefused'));
    await it1.say('Are you there?');
    await it1.shown('The server does not answer.');
    await page.unroute('**/chat');
    await it1.button('Try again').click();
    await it1.shown('You said: Are you there?');
    await it1.settled();
    expect(await page.locator('article.user').count()).toBe(2);
    it1.complaints.splice(0, it1.complaints.length, ...it1.complaints.filter((text) => !/ERR_/.test(text)));
  });

  it('finds, renames and deletes threads', async () => {
    const { page } = it1;
    await page.getByLabel('Search threads').fill('Night trains');
    await expect.poll(() => page.locator('.thread').count(), soon).toBe(1);
    await page.locator('.thread').hover();
    await page.getByRole('button', { name: 'Rename Night trains' }).click();
    await page.getByLabel('Title of the thread').fill('By night');
    await page.keyboard.press('Enter');
    await page.getByLabel('Search threads').fill('By night');
    await page.locator('.thread').getByText('By night').waitFor();
    await page.locator('.thread').hover();
    await page.getByRole('button', { name: 'Delete By night' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No thread has these words.').waitFor();
    await page.getByLabel('Search threads').fill('');
  });

  it('is worked with the keyboard', async () => {
    const { page } = it1;
    await page.locator('.thread a', { hasText: 'Write a long answer' }).first().click();
    await page.locator('article.assistant').first().waitFor();
    await page.locator('.chat-bar .title').click();
    await page.keyboard.press('j');
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('message');
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Search threads');
    await page.locator('.chat-bar .title').click();
    const scroller = page.locator('.scroller');
    const rest = (): Promise<number> =>
      scroller.evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
    await scroller.evaluate((list) => list.scrollTo(0, 0));
    await page.keyboard.press('f');
    await expect.poll(rest).toBeLessThan(2);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    const edge = page.getByRole('separator', { name: 'Width of the inspector' });
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
  ] as const)('fits and is accessible, %s and %i wide', async (colorScheme, width) => {
    const { page } = it1;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
    await page.evaluate(axe.source);
    const views = width === 390 ? ['Threads', 'Inspect', 'Chat'] : ['all'];
    for (const view of views) {
      if (view !== 'all') await page.getByRole('navigation', { name: 'Views' }).getByText(view).click();
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      // At phone width the main part is one of three views.
      const rules = ['landmark-one-main', 'page-has-heading-one'].map((id) => [
        id,
        { enabled: view !== 'Threads' && view !== 'Inspect' },
      ]);
      const found = await page.evaluate(audit, Object.fromEntries(rules) as object);
      expect(found, view).toEqual([]);
      await it1.picture(`6-${colorScheme}-${width}-${view}`);
    }
  });

  it('does not move for those who do not want it', async () => {
    const still = await context.newPage();
    await still.emulateMedia({ reducedMotion: 'reduce' });
    await still.goto(product.url);
    // The recording is there at once, and nothing goes on moving.
    await still.locator('.recording .sources').waitFor();
    expect(await still.locator('.recording [aria-busy=true]').count()).toBe(0);
    await still.getByLabel('Your message').fill('Write a long answer');
    await still.locator('.chat').getByLabel('Agent', { exact: true }).selectOption('patient');
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

  it('weighs little: the entry up to 200 kB, all of the first view up to 350 kB', async () => {
    const first = await context.newPage();
    const sizes = new Map<string, number>();
    const bodies: Array<Promise<void>> = [];
    first.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.startsWith('/api/')) return;
      bodies.push(response.body().then((body) => void sizes.set(pathname, gzipSync(body).length)));
    });
    await first.goto(product.url);
    await first.locator('.sources').getByText('docs/architecture.md').waitFor();
    await Promise.all(bodies);
    await first.close();
    const entry = [...sizes].find(([path]) => /\/index-[^/]*\.js$/.test(path))?.[1];
    expect(entry).toBeLessThanOrEqual(200_000);
    const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect(all, JSON.stringify(Object.fromEntries(sizes))).toBeLessThanOrEqual(350_000);
  });

  it('did so without a complaint, and asked nobody else for anything', () => {
    expect(opened.flatMap(({ complaints }) => complaints)).toEqual([]);
  });
});
