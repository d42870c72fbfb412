import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One run: the messages that the agent received, and the events that it sent. */
export type RecordedRun = { messages: object[]; frames: object[] };
export type RecordingProxy = { url: string; runs: RecordedRun[]; close(): Promise<void> };

/** Forwards AG-UI requests to an agent, and records every run. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const runs: RecordedRun[] = [];
  const server = createServer((request, response) => {
    forward(target, request, response, runs).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    runs,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function forward(target: string, request: IncomingMessage, response: ServerResponse, runs: RecordedRun[]) {
  const body = await text(request);
  const run: RecordedRun = { messages: (JSON.parse(body) as RecordedRun).messages, frames: [] };
  runs.push(run);
  const left = new AbortController();
  response.on('close', () => left.abort());
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  const answer = await fetch(target, { method: 'POST', headers, body, signal: left.signal });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
  let line = '';
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    response.write(chunk);
    const lines = (line + chunk).split(/\r?\n/);
    line = lines.pop()!;
    for (const each of lines) if (each.startsWith('data:')) run.frames.push(JSON.parse(each.slice(5)) as object);
  }
  response.end();
}
