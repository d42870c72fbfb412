import { accessSync, constants, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { chromium, type BrowserContext } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

function findExecutable(): string {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of names) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // Not in this folder.
      }
    }
  }
  throw new Error('Chromium not found. Install it (`apt-get install chromium`) or set CHROMIUM=/path/to/executable.');
}

/** Launches the system's Chromium with an empty profile. `close` ends it and removes the profile. */
export async function launch(): Promise<{ context: BrowserContext; close: () => Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), 'intertie-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: findExecutable(),
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  const close = async (): Promise<void> => {
    await context.close();
    // Retries, since the last process may still be writing.
    await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  return { context, close };
}
