// `npm run picture`: takes the pictures of the README from real runs, light and dark. Run `npm run test:browser` first: it
// installs Playwright.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { takeClientsPicture } from './clients-picture.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'intertie-picture-'));
const server = spawn(process.execPath, [join(root, 'packages/server/bin/intertie.mjs'), 'serve', '--port', '0'], {
  cwd: folder,
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const url = await new Promise((resolve, reject) => {
    let output = '';
    server.stdout.on('data', (/** @type {Buffer} */ data) => {
      output += data.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
      if (found) resolve(found[0]);
    });
    server.once('exit', () => reject(new Error(`The server exited: ${output}`)));
  });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  mkdirSync(join(root, 'docs/images'), { recursive: true });
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const page = await browser.newPage({ viewport: { width: 1600, height: 900 }, colorScheme });
    await page.goto(url);
    await page.getByRole('button', { name: /^Where does the time go in our build/ }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor({ timeout: 60_000 });
    await page
      .locator('.stream-summary .status:not([data-status=live], [data-status=loading])')
      .first()
      .waitFor({ timeout: 60_000 });
    await page.screenshot({ path: join(root, `docs/images/console-${colorScheme}.png`) });
    await page.close();
  }
  await takeClientsPicture(browser);
  await browser.close();
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}
