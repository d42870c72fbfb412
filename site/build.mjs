// @ts-check
// node site/build.mjs [serve]: builds the documentation site into site/dist and checks its links, or serves it with live reload.
import { spawnSync } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';

import { install } from '../scripts/install.mjs';
import { root } from '../scripts/workspace.mjs';
import { checkLinks } from './check-links.mjs';
import { writePages } from './pages.mjs';

const isServing = process.argv[2] === 'serve';
const folder = join(root, 'site');
install('site');
writePages();
if (isServing) {
  for (const name of ['docs', 'contributing', 'packages', 'examples']) {
    watch(join(root, name), { recursive: true }, (_, file) => void (file?.endsWith('.md') && writePages()));
  }
  const { createServer } = await import('vitepress');
  const server = await createServer(folder, { host: '127.0.0.1' });
  await server.listen();
  server.printUrls();
} else {
  const vitepress = join(folder, 'node_modules/vitepress/bin/vitepress.js');
  const { status } = spawnSync(process.execPath, [vitepress, 'build', folder], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  const broken = checkLinks(join(folder, 'dist'));
  if (broken.length > 0) {
    console.error(`The site has broken links:\n${broken.map((link) => `  ${link}`).join('\n')}`);
    process.exitCode = 1;
  }
}
