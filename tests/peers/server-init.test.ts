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

describe('what intertie init writes, built and started as its Dockerfile says, without Docker', () => {
  const home = mkdtempSync(join(tmpdir(), 'intertie-init-'));
  // Who is not root inside an image has to get at it here too.
  chmodSync(home, 0o755);
  let archives: string[] = [];

  beforeAll(() => {
    archives = pack(home).map(({ archive }) => archive);
  }, 300_000);
  afterAll(() => rmSync(home, { recursive: true }));

  async function init(kind: string): Promise<string> {
    const project = join(home, kind);
    await run(process.execPath, [join(root, 'packages/server/bin/intertie.mjs'), 'init', project, '--with', kind]);
    return project;
  }

  /** Nothing of this is published, so what is asked for by its version is given as an archive. */
  function usePacked(app: string): void {
    const manifest = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as {
      dependencies: { [name: string]: string };
    };
    const ours = Object.fromEntries(
      archives.map((archive) => {
        const name = basename(archive).replace(/-\d.*$/, '');
        return [name.replace(/^intertie-/, '@intertie/'), `file:${archive}`];
      }),
    );
    manifest.dependencies = { ...manifest.dependencies, ...ours };
    writeFileSync(join(app, 'package.json'), JSON.stringify(manifest));
  }

  /** Does what the file says, in a folder; `installed` stands in for what is to be installed. */
  async function build(project: string, installed?: string): Promise<Image> {
    const layers = join(home, `image-of-${basename(project)}`);
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
        // The cache of this machine is not the image's.
        expect(command).toBe('npm cache clean --force');
      }
    }
  }

  const nobody = 65_534;

  async function start({ app, command, user }: Image): Promise<StartedIntertie> {
    const [program, ...args] = command.map((word) => (word === '0.0.0.0' ? '127.0.0.1' : word));
    const house = join(app, '../house');
    mkdirSync(house, { recursive: true });
    if ('uid' in user) chownSync(house, user.uid, user.gid);
    const env = { PATH: process.env['PATH']!, HOME: house, PORT: '0', INTERTIE_TOKEN: 'a-token-that-nobody-guesses' };
    return startIntertie(program!, args, { ...user, cwd: app, env });
  }

  /** How it fares: its health, who gets in, and how it ends. */
  async function serviceOf(image: Image): Promise<unknown[]> {
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
    // A signal that reaches it ends it in order; one that stops at a shell before it does not.
    return [...seen, agents.length, await stop(), await isHealthy()];
  }
  const asItShould = [true, 401, 1, 0, false];

  let first: Image;

  it('the agent: installed, healthy, stopped by a signal, started again', async () => {
    first = await build(await init('agent'));
    expect(await serviceOf(first)).toEqual(asItShould);
    expect(await serviceOf(first)).toEqual(asItShould);
  }, 300_000);

  it.each(['mail', 'open-harness', 'ag-ui'])('the same with %s', async (kind) => {
    const image = await build(await init(kind), join(first.app, 'node_modules'));
    // To make an empty database takes a while.
    await run('cp', ['-a', join(first.app, '.intertie'), image.app]);
    expect(await serviceOf(image)).toEqual(asItShould);
  });

  it('does not listen on all addresses without a token', () => {
    const image = join(home, 'image-of-agent/app');
    const command = readDockerfile(join(home, 'agent')).find(({ word }) => word === 'CMD')!.rest;
    const [program, ...args] = JSON.parse(command) as [string, ...string[]];
    const env = { PATH: process.env['PATH']!, HOME: home };
    expect(() => execFileSync(program, args, { cwd: image, env, stdio: 'pipe' })).toThrow('INTERTIE_TOKEN');
  });
});
