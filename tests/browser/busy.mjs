// @ts-check
// `node tests/browser/busy.mjs [view...]`: measures each view of the console with 200 events per second for 10 s and typing.
// Run `npm run test:browser` first: it builds the console and installs Playwright.
//   --profile=file.json  writes Chromium's CPU profile of the last view to the file and prints a summary
//   --rounds=3           number of measurements of each view
//   --console=folder     uses another build of the console, for comparison
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { serve, tape } from 'intertie';
import { chromium } from 'playwright-core';

import { busyTape } from './busy-tape.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { profile: { type: 'string' }, rounds: { type: 'string', default: '1' }, console: { type: 'string' } },
});
const views = positionals.length > 0 ? positionals : ['chat', 'streams', 'topology', 'timeline', 'tree', 'tape'];
const seconds = 10;

/** Records long tasks, and the delay of key presses until their handler and until the next paint; evaluated in the page. */
function watch() {
  const seen = {
    long: /** @type {number[]} */ ([]),
    waits: /** @type {number[]} */ ([]),
    paints: /** @type {number[]} */ ([]),
  };
  Object.assign(globalThis, { seen });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.long.push(duration);
  }).observe({ type: 'longtask' });
  addEventListener(
    'keydown',
    (event) => {
      seen.waits.push(performance.now() - event.timeStamp);
      requestAnimationFrame(() => setTimeout(() => seen.paints.push(performance.now() - event.timeStamp)));
    },
    { capture: true },
  );
}

const folder = mkdtempSync(join(tmpdir(), 'intertie-busy-'));
const served = await serve(
  { database: join(folder, 'database'), agents: { busy: tape(busyTape(seconds)) } },
  { port: 0 },
);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
const browserSession = await browser.newBrowserCDPSession();
try {
  console.log('wall clock                |  CPU time of the main thread                             |  typing');
  console.log(
    'view      events  long  longest  per event  over 50 ms  longest   script   layout    paint  key p50/p95/max  shown p95  load',
  );
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const view of views) await measure(view);
  }
} finally {
  await browser.close();
  await served.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** @param {string} view */
async function measure(view) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(watch);
  await page.addInitScript(
    (isOpen) => localStorage.setItem('intertie:inspector-open', String(isOpen)),
    view !== 'chat',
  );
  if (options.console) await page.route((url) => !url.pathname.startsWith('/api/'), fromFolder(options.console));
  await page.goto(`${served.url}/?pane=${view}`);
  await page.locator('.recording .sources').waitFor({ timeout: 60_000 });
  const field = page.getByLabel('Your message');
  await field.fill('Go');
  const devtools = await page.context().newCDPSession(page);
  await page.evaluate(() => {
    const { seen } = /** @type {any} */ (globalThis);
    for (const list of Object.values(seen)) list.length = 0;
  });
  const traced = await trace();
  if (options.profile) {
    await devtools.send('Profiler.enable');
    await devtools.send('Profiler.setSamplingInterval', { interval: 500 });
    await devtools.send('Profiler.start');
  }
  await field.press('Enter');
  await page.waitForURL(/thread=/);
  const thread = await page.evaluate(() => new URL(location.href).searchParams.get('thread') ?? '');
  // Polls the server: polling the page would cost more than the events.
  while (['none', 'queued', 'running'].includes((await getRun(thread)).state)) {
    await page.keyboard.type('a');
    await new Promise((resolve) => {
      setTimeout(resolve, 90);
    });
  }
  await page.locator('.messages[aria-busy="false"]').waitFor({ timeout: 60_000 });
  const { tasks, script, layout, paint } = await traced();
  const profile = options.profile ? (await devtools.send('Profiler.stop')).profile : undefined;
  const { long, waits, paints } = await page.evaluate(() => /** @type {any} */ (globalThis).seen);
  const events = (await getRun(thread)).lastSeq;
  await page.close();

  console.log(
    [
      view.padEnd(9),
      String(events).padStart(6),
      String(long.length).padStart(5),
      ms(Math.max(0, ...long)).padStart(8),
      `${(sum(tasks) / events).toFixed(2)} ms`.padStart(10),
      String(tasks.filter((time) => time > 50).length).padStart(9),
      ms(Math.max(0, ...tasks)).padStart(9),
      ms(script).padStart(8),
      ms(layout).padStart(8),
      ms(paint).padStart(8),
      [0.5, 0.95, 1]
        .map((share) => quantile(waits, share).toFixed(0))
        .join('/')
        .padStart(15),
      ms(quantile(paints, 0.95)).padStart(11),
      loadavg()[0]?.toFixed(1).padStart(5),
    ].join(' '),
  );
  if (profile && options.profile) {
    writeFileSync(options.profile, JSON.stringify(profile));
    printProfile(profile);
  }
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

/**
 * @param {string} thread
 * @returns {Promise<{ state: string; lastSeq: number }>}
 */
async function getRun(thread) {
  const response = await fetch(`${served.url}/api/threads/${thread}/runs`);
  const { runs } = await response.json();
  return runs?.[0] ?? { state: 'none', lastSeq: 0 };
}

/**
 * Starts a Chromium trace. The returned function stops it and returns the CPU time of the page's main thread by category. CPU time
 * depends less on other load of the machine than wall-clock time.
 */
async function trace() {
  /** @type {Array<Record<string, any>>} */
  const events = [];
  const collect = (/** @type {{ value: Array<Record<string, any>> }} */ { value }) => void events.push(...value);
  browserSession.on('Tracing.dataCollected', collect);
  const includedCategories = ['devtools.timeline', 'disabled-by-default-devtools.timeline', '__metadata'];
  await browserSession.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories, excludedCategories: ['*'] },
  });
  return async () => {
    const complete = new Promise((resolve) => {
      browserSession.once('Tracing.tracingComplete', resolve);
    });
    await browserSession.send('Tracing.end');
    await complete;
    browserSession.off('Tracing.dataCollected', collect);
    const mains = events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
    const isMain = new Set(mains.map(({ pid, tid }) => `${pid} ${tid}`));
    const own = events.filter(({ pid, tid, tdur }) => tdur > 0 && isMain.has(`${pid} ${tid}`));
    const times = (/** @type {string[]} */ ...names) =>
      own.filter(({ name }) => names.includes(name)).map(({ tdur }) => tdur / 1000);
    return {
      tasks: times('RunTask'),
      script: sum(times('FunctionCall', 'EvaluateScript', 'RunMicrotasks')),
      layout: sum(times('Layout', 'UpdateLayoutTree')),
      paint: sum(times('Paint', 'PrePaint', 'Layerize', 'Commit')),
    };
  };
}

