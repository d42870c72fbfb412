// Setup of the programs in this folder: a model, a flow, a user who answers, and the servers that they name.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

import { createAGUIHandler } from '@intertie/ag-ui';
import { modelSource } from '@intertie/ai-sdk';
import { startMAILDemo } from '@intertie/mail/demo';
import { createFlowRuntime, demoFlow } from '@intertie/open-harness/demo';
import { simulateReadableStream, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { z } from 'zod';

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** Calls a tool, then emits text. */
export const model = new MockLanguageModelV3({
  doStream: async ({ prompt: messages }) => {
    const looked = messages.at(-1)?.role === 'tool';
    const call = {
      type: 'tool-call',
      toolCallId: `call-${messages.length}`,
      toolName: 'look',
      input: '{"at":"map"}',
    } as const;
    const unified = looked ? 'stop' : 'tool-calls';
    return {
      stream: simulateReadableStream({
        chunks: [
          { type: 'stream-start', warnings: [] },
          ...(looked
            ? ([
                { type: 'text-start', id: '0' },
                { type: 'text-delta', id: '0', delta: 'In ' },
                { type: 'text-delta', id: '0', delta: 'Lisbon.' },
                { type: 'text-end', id: '0' },
              ] as const)
            : [call]),
          { type: 'finish', finishReason: { unified, raw: unified }, usage },
        ],
      }),
    };
  },
});

export const tools = { look: tool({ inputSchema: z.object({ at: z.string() }), execute: async () => 'Lisbon' }) };

export const flow = demoFlow;
export const registry = undefined;
export const createRuntime = (options: {
  flow: typeof demoFlow;
  registry: unknown;
}): ReturnType<typeof createFlowRuntime> => createFlowRuntime({ flow: options.flow, pace: 0 });

/** Stands in for a user at the keyboard. */
export const prompt = async (question: string): Promise<string> => `comfort, as for "${question}"`;

/** Calls a hook like a page. */
export function render<T>(hook: () => T): T {
  const called: T[] = [];
  const Page = (): null => {
    called.push(hook());
    return null;
  };
  renderToString(createElement(Page));
  const [result] = called as [T];
  return result;
}

/** Serves a route on loopback. */
export async function serve(
  route: (request: Request) => Response | Promise<Response>,
): Promise<{ url: string; close(): void }> {
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const body = await new Response(Readable.toWeb(incoming) as ReadableStream).text();
      const method = incoming.method ?? 'GET';
      const headers = new Headers(incoming.headers as Record<string, string>);
      const at = new URL(incoming.url ?? '/', `http://${incoming.headers.host}`);
      const response = await route(new Request(at, { method, headers, ...(body !== '' && { body }) }));
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body) Readable.fromWeb(response.body as never).pipe(outgoing);
      else outgoing.end();
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

// The host names in the programs resolve to a swarm and an AG-UI agent of this process, over HTTP.
const swarm = await startMAILDemo({ paceMs: 1 });
const remote = await serve(createAGUIHandler(modelSource(model, { tools })));
const hosts: { [origin: string]: string } = {
  'http://localhost:8000': swarm.url,
  'https://mail.example.com': swarm.url,
  'https://support.example.com': swarm.url,
  'https://agent.example.com': remote.url,
};
const { fetch } = globalThis;
globalThis.fetch = (input, init) => {
  const named = new URL(input instanceof Request ? input.url : input);
  const origin = hosts[named.origin];
  if (origin === undefined) return fetch(input, init);
  const meant = new URL(named.pathname + named.search, origin);
  return fetch(input instanceof Request ? new Request(meant, input) : meant, init);
};
process.env['MAIL_API_KEY'] = 'demo';

/** Stops the servers, so that the program exits. */
export async function close(): Promise<void> {
  remote.close();
  await swarm.stop();
}
