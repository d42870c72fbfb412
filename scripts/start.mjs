// `npm start`: builds what is missing or old, says what takes time, and starts the server with the console.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'packages/server/dist/main.js');
const page = join(root, 'packages/server/dist/console/index.html');

/**
 * When a file below the folders was changed last.
 * @param {string[]} folders
 * @returns {number}
 */
function newest(folders) {
  let time = 0;
  for (const folder of folders) {
    if (!existsSync(folder)) continue;
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      time = Math.max(time, entry.isDirectory() ? newest([path]) : statSync(path).mtimeMs);
    }
  }
  return time;
}

/**
 * When a file that every build writes was written: what is younger is not built.
 * @param {string} file
 */
const builtAt = (file) => (existsSync(file) ? statSync(file).mtimeMs : 0);

/**
 * @param {string} what
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 */
function run(what, command, args, cwd) {
  const began = Date.now();
  process.stderr.write(`${what} …`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], { cwd, encoding: 'utf8' });
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  process.stderr.write(status === 0 ? ` ${seconds} s\n` : ' failed\n');
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}`);
    process.exit(1);
  }
}

if (!existsSync(join(root, 'node_modules/typescript'))) {
  process.stderr.write('The packages are not installed. Run "npm ci" first.\n');
  process.exit(1);
}

const packages = readdirSync(join(root, 'packages'));
const sources = newest(packages.map((name) => join(root, 'packages', name, 'src')));
const stamps = packages
  .map((name) => join(root, 'packages', name, 'dist/.tsbuildinfo'))
  .filter((file) => existsSync(file));
if (!existsSync(main) || Math.max(0, ...stamps.map(builtAt)) < sources) {
  run(
    'Compiling the packages (once, about 10 s)',
    join(root, 'node_modules/typescript/bin/tsc'),
    ['-b', 'packages'],
    root,
  );
}

const app = join(root, 'apps/console');
const vite = join(root, 'node_modules/vite/bin/vite.js');
if (existsSync(join(app, 'index.html')) && builtAt(page) < newest([join(app, 'src')])) {
  run('Building the console (once, about 10 s)', vite, ['build', '--logLevel', 'error'], app);
}

const { main: start } = await import(pathToFileURL(main).href);
process.exitCode = await start(['serve', ...process.argv.slice(2)]);