/** Prints the functions with the most self time and total time. @param {any} profile */
function printProfile({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((/** @type {any} */ node) => [node.id, { ...node, own: 0 }]));
  samples.forEach(
    (/** @type {number} */ id, /** @type {number} */ index) => (byId.get(id).own += timeDeltas[index] / 1000),
  );
  const own = new Map();
  const all = new Map();
  /** @param {any} node @param {Set<string>} above @returns {number} */
  const visit = (node, above) => {
    const { functionName, url, lineNumber, columnNumber } = node.callFrame;
    const name = `${functionName || '(anonymous)'} ${url.split('/').at(-1)}:${lineNumber}:${columnNumber}`;
    const isFirst = !above.has(name);
    above.add(name);
    const total = (node.children ?? []).reduce(
      (/** @type {number} */ time, /** @type {number} */ id) => time + visit(byId.get(id), above),
      node.own,
    );
    if (isFirst) above.delete(name);
    own.set(name, (own.get(name) ?? 0) + node.own);
    if (isFirst) all.set(name, (all.get(name) ?? 0) + total);
    return total;
  };
  visit(byId.get(nodes[0].id), new Set());
  for (const [title, times] of /** @type {const} */ ([
    ['self', own],
    ['total', all],
  ])) {
    console.log(`\n${title}`);
    const sorted = [...times].toSorted((a, b) => b[1] - a[1]).slice(0, 45);
    for (const [name, time] of sorted) console.log(`${time.toFixed(0).padStart(7)} ms  ${name}`);
  }
}

/** @param {number[]} list */
function sum(list) {
  return list.reduce((all, one) => all + one, 0);
}

/** @param {number[]} list @param {number} share */
function quantile(list, share) {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** @param {number} value */
function ms(value) {
  return `${value.toFixed(0)} ms`;
}
