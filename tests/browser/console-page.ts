import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { BrowserContext, Locator, Page } from 'playwright-core';

/** Where pictures are saved, for those who want to look: INTERTIE_PICTURES=folder. */
const pictures = process.env.INTERTIE_PICTURES;

/** A page of the console, and everything that it complained about. */
export class ConsolePage {
  readonly page: Page;
  readonly complaints: string[] = [];

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(context: BrowserContext, url: string): Promise<ConsolePage> {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const opened = new ConsolePage(page);
    const { complaints } = opened;
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    const { origin } = new URL(url);
    page.on('request', (request) => {
      const isOwn = request.url().startsWith(origin) || /^(data|blob):/.test(request.url());
      if (!isOwn) complaints.push(`It asked somebody else: ${request.url()}`);
    });
    await page.goto(url);
    return opened;
  }

  get input(): Locator {
    return this.page.getByLabel('Your message');
  }

  get answers(): Locator {
    return this.page.locator('.chat article.assistant');
  }

  button(name: string | RegExp): Locator {
    return this.page.locator('.chat').getByRole('button', { name });
  }

  /** Asks in a new thread. */
  async ask(text: string, agent: string): Promise<void> {
    await this.page.getByRole('button', { name: 'New thread' }).click();
    await this.page.locator('.chat').getByLabel('Agent', { exact: true }).selectOption(agent);
    await this.say(text);
    await this.page.waitForURL(/thread=/);
  }

  async say(text: string): Promise<void> {
    await this.input.fill(text);
    await this.input.press('Enter');
  }

  /** The chat shows these words. */
  async shown(text: string | RegExp): Promise<void> {
    await this.page.locator('.chat').getByText(text).first().waitFor();
  }

  /** Nothing is being written any more. */
  async settled(): Promise<void> {
    await this.button('Send').waitFor();
    await this.page.locator('.messages[aria-busy="false"]').waitFor();
  }

  /** The words of the last answer. */
  lastAnswer(): Promise<string> {
    return this.answers.last().innerText();
  }

  async picture(name: string): Promise<void> {
    if (pictures === undefined) return;
    mkdirSync(pictures, { recursive: true });
    await this.page.screenshot({ path: join(pictures, `${name}.png`) });
  }
}
