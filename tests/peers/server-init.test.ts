import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { pack } from '../../scripts/pack.mjs';
import { root } from '../../scripts/workspace.mjs';
import { startIntertie, type StartedIntertie } from './start-intertie.ts';

const run = promisify(execFile);

type Instruction = { word: string; rest: string };
type Image = { app: string; command: string[]; health: string[]; user: { uid: number; gid: number } | object };

function readDockerfile(project: string): Instruction[] {
  const lines = readFileSync(join(project, 'Dockerfile'), 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, word, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    return word === undefined ? [] : [{ word, rest: rest! }];
  });
}

describe('a project of intertie init, built and started like its Dockerfile, without Docker', () => {
  const parentFolder = mkdtempSync(join(tmpdir(), 'intertie-init-'));
  // The unprivileged user of the image needs access too.
  chmodSync(parentFolder, 0o755);
  let archives: string[] = [];

  beforeAll(() => {
    archives = pack(parentFolder).map(({ archive }) => archive);
  }, 300_000);
  afterAll(() => rmSync(parentFolder, { recursive: true }));

  async function init(kind: string): Promise<string> {
    const project = join(parentFolder, kind);
    await run(process.execPath, [join(root, 'packages/server/bin/intertie.mjs'), 'init', project, '--with', kind]);
    return project;
  }

  /** Replaces our unpublished dependencies with archives. */
  function usePacked(app: string): void {
    const manifest = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as {
      dependencies: { [name: string]: string };
      devDependencies?: object;
    };
    const ours = Object.fromEntries(
      archives.map((archive) => {
        const name = basename(archive).replace(/-\d.*$/, '');
        return [name.replace(/^intertie-/, '@intertie/'), `file:${archive}`];
      }),
    );
    manifest.dependencies = { ...manifest.dependencies, ...ours };
    delete manifest.devDependencies;
    writeFileSync(join(app, 'package.json'), JSON.stringify(manifest));
  }

  /** Executes the Dockerfile in a folder. `installed` replaces the installation. */
  async function build(project: string, installed?: string): Promise<Image> {
    const layers = join(parentFolder, `image-of-${basename(project)}`);
    const image: Image = { app: layers, command: [], health: [], user: {} };
    const ignored = readFileSync(join(project, '.dockerignore'), 'utf8').split('\n');
    for (const { word, rest } of readDockerfile(project)) {
      if (word === 'WORKDIR') mkdirSync((image.app = join(layers, rest)), { recursive: true });
      if (word === 'COPY') {
        const [target, ...sources] = rest.split(' ').toReversed();
        for (const source of sources) {
          const from = join(project, source.replace(/\*$/, ''));
          if (source.endsWith('*') && !existsSync(from)) continue;
          const to = source === '.' ? join(image.app, target!) : join(image.app, target!, basename(from));
          cpSync(from, to, { recursive: true, filter: (file) => !ignored.includes(basename(file)) });
        }
      }
      if (word === 'RUN') await runInImage(image.app, rest, installed);
      if (word === 'USER' && userInfo().uid === 0) image.user = { uid: nobody, gid: nobody };
      if (word === 'CMD') image.command = JSON.parse(rest) as string[];
      if (word === 'HEALTHCHECK') image.health = JSON.parse(rest.replace(/^CMD /, '')) as string[];
    }
    return image;
  }

  async function runInImage(app: string, line: string, installed: string | undefined): Promise<void> {
    for (const command of line.split(' && ')) {
      const [program, ...args] = command.split(' ') as [string, ...string[]];
      if (program === 'chown') {
        if (userInfo().uid === 0) chownSync(join(app, args.at(-1)!), nobody, nobody);
      } else if (args[0] === 'install') {
        usePacked(app);
        if (installed === undefined) await run(program, [...args, '--no-audit', '--no-fund'], { cwd: app });
        else symlinkSync(installed, join(app, 'node_modules'));
      } else {
        // The image does not use this machine's cache.
        expect(command).toBe('npm cache clean --force');
      }
    }
  }

  const nobody = 65_534;

  async function start({ app, command, user }: Image): Promise<StartedIntertie> {
    const [program, ...args] = command.map((word) => (word === '0.0.0.0' ? '127.0.0.1' : word));
    const home = join(app, '../home');
    mkdirSync(home, { recursive: true });
    if ('uid' in user) chownSync(home, user.uid, user.gid);
    const env = { PATH: process.env['PATH']!, HOME: home, PORT: '0', INTERTIE_TOKEN: 'a-token-that-nobody-guesses' };
    return startIntertie(program!, args, { ...user, cwd: app, env });
  }

  /** Starts the image, and reports its health, its authentication and its exit. */
  async function checkService(image: Image): Promise<unknown[]> {
    const { url, stop } = await start(image);
    const { port } = new URL(url);
    const [program, ...args] = image.health.map((word) => word.replace(':4111/', `:${port}/`)) as [string, ...string[]];
    const isHealthy = (): Promise<boolean> =>
      run(program, args).then(
        () => true,
        () => false,
      );
    const seen: unknown[] = [await isHealthy(), (await fetch(`${url}/api/agents`)).status];
    const headers = { authorization: 'Bearer a-token-that-nobody-guesses' };
    const { agents } = (await (await fetch(`${url}/api/agents`, { headers })).json()) as { agents: unknown[] };
    // A signal that reaches the server ends it gracefully; a shell in between would swallow it.
    return [...seen, agents.length, await stop(), await isHealthy()];
  }
  const expected = [true, 401, 1, 0, false];

  let first: Image;

  it('installs, becomes healthy, stops on a signal, and starts again: agent', async () => {
    first = await build(await init('agent'));
    expect(await checkService(first)).toEqual(expected);
    expect(await checkService(first)).toEqual(expected);
  }, 300_000);

  it.each(['mail', 'open-harness', 'ag-ui'])('installs and becomes healthy: %s', async (kind) => {
    const image = await build(await init(kind), join(first.app, 'node_modules'));
    // Creating an empty database takes a while.
    await run('cp', ['-a', join(first.app, '.intertie'), image.app]);
    expect(await checkService(image)).toEqual(expected);
  });

  it('does not listen on all addresses without a token', () => {
    const image = join(parentFolder, 'image-of-agent/app');
    const command = readDockerfile(join(parentFolder, 'agent')).find(({ word }) => word === 'CMD')!.rest;
    const [program, ...args] = JSON.parse(command) as [string, ...string[]];
    const env = { PATH: process.env['PATH']!, HOME: parentFolder };
    expect(() => execFileSync(program, args, { cwd: image, env, stdio: 'pipe' })).toThrow('INTERTIE_TOKEN');
  });
});
