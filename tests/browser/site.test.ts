import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { serve } from '../../packages/ai-sdk/test/serve.ts';
import { root } from '../../scripts/workspace.mjs';
import { launch } from './browser.ts';

const dist = join(root, 'site/dist');
const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};
/** Folder for screenshots. None are saved if it is not set. */
const screenshots = process.env.INTERTIE_SCREENSHOTS;
const pages = [
  'index',
  'quick-start',
  'react-page',
  'comparison',
  'guarantees',
  'benchmarks',
  'decisions/index',
  'runtimes/langgraph',
  'clients/use-chat',
  'clients/assistant-ui',
  'errors/index',
];

describe('the documentation site', () => {
  let context: BrowserContext;
  let close: () => Promise<void>;
  let server: Awaited<ReturnType<typeof serve>>;
  const problems: string[] = [];

  beforeAll(async () => {
    // Fails on a broken link. The last commit stands for an older version.
    execFileSync(process.execPath, [join(root, 'site/build.mjs'), 'HEAD'], { stdio: 'pipe' });
    server = await serve(async (request) => {
      const { pathname } = new URL(request.url);
      const file = join(dist, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      if (!existsSync(file)) return new Response('Not found', { status: 404 });
      return new Response(await readFile(file), {
        headers: { 'content-type': types[extname(file)] ?? 'application/octet-stream' },
      });
    });
    ({ context, close } = await launch());
  }, 600_000);
  afterAll(async () => {
    await close?.();
    await server?.close();
  });

  const open = async (path: string, width = 1280): Promise<Page> => {
    const page = await context.newPage();
    await page.setViewportSize({ width, height: 800 });
    page.on('pageerror', (error) => problems.push(`${path}: ${error}`));
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${path}: ${response.status()} ${response.url()}`);
    });
    page.on('request', (request) => {
      const isOwn = request.url().startsWith(server.url) || /^(data|blob):/.test(request.url());
      if (!isOwn) problems.push(`${path}: request to ${request.url()}`);
    });
    await page.goto(`${server.url}/${path}.html`, { waitUntil: 'networkidle' });
    return page;
  };

  it.each(pages)('fits in light, in dark and on a phone: %s', async (path) => {
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 1280],
      ['light', 390],
    ] as const) {
      const page = await open(path, width);
      await page.emulateMedia({ colorScheme });
      await page.locator('h1').first().waitFor();
      const { overflow, color, background } = await page.evaluate(() => {
        const { scrollWidth } = document.documentElement;
        const style = getComputedStyle(document.body);
        return { overflow: scrollWidth - innerWidth, color: style.color, background: style.backgroundColor };
      });
      expect(overflow).toBeLessThanOrEqual(0);
      expect(color).not.toBe(background);
      if (screenshots) {
        mkdirSync(screenshots, { recursive: true });
        await page.screenshot({
          path: join(screenshots, `site-${path.replace('/', '-')}-${colorScheme}-${width}.png`),
        });
      }
      await page.close();
    }
  });

  it('finds a page by a word, without a server', async () => {
    const page = await open('index');
    await page
      .getByRole('button', { name: /search/i })
      .first()
      .click();
    await page.getByRole('searchbox').fill('sendAutomaticallyWhen');
    await page.getByRole('option').filter({ hasText: 'React page' }).first().click();
    await page.waitForURL(/react-page/);
    expect(await page.locator('h1').textContent()).toContain('React page');
    await page.close();
  });

  it('switches between the versions, each with pages and a search of its own', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'packages/server/package.json'), 'utf8')) as {
      version: string;
    };
    const page = await open(`${version}/quick-start`);
    const versions = page.getByRole('combobox', { name: 'Version' });
    expect(await versions.locator('option:checked').textContent()).toBe(`v${version}`);
    await page.getByRole('link', { name: 'First app' }).first().click();
    await page.waitForURL(`${server.url}/${version}/first-app.html`);
    await page
      .getByRole('button', { name: /search/i })
      .first()
      .click();
    await page.getByRole('searchbox').fill('sendAutomaticallyWhen');
    const found = page.getByRole('option').filter({ hasText: 'React page' }).first();
    expect(await found.locator('a').getAttribute('href')).toContain(`/${version}/react-page`);
    if (screenshots) await page.screenshot({ path: join(screenshots, 'site-search-light-1280.png') });
    await page.keyboard.press('Escape');
    await versions.selectOption({ index: 0 });
    await page.waitForURL(`${server.url}/`);
    await page.close();
  });

  it('switches to dark mode by a button', async () => {
    const page = await open('quick-start');
    await page.getByRole('switch', { name: /dark/i }).first().click();
    expect(await page.locator('html').getAttribute('class')).toContain('dark');
    await page.close();
  });

  it('has no errors, missing files or requests to other hosts', () => {
    expect(problems).toEqual([]);
  });
});
