// @ts-check
// `npm run picture` also runs this: takes one picture of one run in four clients at the same moment, light and dark.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createInMemoryStore } from '@intertie/core';
import { demoModel, model, serve } from 'intertie';
import OpenAI from 'openai';
import { createServer } from 'vite';

import { root } from '../../scripts/workspace.mjs';

const thread = 'trip';
const question = 'Send an email to Ada';

/** @param {import('playwright-core').Browser} browser */
export async function takeClientsPicture(browser) {
  const folder = join(root, '.intertie/clients-picture');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const doc = readFileSync(join(root, 'docs/react-page.md'), 'utf8');
  for (const [, name = '', text = ''] of doc.matchAll(/^```\w+ title=(\S+)\n(.*?)^```$/gms)) {
    if (!name.startsWith('vite')) writeFileSync(join(folder, name), text);
  }
  const { tools } = await import(join(root, 'packages/server/dist/demo/demo-tools.js')).then((module) => ({
    tools: module.demoTools(),
  }));
  const agents = { helper: model(demoModel(), { tools, description: 'A scripted model with tools.' }) };
  const server = await serve({ agents, database: createInMemoryStore() }, { port: 0 });
  const vite = await createServer({
    root: folder,
    configFile: false,
    logLevel: 'error',
    server: { host: '127.0.0.1', proxy: { '/api': { target: server.url } } },
  });
  await vite.listen();
  try {
    const openai = await readOpenAI(server.url);
    const agUi = await readAGUI(server.url);
    const chatUrl = `${vite.resolvedUrls?.local[0]}?thread=${thread}`;
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const open = (/** @type {string} */ url, width = 900, height = 480, deviceScaleFactor = 1.5) =>
        browser.newPage({ viewport: { width, height }, colorScheme, deviceScaleFactor }).then(async (page) => {
          await page.goto(url);
          return page;
        });
      const [console, chat] = await Promise.all([open(`${server.url}/?thread=${thread}`), open(chatUrl)]);
      await chat.addStyleTag({
        content: style(chatStyle),
      });
      await Promise.all(
        [console, chat].map((page) =>
          page
            .getByRole('button', { name: /approve|allow/i })
            .first()
            .waitFor(),
        ),
      );
      const shots = await Promise.all([console.screenshot(), chat.screenshot()]);
      const [consoleImage, chatImage] = shots.map(
        (bytes) => `<img src="data:image/png;base64,${bytes.toString('base64')}">`,
      );
      const board = await open('about:blank', 1600, 960, 1.25);
      await board.setContent(
        `<style>${boardStyle}</style>` +
          panel('The console', consoleImage) +
          panel('A page with useChat', chatImage) +
          panel('An AG-UI client', `<pre>${agUi}</pre>`) +
          panel('An OpenAI client', `<pre>${openai}</pre>`),
      );
      await board.screenshot({ path: join(root, `docs/images/clients-${colorScheme}.png`) });
      await Promise.all([console, chat, board].map((page) => page.close()));
    }
  } finally {
    await vite.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts the run with an OpenAI client, and returns what a terminal shows. @param {string} url */
async function readOpenAI(url) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' });
  const response = await client.responses.create({ model: 'helper', input: question, conversation: thread });
  const items = response.output.map((item) =>
    item.type === 'mcp_approval_request' ? `${item.type}\n  ${item.name} ${item.arguments}` : item.type,
  );
  return escape(
    [`$ node ask.mjs "${question}"`, '', response.output_text, '', ...items, '', `status: ${response.status}`].join(
      '\n',
    ),
  );
}

/** Joins the thread with an AG-UI client, and returns what a terminal shows. @param {string} url */
async function readAGUI(url) {
  const snapshot = await fetch(`${url}/api/agents/helper/ag-ui?threadId=${thread}`, {
    headers: { accept: 'text/event-stream' },
  });
  const events = (await snapshot.text())
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)));
  const lines = events.flatMap(({ type, messages = [], outcome }) => [
    type,
    ...messages.map(toLine),
    ...(outcome?.interrupts ?? []).map((/** @type {{ reason: string, message?: string }} */ interrupt) => {
      return `  ${outcome.type}: ${interrupt.reason} ${interrupt.message ?? ''}`;
    }),
  ]);
  return escape([`$ node join.mjs ${thread}`, '', ...lines].join('\n'));
}

/** @param {{ role: string, content?: string, toolCalls?: Array<{ function: { name: string, arguments: string } }> }} message */
const toLine = ({ role, content, toolCalls = [] }) =>
  [`  ${role}: ${content}`, ...toolCalls.map((call) => `  ${call.function.name} ${call.function.arguments}`)].join(
    '\n',
  );
/** @param {string} text */
const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
/** @param {string} text */
const style = (text) => `:root{color-scheme:light dark}${text}`;
/** @type {(title: string, content?: string) => string} */
const panel = (title, content) => `<figure><figcaption>${title}</figcaption>${content}</figure>`;

const chatStyle = `body { font: 20px/1.5 system-ui; padding: 20px 32px; }
  button, input { font: inherit; padding: 4px 12px; margin-left: 8px; }
  section[aria-label=user] { width: fit-content; padding: 0 16px; border-radius: 10px; background: light-dark(#e8f0fe, #22304a); }`;
const boardStyle = style(`
body { margin: 0; padding: 16px; display: grid; grid-template: 1fr 1fr / 1fr 1fr; gap: 16px; height: 928px;
  font: 20px system-ui; background: light-dark(#e8ecf3, #0b0f17); }
figure { margin: 0; overflow: hidden; border-radius: 10px; background: light-dark(#fff, #151a23); display: flex;
  flex-direction: column; box-shadow: 0 1px 6px #0003; }
figcaption { padding: 8px 16px; font-weight: 600; background: light-dark(#f4f6fa, #1e2531); }
img { width: 100%; }
pre { margin: 0; padding: 14px 18px; font: 17px/1.5 monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
`);
