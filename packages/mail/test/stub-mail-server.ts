import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readCaptureBytes } from './captures.ts';

export type StubRequest = {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
};
export type StubAnswer =
  /** Bytes of an event stream, sent in chunks of random size. Afterwards `hold` keeps the connection open and `cut` breaks it. */
  | { sse: Uint8Array; after?: 'close' | 'hold' | 'cut' }
  | { status?: number; json: unknown }
  | { status: number; text: string };

export interface StubServer extends AsyncDisposable {
  url: string;
  requests: StubRequest[];
  /** Bodies of all posted messages. */
  messages(): Array<Record<string, unknown>>;
}

export const sse = (name: string, after: 'close' | 'hold' | 'cut' = 'close'): StubAnswer => ({
  sse: readCaptureBytes(name),
  after,
});

/** Starts a server on loopback that responds to messages with the answers in order and repeats the last one. */
export async function startStubServer(
  answers: StubAnswer[] | ((request: StubRequest) => StubAnswer | undefined),
  seed = 1,
): Promise<StubServer> {
  const requests: StubRequest[] = [];
  let served = 0;
  const random = createRandom(seed);
  const answerTo = (request: StubRequest): StubAnswer => {
    if (typeof answers === 'function') {
      const answer = answers(request);
      if (answer) return answer;
    } else if (request.method === 'POST') {
      served += 1;
      return answers[Math.min(served, answers.length) - 1]!;
    }
    if (request.path === '/') return { json: { name: 'mail', protocol_version: '1.3', swarm: { name: 'example' } } };
    if (request.path === '/ui/agents') return { json: { agents, entrypoint: 'supervisor' } };
    return { status: 404, json: { detail: 'Not Found' } };
  };
  const server = createServer((incoming, response) => {
    void (async () => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
      const text = Buffer.concat(chunks).toString();
      const request: StubRequest = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      };
      requests.push(request);
      await write(answerTo(request), response, random);
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    messages: () => requests.filter(({ method }) => method === 'POST').map(({ body }) => body),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

const agents = [
  { name: 'supervisor', comm_targets: ['weather-agent', 'math'], enable_entrypoint: true, can_complete_tasks: true },
  { name: 'weather-agent', comm_targets: ['supervisor'], enable_entrypoint: false, can_complete_tasks: false },
  { name: 'math', comm_targets: ['supervisor'], enable_entrypoint: false, can_complete_tasks: false },
];

async function write(answer: StubAnswer, response: ServerResponse, random: () => number): Promise<void> {
  if (!('sse' in answer)) {
    const isJson = 'json' in answer;
    response.writeHead(answer.status ?? 200, { 'content-type': isJson ? 'application/json' : 'text/plain' });
    response.end(isJson ? JSON.stringify(answer.json) : answer.text);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  response.flushHeaders();
  for (let start = 0; start < answer.sse.length;) {
    const end = start + 1 + Math.floor(random() ** 3 * 2000);
    response.write(answer.sse.slice(start, end));
    start = end;
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (answer.after === 'cut') response.destroy();
  else if (answer.after !== 'hold') response.end();
}

/** Creates a seeded random number generator. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
