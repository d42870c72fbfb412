import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { createAGUIHandler, type AGUIEvent } from '@intertie/ag-ui';
import { modelSource } from '@intertie/ai-sdk';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import { scenarios, tools, type Scenario } from '../../packages/ag-ui/test/scenarios.ts';
import { scriptedModel } from '../../packages/ag-ui/test/scripted-model.ts';
import { serve, type Served } from '../../packages/ai-sdk/test/serve.ts';
import { install } from '../../scripts/install.mjs';
import { root } from '../../scripts/workspace.mjs';

process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
const folder = 'tests/peers/ag-ui-copilotkit';

type Subscribable = {
  subscribe(to: { next(event: AGUIEvent): void; error(error: Error): void; complete(): void }): unknown;
};
type Runtime = {
  InMemoryAgentRunner: new () => {
    run(request: { threadId: string; agent: unknown; input: object }): Subscribable;
    connect(request: { threadId: string }): Subscribable;
  };
};
type Client = { HttpAgent: new (config: { url: string; threadId: string; initialMessages: object[] }) => unknown };

let runtime: Runtime;
let client: Client;
let served: Served | undefined;

beforeAll(async () => {
  install(folder);
  const require = createRequire(join(root, folder, 'package.json'));
  const load = (name: string): Promise<unknown> => import(pathToFileURL(require.resolve(name)).href);
  runtime = (await load('@copilotkit/runtime/v2')) as Runtime;
  client = (await load('@ag-ui/client')) as Client;
});

afterEach(() => served?.close());

/** Serves the handler over HTTP, the only transport of the runtime. */
async function serveScenario(scenario: Scenario): Promise<string> {
  served = await serve(createAGUIHandler(modelSource(scriptedModel(scenario.turns), { tools })));
  return served.url;
}

function readEvents(stream: Subscribable): Promise<AGUIEvent[]> {
  const events: AGUIEvent[] = [];
  return new Promise((resolve, reject) => {
    stream.subscribe({ next: (event) => void events.push(event), error: reject, complete: () => resolve(events) });
  });
}

describe("CopilotKit's runtime", () => {
  const whole = scenarios.filter(({ abortAfter }) => abortAfter === undefined);

  it.each(whole)('forwards and stores: $name', async (scenario) => {
    const url = await serveScenario(scenario);
    const messages = [{ id: 'u1', role: 'user', content: 'Go.' }];
    const agent = new client.HttpAgent({ url, threadId: 'thread-1', initialMessages: messages });
    const runner = new runtime.InMemoryAgentRunner();
    const threadId = `thread-${scenario.name}`;
    const input = { threadId, runId: 'run-1', messages, state: {}, tools: [], context: [], forwardedProps: {} };
    const events = await readEvents(runner.run({ threadId, agent, input }));
    const ends = events.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR');
    expect(ends).toHaveLength(1);
    expect(events.at(-1)).toBe(ends[0]);
    const last = ends[0];
    const outcome = last?.type === 'RUN_FINISHED' ? (last.outcome?.type ?? 'success') : 'error';
    expect(outcome).toBe(scenario.ends);
    // A page that connects later gets the stored run, with every text.
    const stored = await readEvents(runner.connect({ threadId }));
    const collectTexts = (of: readonly AGUIEvent[]): object => {
      const texts: Record<string, string> = {};
      for (const event of of) {
        if (event.type === 'TEXT_MESSAGE_CONTENT')
          texts[event.messageId] = (texts[event.messageId] ?? '') + event.delta;
      }
      return texts;
    };
    expect(collectTexts(stored)).toEqual(collectTexts(events));
  });
});
