import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { serve, type Served } from '../../packages/ai-sdk/test/serve.ts';
import { startDemoServer, type DemoServer } from '../../packages/server/test/demo-server.ts';
import { toVisibleMessages } from '../../packages/server/test/ag-ui-protocol.ts';
import { install } from '../../scripts/install.mjs';
import { root } from '../../scripts/workspace.mjs';

process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
const folder = 'tests/peers/ag-ui-copilotkit';

/** Client side of a page. */
type Agent = {
  messages: object[];
  pendingInterrupts: Array<{ id: string }>;
  addMessage(message: { id: string; role: 'user'; content: string }): void;
  abortRun(): void;
  runAgent(input?: { resume?: object[] }, subscriber?: object): Promise<unknown>;
};
type Core = {
  ProxiedCopilotRuntimeAgent: new (config: { runtimeUrl: string; agentId: string; threadId: string }) => Agent;
};
type Runtime = {
  CopilotRuntime: new (options: { agents: { [name: string]: unknown } }) => object;
  createCopilotRuntimeHandler(options: { runtime: object; basePath: string }): (request: Request) => Promise<Response>;
};
type Client = { HttpAgent: new (config: { url: string }) => unknown };

describe("CopilotKit's client and runtime in front of our server", () => {
  let server: DemoServer;
  let copilot: Served;
  let core: Core;
  beforeAll(async () => {
    install(folder);
    const require = createRequire(join(root, folder, 'package.json'));
    const load = (name: string): Promise<unknown> => import(pathToFileURL(require.resolve(name)).href);
    const { CopilotRuntime, createCopilotRuntimeHandler } = (await load('@copilotkit/runtime/v2')) as Runtime;
    const { HttpAgent } = (await load('@ag-ui/client')) as Client;
    core = (await load('@copilotkit/core')) as Core;
    server = await startDemoServer({ pace: 0.05, limits: { requestsPerSecond: 10_000 } });
    const names = ['helper', 'swarm', 'newsroom', 'remote', 'recording'];
    const agents = Object.fromEntries(
      names.map((name) => [name, new HttpAgent({ url: `${server.url}/api/agents/${name}/ag-ui` })]),
    );
    copilot = await serve(
      createCopilotRuntimeHandler({ runtime: new CopilotRuntime({ agents }), basePath: '/api/copilotkit' }),
    );
  });
  afterAll(async () => {
    await copilot.close();
    await server.close();
  });

  const open = (agentId: string, threadId: string): Agent =>
    new core.ProxiedCopilotRuntimeAgent({ runtimeUrl: `${copilot.url}/api/copilotkit`, agentId, threadId });
  const send = (agent: Agent, content: string): void =>
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
  const stored = async (thread: string): Promise<unknown[]> => {
    for (;;) {
      const response = await fetch(`${server.url}/api/threads/${thread}/messages?format=ag-ui`);
      const { messages, live } = (await response.json()) as { messages: unknown[]; live?: unknown };
      if (live === undefined) return toVisibleMessages(messages);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  it.each([
    ['helper', 'hello'],
    ['helper', 'What is the weather in Lisbon?'],
    ['swarm', 'Where does the time go?'],
    ['newsroom', 'Heat pumps'],
    ['remote', 'What is the weather in Oslo?'],
    ['recording', 'Play'],
  ])('shows the stored messages after two messages to %s: “%s”', async (name, text) => {
    const thread = crypto.randomUUID();
    const agent = open(name, thread);
    for (let turn = 1; turn <= 2; turn++) {
      send(agent, text);
      await agent.runAgent();
      expect(agent.messages.filter((message) => (message as { role: string }).role === 'user')).toHaveLength(turn);
      expect(toVisibleMessages(agent.messages)).toEqual(await stored(thread));
    }
  });

  it('answers a question and continues the run', async () => {
    const thread = crypto.randomUUID();
    const agent = open('helper', thread);
    send(agent, 'Send an email to Ada');
    await agent.runAgent();
    const resume = agent.pendingInterrupts.map(({ id: interruptId }) => ({
      interruptId,
      status: 'resolved',
      payload: { approved: true },
    }));
    expect(resume).toHaveLength(1);
    await agent.runAgent({ resume });
    expect(JSON.stringify(agent.messages)).toContain('the email is **sent**');
    expect(toVisibleMessages(agent.messages)).toEqual(await stored(thread));
  });

  it('delivers an error of the agent to the page', async () => {
    const agent = open('helper', crypto.randomUUID());
    send(agent, 'Fail');
    const errors: string[] = [];
    const subscriber = {
      onRunErrorEvent: ({ event }: { event: { message: string } }) => void errors.push(event.message),
    };
    await agent.runAgent({}, subscriber).catch(() => undefined);
    expect(errors).toEqual(['The demo failed on purpose. Nothing is broken.']);
  });

  it('does not stop the run on stop, which the protocol cannot transmit, and replaces it with the next message', async () => {
    const thread = crypto.randomUUID();
    const agent = open('helper', thread);
    send(agent, 'Write a long answer');
    let stop = (): void => {
      stop = () => undefined;
      agent.abortRun();
    };
    await agent.runAgent({}, { onTextMessageContentEvent: () => stop() }).catch(() => undefined);
    send(agent, 'hello');
    await agent.runAgent();
    const { runs } = (await (await fetch(`${server.url}/api/threads/${thread}/runs`)).json()) as {
      runs: Array<{ state: string }>;
    };
    expect(runs.map(({ state }) => state)).toEqual(['aborted', 'complete']);
  });
});
