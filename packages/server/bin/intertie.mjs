#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = new URL('../dist/main.js', import.meta.url);
if (existsSync(main)) {
  const { main: run } = await import(main.href);
  process.exitCode = await run(process.argv.slice(2));
} else {
  const folder = fileURLToPath(new URL('../../..', import.meta.url));
  process.stderr.write(
    `intertie is not built: ${fileURLToPath(main)} is not there.\n` +
      `In a clone, run "npm ci && npm start" in ${folder}. From npm, install it again: npm install intertie\n`,
  );
  process.exitCode = 1;
}
