import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { root } from '../../scripts/workspace.mjs';
import { smokeAiSdk } from '../smoke/ai-sdk.mjs';
import { launch } from './browser.ts';

/** As pages have it: `ai` and what it needs come from npm, so it takes a bundler. */
async function bundle(): Promise<string> {
  const input = join(root, 'tests/smoke/ai-sdk.mjs');
  const build = await rolldown({ input, platform: 'browser', transform: { define: { 'process.env.NODE_ENV': '""' } } });
  const { output } = await build.generate({ format: 'iife', name: 'bundled', codeSplitting: false });
  await build.close();
  return output[0].code;
}

describe('the AI SDK package in a browser', () => {
  let close: (() => Promise<void>) | undefined;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    const launched = await launch();
    close = launched.close;
    page = await launched.context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.addScriptTag({ content: await bundle() });
  });

  afterAll(() => close?.());

  it('chats as it does in Node', async () => {
    expect(await page.evaluate('bundled.smokeAiSdk()')).toEqual(await smokeAiSdk());
  });

  it('did so without a complaint', () => {
    expect(complaints).toEqual([]);
  });
});
