// @ts-check
// `node tests/browser/open.mjs`: measures the first paint of the console and the opening of a thread of 1,000 messages, each in a
// fresh page. Run `npm run test:browser` first: it builds the console and installs Playwright.
//   --rounds=10          number of measurements
//   --console=folder     also measures another build of the console, in turns; may be repeated
//   --profile=file.json  writes Chromium's CPU profile of the last opening to the file
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

import { demoModel, model, serve } from 'intertie';
import { chromium } from 'playwright-core';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    console: { type: 'string', multiple: true, default: [] },
    profile: { type: 'string' },
  },
});
const own = fileURLToPath(new URL('../../packages/server/dist/console', import.meta.url));
const builds = [own, ...(options.console ?? [])];
const text = (/** @type {number} */ n) =>
  `Message ${n} with **some** Markdown, a [link](https://example.org) and \`code\`.\n\n- one\n- two\n\nAnd another paragraph.`;
const messages = Array.from({ length: 1000 }, (_, n) => ({
  id: `long-${n}`,
  role: n % 2 === 0 ? /** @type {const} */ ('user') : /** @type {const} */ ('assistant'),
  parts: [{ type: /** @type {const} */ ('text'), text: text(n) }],
}));

const folder = mkdtempSync(join(tmpdir(), 'intertie-open-'));
const served = await serve(
  { database: join(folder, 'database'), agents: { helper: model({ model: demoModel() }) } },
  { port: 0 },
);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
try {
  await served.intertie.agents.get('helper')?.importMessages({ threadId: 'long', messages });
  /** @type {Map<string, Array<{ paint: number; thread: number; cpu: number }>>} */
  const results = new Map(builds.map((build) => [build, []]));
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const build of round % 2 === 0 ? builds : builds.toReversed()) results.get(build)?.push(await measure(build));
  }
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  for (const [build, all] of results) {
    const row = /** @type {const} */ (['paint', 'thread', 'cpu']).map((name) => {
      const sorted = all.map((one) => one[name]).toSorted((a, b) => a - b);
      return `${name} ${sorted[0]?.toFixed(0)}/${sorted[sorted.length >> 1]?.toFixed(0)}/${sorted.at(-1)?.toFixed(0)} ms`;
    });
    console.log(`${build}\n  ${row.join('  ')} (min/median/max)  entry ${(entrySize(build) / 1000).toFixed(1)} kB`);
  }
} finally {
  await browser.close();
  await served.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/**
 * `paint`: first contentful paint of the welcome screen. `thread`: from the start of the navigation until the last message is painted as
 * Markdown. `cpu`: CPU time of the renderer's main thread until then.
 * @param {string} build
 */
async function measure(build) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.route((url) => !url.pathname.startsWith('/api/'), fromFolder(build));
  const welcome = await context.newPage();
  await welcome.goto(served.url);
  const paint = await welcome.evaluate(
    () =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => {
          const found = list.getEntries().find(({ name }) => name === 'first-contentful-paint');
          if (found) resolve(found.startTime);
        }).observe({ type: 'paint', buffered: true });
      }),
  );
  await welcome.close();

  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  if (options.profile) {
    await devtools.send('Profiler.enable');
    await devtools.send('Profiler.start');
  }
  await page.addInitScript(watch);
  await page.goto(`${served.url}/?thread=long`);
  const thread = await page.evaluate(() => /** @type {any} */ (globalThis).shownAt);
  const { metrics } = await devtools.send('Performance.getMetrics');
  const cpu = (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000;
  if (options.profile) writeFileSync(options.profile, JSON.stringify((await devtools.send('Profiler.stop')).profile));
  await context.close();
  return { paint: Number(paint), thread: Number(thread), cpu };
}

/** Sets `shownAt` to a promise of the time at which the last message is painted; evaluated in the page. */
function watch() {
  const shownAt = new Promise((resolve) => {
    const look = () => {
      const last = [...document.querySelectorAll('.message .markdown strong')].at(-1);
      if (last?.closest('.message')?.textContent?.includes('Message 999'))
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
      else requestAnimationFrame(look);
    };
    look();
  });
  Object.assign(globalThis, { shownAt });
}

/**
 * @param {string} build
 * @returns {(route: import('playwright-core').Route) => Promise<void>}
 */
function fromFolder(build) {
  return (route) => {
    const { pathname } = new URL(route.request().url());
    return route.fulfill({ path: join(build, pathname === '/' ? 'index.html' : pathname) });
  };
}

/** @param {string} build */
function entrySize(build) {
  const name = readdirSync(join(build, 'assets')).find((file) => /^index-.*\.js$/.test(file)) ?? '';
  return gzipSync(readFileSync(join(build, 'assets', name))).length;
}
