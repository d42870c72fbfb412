import { execFile } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { nodeBinaries } from './node-binaries.ts';
import { startIntertie, type StartedIntertie } from './start-intertie.ts';

const run = promisify(execFile);
const nobody = 65_534;
const token = 'a-token-that-is-hard-to-guess';

export type Image = {
  /** Working directory. */
  app: string;
  /** The Node of the base image comes first in its path. */
  path: string;
  command: string[];
  health: string[];
  user: { uid: number; gid: number } | object;
};

/** Executes the Dockerfile of a project in a folder, without Docker. `env` selects the registry. */
export async function buildImage(project: string, layers: string, env: NodeJS.ProcessEnv): Promise<Image> {
  const image: Image = { app: layers, path: '', command: [], health: [], user: {} };
  const ignored = readFileSync(join(project, '.dockerignore'), 'utf8').split('\n');
  for (const [word, rest] of readDockerfile(project)) {
    if (word === 'FROM') image.path = findNode(rest);
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
    if (word === 'RUN') {
      for (const command of rest.split(' && ')) {
        const [program, ...args] = command.split(' ') as [string, ...string[]];
        if (program === 'chown') {
          if (userInfo().uid === 0) chownSync(join(image.app, args.at(-1)!), nobody, nobody);
        } else if (args[0] !== 'install') {
          // The image does not use this machine's cache.
          if (command !== 'npm cache clean --force') throw new Error(`Unknown command of the Dockerfile: ${command}`);
        } else await run(program, args, { cwd: image.app, env: { ...env, PATH: image.path } });
      }
    }
    if (word === 'USER' && userInfo().uid === 0) image.user = { uid: nobody, gid: nobody };
    if (word === 'CMD') image.command = JSON.parse(rest) as string[];
    if (word === 'HEALTHCHECK') image.health = JSON.parse(rest.replace(/^CMD /, '')) as string[];
  }
  return image;
}

function readDockerfile(project: string): Array<[word: string, rest: string]> {
  const lines = readFileSync(join(project, 'Dockerfile'), 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, word, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    return word === undefined ? [] : [[word, rest!]];
  });
}

/** Returns a path that starts with the Node of a base image, for example of `node:22-slim`. */
function findNode(baseImage: string): string {
  const [, major] = /^node:(\d+)-/.exec(baseImage) ?? [];
  const node = nodeBinaries.find((binary) => binary.major === major);
  if (node === undefined) throw new Error(`The tests have no Node for the base image ${baseImage}.`);
  return [dirname(node.binary), process.env.PATH].join(delimiter);
}

type ServiceReport = {
  isHealthy: boolean;
  statusWithoutToken: number;
  agents: string[];
  exitCode: number | null;
  isHealthyAfterwards: boolean;
};

/** Starts an image on a free port of loopback, reads its agents, and stops it with a signal. */
export async function checkService(image: Image): Promise<ServiceReport> {
  const { url, stop } = await start(image);
  const { port } = new URL(url);
  const [program, ...args] = image.health.map((word) => word.replace(':4111/', `:${port}/`)) as [string, ...string[]];
  const readHealth = (): Promise<boolean> =>
    run(program, args, { env: { PATH: image.path } }).then(
      () => true,
      () => false,
    );
  const isHealthy = await readHealth();
  const { status } = await fetch(`${url}/api/agents`);
  const response = await fetch(`${url}/api/agents`, { headers: { authorization: `Bearer ${token}` } });
  const { agents } = (await response.json()) as { agents: Array<{ name: string }> };
  return {
    isHealthy,
    statusWithoutToken: status,
    agents: agents.map(({ name }) => name),
    exitCode: await stop(),
    isHealthyAfterwards: await readHealth(),
  };
}

function start({ app, path, command, user }: Image): Promise<StartedIntertie> {
  const [program, ...args] = command.map((word) => (word === '0.0.0.0' ? '127.0.0.1' : word));
  const home = join(app, '../home');
  mkdirSync(home, { recursive: true });
  if ('uid' in user) chownSync(home, user.uid, user.gid);
  const env = { PATH: path, HOME: home, PORT: '0', INTERTIE_TOKEN: token };
  return startIntertie(program!, args, { ...user, cwd: app, env });
}
