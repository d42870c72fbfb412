import { execFile } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const nobody = 65_534;
const isRoot = userInfo().uid === 0;

export type Image = { app: string; command: string[]; health: string[]; user: { uid: number; gid: number } | object };

/** Executes the Dockerfile of a project in a folder, without Docker: copies files and runs commands in `env`. */
export async function buildImage(project: string, layers: string, env: NodeJS.ProcessEnv): Promise<Image> {
  const image: Image = { app: layers, command: [], health: [], user: {} };
  const ignored = readFileSync(join(project, '.dockerignore'), 'utf8').split('\n');
  for (const line of readFileSync(join(project, 'Dockerfile'), 'utf8').split('\n')) {
    const [, word, rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (word === 'WORKDIR') mkdirSync((image.app = join(layers, rest)), { recursive: true });
    if (word === 'COPY') copy(project, image.app, rest.split(' '), ignored);
    if (word === 'RUN') for (const command of rest.split(' && ')) await runInImage(image.app, command, env);
    if (word === 'USER' && isRoot) image.user = { uid: nobody, gid: nobody };
    if (word === 'CMD') image.command = JSON.parse(rest) as string[];
    if (word === 'HEALTHCHECK') image.health = JSON.parse(rest.replace(/^CMD /, '')) as string[];
  }
  return image;
}

function copy(project: string, app: string, paths: readonly string[], ignored: readonly string[]): void {
  const [target = '.', ...sources] = paths.toReversed();
  for (const source of sources) {
    const from = join(project, source.replace(/\*$/, ''));
    if (source.endsWith('*') && !existsSync(from)) continue;
    const to = source === '.' ? join(app, target) : join(app, target, basename(from));
    cpSync(from, to, { recursive: true, filter: (file) => !ignored.includes(basename(file)) });
  }
}

async function runInImage(app: string, command: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [program = '', ...args] = command.split(' ');
  // The image does not use this machine's cache.
  if (command === 'npm cache clean --force') return;
  if (program !== 'chown') await run(program, args, { cwd: app, env });
  else if (isRoot) chownSync(join(app, args.at(-1)!), nobody, nobody);
}

/** Arguments and options with which the image's command is started, on loopback and any free port. */
export function startOptions({ app, command, user }: Image, env: NodeJS.ProcessEnv) {
  const [program = '', ...args] = command.map((word) => (word === '0.0.0.0' ? '127.0.0.1' : word));
  const home = join(app, '../home');
  mkdirSync(home, { recursive: true });
  if ('uid' in user) chownSync(home, user.uid, user.gid);
  const own = { PATH: process.env['PATH']!, HOME: home, PORT: '0', ...env };
  return { program, args, options: { ...user, cwd: app, env: own } };
}
