// @ts-check
// node site/build.mjs serve: serves the documentation site with live reload.
// node site/build.mjs [ref ...]: builds it into site/dist and checks its links. The documents of other git refs, for
// example of the tag of an older version, are built below /<version>/, and every page can switch between them.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { install } from '../scripts/install.mjs';
import { root } from '../scripts/workspace.mjs';
import { checkLinks } from './check-links.mjs';
import { writePages } from './pages.mjs';

const [command, ...others] = process.argv.slice(2);
const folder = join(root, 'site');
install('site');
writePages();
if (command === 'serve') {
  for (const name of ['docs', 'contributing', 'packages', 'examples']) {
    watch(join(root, name), { recursive: true }, (_, file) => void (file?.endsWith('.md') && writePages()));
  }
  const { createServer } = await import('vitepress');
  const server = await createServer(folder, { host: '127.0.0.1' });
  await server.listen();
  server.printUrls();
} else {
  const checkouts = (command === undefined ? [] : [command, ...others]).map(checkOut);
  const versions = process.env.SITE_VERSIONS ?? [root, ...checkouts].map(readVersion).join(',');
  const vitepress = join(folder, 'node_modules/vitepress/bin/vitepress.js');
  run([vitepress, 'build', folder], { SITE_VERSIONS: versions });
  for (const checkout of checkouts) {
    const version = readVersion(checkout);
    run([join(checkout, 'site/build.mjs')], { SITE_VERSIONS: versions, SITE_BASE: `/${version}/` });
    cpSync(join(checkout, 'site/dist', version), join(folder, 'dist', version), { recursive: true });
    rmSync(checkout, { recursive: true });
  }
  const broken = checkLinks(join(folder, 'dist'));
  if (broken.length > 0) {
    console.error(`The site has broken links:\n${broken.map((link) => `  ${link}`).join('\n')}`);
    process.exitCode = 1;
  }
}

/**
 * @param {string[]} args
 * @param {{ [name: string]: string }} env
 */
function run(args, env) {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  if (status !== 0) process.exit(status ?? 1);
}

/** @param {string} ref */
function checkOut(ref) {
  const checkout = mkdtempSync(join(tmpdir(), 'intertie-site-'));
  const archive = execFileSync('git', ['archive', ref], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', checkout], { input: archive });
  return checkout;
}

/** @param {string} checkout */
function readVersion(checkout) {
  /** @type {{ version: string }} */
  const { version } = JSON.parse(readFileSync(join(checkout, 'packages/server/package.json'), 'utf8'));
  return version;
}
