import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createInMemoryStore } from '@intertie/core';
import { serve, type AgentDefinition } from 'intertie';
import type { BrowserContext, Page } from 'playwright-core';
import { build } from 'vite';
import { expect, vi } from 'vitest';

import { serve as serveHandler } from '../../packages/ai-sdk/test/serve.ts';
import { install } from '../../scripts/install.mjs';
import { root } from '../../scripts/workspace.mjs';
import { launch } from './browser.ts';
import { clientAgent } from './client-agent.ts';

/** Address in the programs of the documentation, which a test replaces. */
const documentedServer = 'http://127.0.0.1:4111';

type Files = Map<string, string | Uint8Array>;

/** Bundles of this file, because a large page takes seconds to build. */
const bundles = new Map<string, Promise<Files>>();

export type ClientPage = {
  context: BrowserContext;
  /** URL of the Intertie server, which has another origin than the page. */
  server: string;
  /** Opens the page with a thread of its own, or again with the same one. */
  open(thread: string): Promise<Page>;
  /** Errors that the pages have logged or thrown. */
  errors: string[];
  close(): Promise<void>;
};

export type ClientPageOptions = {
  /** Folder below `tests/browser` whose dependencies the page uses. */
  folder: string;
  /** Page of the documentation, and the title of the block with the program. */
  doc: string;
  title: string;
  agent?: AgentDefinition;
  /** Changes the program, for example the address of another server. */
  change?: (program: string) => string;
  /** Starts a server of the page's own origin for the paths below `/api/`. */
  startApi?: (server: string) => Promise<(request: Request) => Promise<Response>>;
};

/** Builds the program of a documentation page as written, and serves it next to an Intertie server. */
export async function startClientPage(options: ClientPageOptions): Promise<ClientPage> {
  const { folder, doc, title, agent = clientAgent, change = (program) => program, startApi } = options;
  install(`tests/browser/${folder}`);
  const agents = { helper: agent };
  const limits = { requestsPerSecond: 10_000 };
  const served = await serve({ agents, database: createInMemoryStore(), cors: '*', limits }, { port: 0 });
  const programs = readPrograms(doc).map(
    ([name, text]) => [name, change(text.replaceAll(documentedServer, served.url))] as const,
  );
  const key = JSON.stringify([folder, title, programs]);
  const built = bundles.get(key) ?? bundle(folder, title, programs);
  bundles.set(key, built);
  const files = await built;
  const api = await startApi?.(served.url);
  const pages = await serveHandler(async (request) => {
    const { pathname } = new URL(request.url);
    if (api && pathname.startsWith('/api/')) return api(request);
    const file = files.get(pathname.slice(1));
    const type = pathname.endsWith('.css') ? 'text/css' : 'text/javascript';
    if (file !== undefined) return new Response(file as BodyInit, { headers: { 'content-type': type } });
    const styles = [...files.keys()].filter((name) => name.endsWith('.css'));
    const links = styles.map((name) => `<link rel="stylesheet" href="/${name}">`).join('');
    const html = `<!doctype html><link rel="icon" href="data:,">${links}<body><div id="root"></div><script type="module" src="/page.js"></script>`;
    return new Response(html, { headers: { 'content-type': 'text/html' } });
  });
  const { context, close } = await launch();
  const errors: string[] = [];
  return {
    context,
    server: served.url,
    errors,
    open: async (thread) => {
      const page = await context.newPage();
      page.setDefaultTimeout(10_000);
      page.on('pageerror', (error) => errors.push(String(error)));
      await page.goto(`${pages.url}/?thread=${thread}`);
      return page;
    },
    close: async () => {
      await close();
      await pages.close();
      await served.close();
    },
  };
}

/** Reads the titled blocks of a documentation page. */
function readPrograms(doc: string): Array<[title: string, text: string]> {
  const text = readFileSync(join(root, doc), 'utf8');
  return [...text.matchAll(/^```tsx title=(\S+)\n(.*?)^```$/gms)].map(([, title = '', program = '']) => [
    title,
    program,
  ]);
}

/** Bundles a program with the dependencies of its folder. Returns the files by name. */
async function bundle(
  folder: string,
  title: string,
  programs: ReadonlyArray<readonly [string, string]>,
): Promise<Files> {
  const path = join(root, 'tests/browser', folder, '.intertie', title.replace(/\W/g, '-'));
  mkdirSync(path, { recursive: true });
  for (const [name, program] of programs) writeFileSync(join(path, name), program);
  const result = await build({
    root: path,
    configFile: false,
    logLevel: 'error',
    mode: 'production',
    // Tests set NODE_ENV to `test`, which would select the development runtime of JSX.
    oxc: { jsx: { runtime: 'automatic', development: false } },
    define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}' },
    build: {
      write: false,
      minify: false,
      modulePreload: false,
      rollupOptions: {
        input: join(path, title),
        output: { entryFileNames: 'page.js', assetFileNames: '[name][extname]' },
      },
    },
  });
  const outputs = (Array.isArray(result) ? result : [result]) as Array<{
    output: Array<{ fileName: string; code?: string; source?: string | Uint8Array }>;
  }>;
  return new Map(
    outputs.flatMap(({ output }) => output.map((file) => [file.fileName, file.code ?? file.source ?? ''] as const)),
  );
}

/** Reads the stored messages of a thread, as AI SDK messages. */
export async function readStored(server: string, thread: string): Promise<string> {
  const response = await fetch(`${server}/api/threads/${thread}/messages?format=ui`);
  return response.text();
}

/** Waits until the stored messages of a thread contain a text. */
export async function waitForStored(server: string, thread: string, text: string): Promise<void> {
  await vi.waitFor(async () => expect(await readStored(server, thread)).toContain(text), {
    timeout: 15_000,
    interval: 100,
  });
}
