import type { Server } from 'node:http';

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { smoke } from '../smoke/smoke.mjs';
import { launch } from './browser.ts';
import { importMap, serve } from './serve.ts';

describe('in a browser, as native modules', () => {
  let close: (() => Promise<void>) | undefined;
  let page: Page;
  let server: Server;
  const complaints: string[] = [];

  beforeAll(async () => {
    const served = await serve();
    server = served.server;
    const launched = await launch();
    close = launched.close;
    page = await launched.context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    page.on(
      'response',
      (response) => void (response.ok() || complaints.push(`${response.status()} ${response.url()}`)),
    );
    await page.goto(served.origin);
  });

  afterAll(async () => {
    await close?.();
    server?.close();
  });

  // As text: a function's `import()` would be rewritten on its way.
  const inPage = (program: string): Promise<unknown> => page.evaluate(program);

  it.each(Object.keys(importMap().imports))('%s has the exports that it has in Node', async (specifier) => {
    const there = await inPage(`import('${specifier}').then((module) => Object.keys(module).sort())`);
    const here = (await import(specifier)) as object;
    expect(there).toEqual(Object.keys(here).toSorted());
  });

  it('works as it does in Node', async () => {
    expect(await inPage(`import('/tests/smoke/smoke.mjs').then((module) => module.smoke())`)).toEqual(await smoke());
  });

  it('did so without a complaint', () => {
    expect(complaints).toEqual([]);
  });
});
