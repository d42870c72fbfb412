import { chromium } from 'playwright-core';
import { createInMemoryStore } from '@intertie/core';
import { serve } from 'intertie';
import { startDemoAgents } from '../../packages/server/dist/demo/start-demo-agents.js';
const demo = await startDemoAgents({ pace: 0.05 });
const served = await serve(
  { agents: demo.agents, database: createInMemoryStore(), prices: { demo: { input: 3, output: 15 } } },
  { port: 0 },
);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
});
const page = await (await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })).newPage();
page.on('console', (m) => m.type() === 'error' && console.log('console:', m.text()));
page.on('pageerror', (e) => console.log('pageerror:', String(e)));
const sizes = [
  [1440, 900],
  [1024, 768],
  [768, 1024],
  [390, 844],
];
export async function shots(name, only) {
  for (const [width, height] of sizes)
    for (const colorScheme of ['light', 'dark']) {
      if (only && !only.includes(`${width}-${colorScheme}`)) continue;
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await page.waitForTimeout(150);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (over > 0) console.log('overflow', name, width, over);
      await page.screenshot({ path: `/tmp/console/p/${name}-${width}-${colorScheme}.png` });
    }
}
try {
  const { default: run } = await import(process.argv[2]);
  await run({ page, served, shots, context: page.context() });
} catch (e) {
  console.log(String(e));
  await page.screenshot({ path: '/tmp/console/p/error.png' });
} finally {
  await browser.close();
  await served.close();
  await demo.stop();
  process.exit(0);
}
