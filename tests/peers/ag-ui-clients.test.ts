import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { AgentsToAGUIAdapter, toAGUI, toAGUIFrame, type AGUIEvent } from '@intertie/ag-ui';
import { stepCountIs, streamText } from 'ai';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { scenarios, tools, type Scenario } from '../../packages/ag-ui/test/scenarios.ts';
import { collect, scriptedModel } from '../../packages/ag-ui/test/scripted-model.ts';
import { describeMessages, describeSteps } from '../../packages/ag-ui/test/describe-messages.ts';
import { install } from '../../scripts/install.mjs';
import { root } from '../../scripts/workspace.mjs';

/** Common type of all client versions. */
type Client = {
  HttpAgent: new (config: { url: string; threadId: string }) => {
    messages: Message[];
    runAgent(
      run: { runId: string },
      subscriber: { onRunErrorEvent(params: { event: { message: string } }): void },
    ): Promise<unknown>;
  };
};
type Message = Parameters<typeof describeMessages>[0][number];
type Result = ReturnType<typeof streamText>;
type Encode = (result: Result, runId: string, version: string) => AsyncIterable<AGUIEvent>;

// In a separate folder, because their dependencies have other versions than ours.
const folder = 'tests/peers/ag-ui-clients';
install(folder);
const versions = ['0.0.45', '0.0.48', '0.0.52', '0.0.55', '0.0.57', '0.0.58', '0.0.59'];

const encoders: Record<string, Encode> = {
  'toAGUI, version unknown': (result, runId) => toAGUI(result, { threadId: 'thread-1', runId, tools }),
  'toAGUI, version known': (result, runId, protocolVersion) =>
    toAGUI(result, { threadId: 'thread-1', runId, tools, protocolVersion }),
  'the adapter': (result, runId) => new AgentsToAGUIAdapter({ tools }).adaptStreamToAGUI(result, 'thread-1', runId),
  'the adapter, with an event of the application after each of its own': async function* (
    result,
    runId,
    protocolVersion,
  ) {
    const adapter = new AgentsToAGUIAdapter({ tools, protocolVersion });
    for await (const event of adapter.adaptStreamToAGUI(result, 'thread-1', runId)) {
      yield event;
      const isOver = event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR';
      if (!isOver) yield { type: 'CUSTOM', name: 'progress', value: { after: event.type }, timestamp: 1 };
    }
  },
};

function ask(scenario: Scenario): Result {
  const stop = new AbortController();
  return streamText({
    model: scriptedModel(scenario.turns),
    prompt: 'Go.',
    tools,
    stopWhen: stepCountIs(5),
    maxRetries: 0,
    abortSignal: stop.signal,
    includeRawChunks: scenario.includeRawChunks ?? false,
    onError: () => undefined,
    onChunk: ({ chunk }) => {
      if (chunk.type === scenario.abortAfter) stop.abort();
    },
  });
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe.each(versions)('@ag-ui/client %s', async (version) => {
  const entry = join(root, folder, `node_modules/ag-ui-client-${version}/dist/index.mjs`);
  const { HttpAgent } = (await import(pathToFileURL(entry).href)) as Client;

  describe.each(Object.keys(encoders))('reads %s', (name) => {
    it.each(scenarios)('$name', async (scenario) => {
      const result = ask(scenario);
      const events = await collect(encoders[name]!(result, 'run-1', version));
      vi.stubGlobal('fetch', async () => {
        const headers = { 'content-type': 'text/event-stream' };
        return new Response(events.map(toAGUIFrame).join(''), { headers });
      });
      const spies = (['warn', 'error'] as const).map((level) =>
        vi.spyOn(console, level).mockImplementation(() => undefined),
      );
      const agent = new HttpAgent({ url: 'http://localhost/', threadId: 'thread-1' });
      let runError: string | undefined;
      await agent.runAgent({ runId: 'run-1' }, { onRunErrorEvent: ({ event }) => void (runError = event.message) });
      const isOver = scenario.ends === 'success' || scenario.ends === 'interrupt';
      expect(runError === undefined).toBe(isOver);
      expect(scenario.error === undefined || runError === scenario.error).toBe(true);
      const received = isOver ? describeMessages(agent.messages) : [];
      expect(received).toEqual(isOver ? describeSteps(await result.steps) : []);
      expect(spies.flatMap((spy) => spy.mock.calls.map(String))).toEqual([]);
    });
  });
});
