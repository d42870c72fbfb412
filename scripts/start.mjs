// `npm start`: builds missing or outdated files, prints slow steps, and starts the server with the console.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const parent = process.ppid;
const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'packages/server/dist/main.js');
const page = join(root, 'packages/server/dist/console/index.html');

/**
 * Returns the time of the last change below the folders.
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
 * Returns when a file was written by a build; newer sources are not built.
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

process.stderr.write('Intertie: a server with a console and demo agents, which need no API key.\n');

/** @param {string[]} names */
const changedAt = (...names) => newest(names.map((name) => join(root, name, 'src')));

const packages = readdirSync(join(root, 'packages')).map((name) => join('packages', name));
// The compiler does not rewrite unchanged files, so their times do not show when it ran.
const stamp = join(root, 'node_modules/.cache/intertie-built');
if (!existsSync(main) || builtAt(stamp) < changedAt(...packages)) {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  run('Compiling the packages (once, about 10 s)', compiler, ['-b', 'packages/server'], root);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, '');
}

const bundled = ['apps/console', ...['core', 'ai-sdk', 'ag-ui', 'conformance'].map((name) => join('packages', name))];
const app = join(root, 'apps/console');
if (existsSync(join(app, 'index.html')) && builtAt(page) < changedAt(...bundled)) {
  const bundler = join(root, 'node_modules/vite/bin/vite.js');
  run('Building the console (once, about 10 s)', bundler, ['build', '--logLevel', 'error'], app);
}

// npm forwards a SIGTERM to the shell that runs this script, and a shell such as dash ends without forwarding it.
if (process.env.npm_lifecycle_event === 'start') {
  let isWatching = false;
  const stopWatching = () => clearInterval(timer);
  const timer = setInterval(() => {
    // A second signal would end the server without its drain period. Only a server that listens may get another listener.
    if (!isWatching && process.listenerCount('SIGINT') > 0) {
      isWatching = true;
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stopWatching);
    }
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
}

const { main: start } = await import(pathToFileURL(main).href);
process.exitCode = await start(['serve', ...process.argv.slice(2)]);
