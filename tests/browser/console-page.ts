import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { BrowserContext, Locator, Page } from 'playwright-core';

/** Folder for screenshots. None are saved if it is not set. */
const screenshotFolder = process.env.INTERTIE_SCREENSHOTS;

/** Page object of the console. Collects page errors, console errors and requests to other origins. */
export class ConsolePage {
  readonly page: Page;
  readonly errors: string[] = [];

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(context: BrowserContext, url: string): Promise<ConsolePage> {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const opened = new ConsolePage(page);
    const { errors } = opened;
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
    const { origin } = new URL(url);
    page.on('request', (request) => {
      const isOwn = request.url().startsWith(origin) || /^(data|blob):/.test(request.url());
      if (!isOwn) errors.push(`Request to another origin: ${request.url()}`);
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

  /** Starts a thread with a message to an agent. */
  async start(text: string, agent: string): Promise<void> {
    await this.page.locator('.sidebar').getByRole('button', { name: 'New thread' }).click();
    await this.page.locator('.chat').getByLabel('Agent', { exact: true }).selectOption(agent);
    await this.send(text);
    await this.page.waitForURL(/thread=/);
  }

  async send(text: string): Promise<void> {
    await this.input.fill(text);
    await this.input.press('Enter');
  }

  /** Waits until the chat shows a text. */
  async waitForText(text: string | RegExp): Promise<void> {
    await this.page.locator('.chat').getByText(text).first().waitFor();
  }

  /** Waits until no answer is streaming. */
  async waitUntilIdle(): Promise<void> {
    await this.button('Send').waitFor();
    await this.page.locator('.messages[aria-busy="false"]').waitFor();
  }

  getLastAnswer(): Promise<string> {
    return this.answers.last().innerText();
  }

  /** Removes the network errors that the browser logs when a test interrupts a connection. */
  ignoreNetworkErrors(): void {
    this.errors.splice(0, this.errors.length, ...this.errors.filter((text) => !/ERR_/.test(text)));
  }

  async screenshot(name: string): Promise<void> {
    if (screenshotFolder === undefined) return;
    mkdirSync(screenshotFolder, { recursive: true });
    await this.page.screenshot({ path: join(screenshotFolder, `${name}.png`) });
  }
}
