import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

import { libraries, root, optionalPeers } from '../../scripts/workspace.mjs';

const types: Record<string, string> = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.map': 'application/json',
};

/** Packages that a browser can load without a bundler. */
const native = new Set(['@intertie/core', '@intertie/conformance']);

/** Creates an import map from every public entry to its built file. */
export function importMap(): { imports: Record<string, string> } {
  const entries = libraries()
    .filter(({ name }) => native.has(name))
    .flatMap((p) => p.entries.filter((e) => !optionalPeers.has(e.specifier)));
  return { imports: Object.fromEntries(entries.map((e) => [e.specifier, `/${e.file.slice(root.length)}`])) };
}

const page = (): string => `<!doctype html>
<meta charset="utf-8">
<link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify(importMap())}</script>`;

/** Serves built packages and the smoke program on loopback. */
export async function serve(): Promise<{ origin: string; server: Server }> {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    const type = path === '/' ? 'text/html' : types[extname(path)];
    const isServed = path === '/' || /^\/(packages\/[\w-]+\/dist|tests\/smoke)\//.test(path);
    try {
      if (!type || !isServed) throw new Error('Not found');
      const body = path === '/' ? page() : await readFile(join(root, path));
      response.setHeader('content-type', type).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
