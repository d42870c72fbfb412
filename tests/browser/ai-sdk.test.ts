import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { root } from '../../scripts/workspace.mjs';
import { smokeAiSdk } from '../smoke/ai-sdk.mjs';
import { launch } from './browser.ts';

/** Bundles the smoke program: `ai` and its dependencies cannot be loaded as native modules. */
async function bundle(): Promise<string> {
  const input = join(root, 'tests/smoke/ai-sdk.mjs');
  const build = await rolldown({ input, platform: 'browser', transform: { define: { 'process.env.NODE_ENV': '""' } } });
  const { output } = await build.generate({ format: 'iife', name: 'bundled', codeSplitting: false });
  await build.close();
  return output[0].code;
}

describe('@intertie/ai-sdk in a browser', () => {
  let close: (() => Promise<void>) | undefined;
  let page: Page;
  const errors: string[] = [];

  beforeAll(async () => {
    const launched = await launch();
    close = launched.close;
    page = await launched.context.newPage();
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.addScriptTag({ content: await bundle() });
  });

  afterAll(() => close?.());

  it('produces the same chat as in Node', async () => {
    expect(await page.evaluate('bundled.smokeAiSdk()')).toEqual(await smokeAiSdk());
  });

  it('logs no page errors', () => {
    expect(errors).toEqual([]);
  });
});
