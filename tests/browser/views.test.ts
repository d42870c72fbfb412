import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { launch } from './browser.ts';
import { ConsolePage } from './console-page.ts';
import { startConsoleServer, type ConsoleServer } from './console-server.ts';
import { checkAppearance, checkEverySize, showView, sizes, type View } from './sizes.ts';

const soon = { timeout: 20_000 };

// With INTERTIE_SCREENSHOTS=folder, saves a picture of every view at every size, in light and dark.
describe('every view of the console', () => {
  let server: ConsoleServer;
  let context: BrowserContext;
  let close: (() => Promise<void>) | undefined;
  let tab: ConsolePage;
  let page: Page;

  const showPane = (name: string): Promise<void> => page.getByRole('tab', { name }).click();
  const pane = (): Locator => page.locator('.pane');

  const checkView = (name: string, view: View, prepare?: () => Promise<void>): Promise<void> =>
    checkEverySize(tab, { name: `views-${name}`, view }, prepare);

  /** Whether the text of an element is not cut. */
  const isComplete = (element: Locator): Promise<boolean> =>
    element.evaluate(
      (node) => node.scrollWidth <= node.clientWidth && node.getBoundingClientRect().right <= innerWidth,
    );

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

  it('shows the welcome screen with a recorded run, and an empty list of threads', async () => {
    await page.locator('.recording .sources').waitFor();
    await checkView('welcome', 'Chat');
    await checkView('no-threads', 'Threads', () => page.getByText('Your threads appear here.').waitFor());
  });

  it('shows every pane of an empty inspector', async () => {
    await page.goto(`${server.url}/?thread=missing`);
    await tab.waitForText('Thread not found.');
    await checkView('missing-thread', 'Chat', async () => expect(await tab.input.count()).toBe(0));
    for (const name of ['Streams', 'Topology', 'Timeline', 'Tree', 'Tape', 'Prompts']) {
      await showPane(name);
      await checkView(`empty-${name.toLowerCase()}`, 'Inspect', async () => {
        if (name !== 'Streams') return;
        // The status bar of an empty inspector is at its end.
        const bar = (await page.locator('.stream-summary').boundingBox())!;
        const panel = (await pane().boundingBox())!;
        expect(Math.abs(bar.y + bar.height - panel.y - panel.height)).toBeLessThanOrEqual(1);
      });
    }
    await showPane('Streams');
    // The server answers 404 for the missing thread.
    tab.errors.length = 0;
  });

  it('shows an answer of several agents, with the messages between them', async () => {
    await tab.start('What is known about tides?', 'swarm');
    await tab.waitUntilIdle();
    await page.getByRole('button', { name: 'Messages between agents' }).click();
    await tab.waitForText('Sources, please');
    await checkView('agents', 'Chat');
    await page.getByRole('button', { name: 'Messages between agents' }).click();
    await tab.waitForText('of three sources');
  });

  it('shows a run in every pane of the inspector', async () => {
    await tab.start('Night trains', 'newsroom');
    await tab.waitForText('Shall I publish it?');
    await tab.waitUntilIdle();
    await checkView('streams', 'Inspect', async () => {
      await page.locator('.stream-row').first().waitFor();
      expect(await isComplete(page.locator('.stream-summary'))).toBe(true);
      // Each part is one row, and each column is wide enough to read.
      await page
        .locator('.cell[data-column=event]')
        .getByText(/^×\d+$/)
        .first()
        .waitFor();
      for (const head of await page.locator('.stream-heads .head').all())
        expect((await head.boundingBox())!.width).toBeGreaterThanOrEqual(119);
    });
    await checkView('streams-resized', 'Inspect', async () => {
      const head = page.locator('.stream-heads .head').last();
      const before = (await head.boundingBox())!.width;
      await page.getByRole('separator', { name: 'Width of UI message stream' }).focus();
      await page.keyboard.press('ArrowLeft');
      await expect.poll(async () => (await head.boundingBox())!.width).toBeGreaterThan(before + 5);
      await page.keyboard.press('ArrowRight');
    });
    await checkView('streams-unfolded', 'Inspect', async () => {
      const rows = async (): Promise<number> => Number(await pane().getByRole('grid').getAttribute('aria-rowcount'));
      const folded = await rows();
      const fold = page.locator('.cell[data-column=event] .fold').first();
      await fold.click();
      await expect.poll(rows).toBeGreaterThan(folded);
      await page.locator('.cell[data-column=event] .fold[data-expanded]').first().click();
      await expect.poll(rows).toBe(folded);
    });
    await page.locator('.cell[data-column=event][data-index]').nth(2).click();
    await page.getByRole('region', { name: 'Row details' }).waitFor();
    await checkView('streams-details', 'Inspect');
    await page.keyboard.press('Escape');
    for (const name of ['Topology', 'Timeline', 'Tree', 'Tape', 'Prompts']) {
      await showPane(name);
      await page.locator(`#panel-${name.toLowerCase()} > :not(.empty)`).first().waitFor();
      await checkView(name.toLowerCase(), 'Inspect');
    }
    await showPane('Streams');
    await page.getByLabel('Protocol of the client').selectOption('AG-UI 1.0');
    await page
      .locator('.stream-summary')
      .getByRole('button', { name: /left out/ })
      .click();
    await checkView('streams-not-sent', 'Inspect');
    await page.keyboard.press('Escape');
    await page.getByLabel('Protocol of the client').selectOption('UI message stream');
  });

  it('explains every label of the streams that is not plain in a tooltip', async () => {
    await checkView('labels', 'Inspect', async () => {
      const labelled = pane().locator(
        '.head, .stream-toolbar button, .stream-summary button, .stream-summary .fine, .tape-actions button',
      );
      for (const label of await labelled.all())
        expect(await label.getAttribute('title'), await label.innerText()).toMatch(/\w+ \w+/);
      for (const word of ['Canonical', 'keeps the rules', 'losses'])
        expect(await page.getByText(word, { exact: true }).count(), word).toBe(0);
    });
    await showPane('Tape');
    await checkView('labels-tape', 'Inspect', async () => {
      for (const label of await pane().locator('.tape-actions button').all())
        expect(await label.getAttribute('title'), await label.innerText()).toMatch(/\w+ \w+/);
    });
    await showPane('Streams');
  });

  it('shows the agent that answered in the topology, and no Markdown syntax in the tree and the tape', async () => {
    await tab.start('What is the weather in Lisbon?', 'helper');
    await tab.waitForText('In Lisbon it is');
    await tab.waitUntilIdle();
    await showPane('Topology');
    await checkView('topology-answered', 'Inspect', () =>
      page.locator('.agent-card', { hasText: 'complete' }).waitFor(),
    );
    await showPane('Tree');
    await checkView('tree-plain', 'Inspect', async () => {
      const preview = page.locator('.tree-row', { hasText: 'In Lisbon it is' }).locator('.preview');
      expect(await preview.innerText()).not.toContain('**');
    });
    await showPane('Tape');
    await checkView('tape-rendered', 'Inspect', () => page.locator('.tape-message strong').first().waitFor());
    await showPane('Streams');
  });

  it('answers a question in the composer at every size', async () => {
    await checkView('answered', 'Chat', async () => {
      await showView(page, 'Threads');
      await tab.start('Plan a trip to Bergen, and ask me first', 'swarm');
      await tab.waitForText('Answering:');
      await tab.input.fill('money');
      await tab.button('Answer').last().click();
      await tab.waitForText('You said: money. Go by bus.');
      await page
        .getByLabel(/^Question: Before anybody books/)
        .getByText('Answered by you:')
        .waitFor();
      expect(await page.locator('article.user').count()).toBe(1);
      await tab.waitUntilIdle();
    });
  });

  it('shows versions of a message as branches', async () => {
    await tab.start('First words', 'helper');
    await tab.waitUntilIdle();
    await page.locator('article.user').hover();
    await tab.button('Edit').click();
    await checkView('edit', 'Chat');
    await page.getByLabel('Edit your message').fill('Second words');
    await page.keyboard.press('Enter');
    await tab.waitForText('You said: Second words');
    await tab.waitUntilIdle();
    await page.getByLabel('Version 2 of 2').waitFor();
    await checkView('versions', 'Chat');
    await showPane('Tree');
    await page.locator('.tree-row:not([data-active])').first().click();
    await checkView('tree-branches', 'Inspect');
    await showPane('Streams');
  });

  it('shows the chat at an event of the tape', async () => {
    await showPane('Tape');
    await pane().getByRole('slider', { name: 'Event' }).fill('6');
    await page.getByText('Showing the chat after 6 events of the run.').waitFor();
    await checkView('scrub', 'Chat');
    await checkView('scrub-tape', 'Inspect');
    await showPane('Prompts');
    await page.getByRole('button', { name: 'Run again with a change' }).click();
    await checkView('run-again', 'Inspect');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await showPane('Streams');
  });

  it('shows Stop, Queue, Replace and queued messages during an answer', async () => {
    await tab.start('Go', 'endless');
    await tab.waitForText('This answer has no end');
    const queued = page.getByLabel('Queued messages').getByRole('listitem');
    await checkView('running', 'Chat', async () => {
      const before = await queued.count();
      await tab.send('This comes later');
      await expect.poll(() => queued.count()).toBe(before + 1);
      await tab.input.fill('And this instead');
      for (const name of ['Stop', 'Replace', 'Queue'])
        expect(await isComplete(tab.button(name).last()), name).toBe(true);
      expect((await page.locator('.foot .agent-picker').boundingBox())!.width).toBeGreaterThan(150);
    });
    await checkView('running-streams', 'Inspect', () => page.locator('.stream-summary').getByText('live').waitFor());
    while ((await queued.count()) > 0) await page.getByLabel('Remove queued message').first().click();
    await tab.button('Stop').click();
    await tab.waitForText('Stopped.');
    await checkView('stopped', 'Chat');
  });

  it('does not stop an answer on a double click on Send, at any size', async () => {
    await checkView('double-click', 'Chat', async () => {
      await showView(page, 'Threads');
      await tab.start('Hello', 'endless');
      await tab.waitForText('This answer has no end');
      await tab.input.press('Escape');
      await tab.waitUntilIdle();
      await tab.input.fill('Again');
      await tab.button('Send').dblclick();
      await expect.poll(() => page.locator('article.user').count(), soon).toBe(2);
      await tab.answers.nth(1).getByText('This answer has no end').waitFor();
      expect(await tab.button('Stop').count()).toBe(1);
      await tab.input.press('Escape');
      await tab.waitUntilIdle();
    });
  });

  it('shows a question of a swarm, an approval, a form and a choice, and the inbox with them and a paused thread', async () => {
    await tab.start('Plan a trip to Bergen, and ask me first', 'swarm');
    await page.getByLabel(/^Question: Before anybody books/).waitFor();
    await tab.waitForText('Answering:');
    await checkView('question', 'Chat', async () => {
      expect(await isComplete(page.locator('.card.question').first())).toBe(true);
    });
    await checkView('question-streams', 'Inspect', () =>
      page.locator('.stream-summary').getByText('waiting for you').waitFor(),
    );
    await tab.start('Two at once', 'questions');
    await tab.button('Approve').nth(1).waitFor();
    await checkView('approvals', 'Chat');
    await tab.start('Give me a form', 'questions');
    await page.getByLabel('Tool book_trip').getByLabel('City').waitFor();
    await tab.waitUntilIdle();
    await checkView('form', 'Chat', async () => {
      await tab.button('Submit result').click();
      await page.getByText('City is required.').waitFor();
    });
    await tab.start('Go', 'live-question');
    await page.getByLabel('Question: Which way?').getByLabel('Answer').waitFor();
    await checkView('choice', 'Chat');
    // The flow of an earlier test waits for a plain message.
    await expect.poll(() => page.title(), soon).toMatch(/^\(6\) /);
    await checkView('waiting-marks', 'Threads', async () => {
      await expect.poll(() => page.locator('.sidebar .waiting-mark').count(), soon).toBe(5);
      await page.locator('.thread').nth(1).hover();
      const time = page.locator('.thread').nth(1).locator('time');
      expect(await time.evaluate((element) => getComputedStyle(element).visibility)).toBe('hidden');
    });
    await page.locator('.chat-bar .title').click();
    await checkView('inbox', 'Threads', async () => {
      await page.getByRole('button', { name: /^Waiting/ }).click();
      await expect
        .poll(() => page.getByRole('list', { name: 'Waiting for you' }).getByRole('link').count(), soon)
        .toBe(6);
      await page.getByRole('link', { name: /^Run delete_draft with to: Ada\?/ }).waitFor();
      await page.getByRole('link', { name: /^Waits for your message newsroom · Night trains/ }).waitFor();
    });
    await page.locator('.sidebar').getByRole('button', { name: 'All', exact: true }).click();
  });

  it('shows decisions that were made, with their author', async () => {
    await tab.start('Send an email to Ada', 'helper');
    await tab.button('Approve').click();
    await tab.waitForText('Approved by you.');
    await tab.waitUntilIdle();
    await checkView('approved', 'Chat', () => tab.waitForText('Approved by you.'));
  });

  it('shows the error of a run', async () => {
    await tab.start('Fail', 'helper');
    await tab.waitForText('The demo failed on purpose.');
    await tab.waitUntilIdle();
    await checkView('failed', 'Chat', () => tab.waitForText('The demo failed on purpose.'));
    await checkView('failed-streams', 'Inspect');
  });

  it('says which agent it cannot reach, and what to do', async () => {
    await tab.start('Hello', 'unreachable');
    await tab.waitForText(/Cannot reach the agent at http:\/\/127\.0\.0\.1:\d+\//);
    expect(await page.locator('.failure').innerText()).toContain('Start the agent, or correct its URL.');
    await tab.waitUntilIdle();
    await checkView('unreachable', 'Chat', () => tab.waitForText(/Cannot reach the agent/));
  });

  it('shows a lost connection, and removes the error when the server is back', async () => {
    await tab.start('Hello there', 'helper');
    await tab.waitUntilIdle();
    const failures = page.locator('.failure, .problem');
    const retry = async (): Promise<void> => {
      if ((await failures.count()) === 0) return;
      await tab.button('Try again').click();
      await failures.first().waitFor({ state: 'detached' });
      await tab.waitUntilIdle();
    };
    await checkView('offline', 'Chat', async () => {
      await retry();
      await context.setOffline(true);
      try {
        await tab.send('Are you there?');
        await page.locator('.failure').waitFor();
      } finally {
        await context.setOffline(false);
      }
    });
    await retry();
    expect(await failures.count()).toBe(0);
    tab.ignoreNetworkErrors();
  });

  it('shows the menus over the chat', async () => {
    await page.getByRole('button', { name: 'Connection faults' }).click();
    const menu = page.getByRole('dialog', { name: 'Connection faults' });
    await checkView('connection-faults', 'Chat', async () => {
      // On narrow screens, the button of the view closes it.
      if (!(await menu.isVisible())) await page.getByRole('button', { name: 'Connection faults' }).click();
      expect(await menu.evaluate((node) => node.getBoundingClientRect().left)).toBeGreaterThanOrEqual(0);
    });
    await page.keyboard.press('Escape');
    await page.locator('.chat-bar .title').click();
    await page.keyboard.press('?');
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await shortcuts.waitFor();
    // The dialog covers the navigation between views.
    for (const size of sizes) {
      await page.setViewportSize(size);
      expect(await shortcuts.isVisible()).toBe(true);
      await checkAppearance(tab, 'views-shortcuts');
    }
    await page.keyboard.press('Escape');
    await page.setViewportSize(sizes[0]);
    await page.getByRole('button', { name: 'Close inspector' }).click();
    await checkView('without-inspector', 'Chat');
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
  });

  it('shows a thread of 1,000 messages', async () => {
    const messages = Array.from({ length: 1000 }, (_, n) => ({
      id: `long-${n}`,
      role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
      parts: [{ type: 'text' as const, text: `Message ${n} with **some** Markdown.` }],
    }));
    await server.intertie.agents.get('helper')!.importMessages({ threadId: 'long', messages });
    await page.goto(`${server.url}/?thread=long`);
    await tab.waitForText('Message 999 with');
    await checkView('long-thread', 'Chat', async () => {
      await tab.waitForText('Message 999 with');
      expect(await page.locator('.message').count()).toBeLessThanOrEqual(50);
    });
    await checkView('imported-streams', 'Inspect');
    await showPane('Tree');
    await checkView('long-tree', 'Inspect');
    await showPane('Streams');
  });

  it('logs no errors', () => {
    expect(tab.errors).toEqual([]);
  });
});
