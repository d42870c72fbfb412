import type { Server } from 'node:http';

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { smoke } from '../smoke/smoke.mjs';
import { launch } from './browser.ts';
import { importMap, serve } from './serve.ts';

describe('native modules in a browser', () => {
  let close: (() => Promise<void>) | undefined;
  let page: Page;
  let server: Server;
  const errors: string[] = [];

  beforeAll(async () => {
    const served = await serve();
    server = served.server;
    const launched = await launch();
    close = launched.close;
    page = await launched.context.newPage();
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
    page.on('response', (response) => void (response.ok() || errors.push(`${response.status()} ${response.url()}`)));
    await page.goto(served.origin);
  });

  afterAll(async () => {
    await close?.();
    server?.close();
  });

  // As text: the test runner would rewrite `import()` in a function.
  const inPage = (program: string): Promise<unknown> => page.evaluate(program);

  it.each(Object.keys(importMap().imports))('exports the same names of %s as in Node', async (specifier) => {
    const inBrowser = await inPage(`import('${specifier}').then((module) => Object.keys(module).sort())`);
    const inNode = (await import(specifier)) as object;
    expect(inBrowser).toEqual(Object.keys(inNode).toSorted());
  });

  it('produces the same results as in Node', async () => {
    expect(await inPage(`import('/tests/smoke/smoke.mjs').then((module) => module.smoke())`)).toEqual(await smoke());
  });

  it('logs no page errors', () => {
    expect(errors).toEqual([]);
  });
});
