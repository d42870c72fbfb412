import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EndpointRoute } from '@intertie/core';
import type { Host } from '../host/host.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import type { App } from './context.ts';

const folder = fileURLToPath(new URL('../../dist/console', import.meta.url));

const types: { readonly [ending: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};

const pageHeaders = {
  'content-security-policy':
    "default-src 'self'; img-src 'self' data: blob: https:; media-src 'self' data: blob: https:; style-src 'self' 'unsafe-inline'; font-src 'self' data:; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cache-control': 'no-cache',
};

/** Serves the console: its files, and its page for every path without a dot. Without a built console, a plain page. */
export function addConsole(app: App, host: Host): void {
  app.get('*', async (c) => {
    const { path } = c.req;
    if (/^\/(api|streams)(\/|$)/.test(path)) throw new IntertieError('not-found');
    const file = await readAsset(path);
    if (file) {
      const type = types[extname(path)] ?? 'application/octet-stream';
      const cache = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
      return new Response(file, { headers: { 'content-type': type, 'cache-control': cache } });
    }
    if (path.slice(1).includes('.')) throw new IntertieError('not-found');
    const page = (await readAsset('/index.html')) ?? plainPage(host);
    return new Response(page, { headers: { ...pageHeaders, 'content-type': 'text/html; charset=utf-8' } });
  });
}

async function readAsset(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (path === '/' || path.endsWith('/')) return undefined;
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return undefined;
  }
  const file = normalize(join(folder, decoded));
  if (!file.startsWith(folder + sep) || decoded.includes('\0')) return undefined;
  try {
    return new Uint8Array(await readFile(file));
  } catch {
    return undefined;
  }
}

/** Page for a server without a built console. */
function plainPage({ agents, defaultAgent, protocols }: Host): string {
  const paths = protocols.flatMap(({ endpoints }) => endpoints?.routes ?? []).filter(isAgentPath);
  const items = [...agents.values()].map(({ name, definition }) => {
    const text = `${definition.kind}${name === defaultAgent.name ? ', the default' : ''}`;
    const links = paths.map(({ path }) => `<code>${path.replace('{agent}', escapeHtml(name))}</code>`);
    return `<li><b>${escapeHtml(name)}</b> (${text}): ${links.join(', ')}</li>`;
  });
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Intertie</title>
<style>body{font:16px/1.5 system-ui;max-width:46rem;margin:3rem auto;padding:0 1rem}code{background:#8882;padding:0 .2em}</style>
<h1>Intertie is running</h1>
<p>The console is not built here. In a clone, <code>npm run build</code> builds it.</p>
<h2>Agents</h2>
<ul>${items.join('')}</ul>
<h2>API</h2>
<p><a href="/api/agents">agents</a> · <a href="/api/threads">threads</a> · <a href="/api/questions">questions</a> ·
<a href="/api/openapi.json">all routes (OpenAPI)</a> · <a href="/health">health</a> · <a href="/metrics">metrics</a></p>
</html>`;
}

/** Whether a route starts runs of a named agent. */
function isAgentPath({ method, path }: EndpointRoute): boolean {
  return method === 'POST' && /^[^{]*\{agent\}[^{]*$/.test(path);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
