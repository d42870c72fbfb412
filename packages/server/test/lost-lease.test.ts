import { Agent, createRunHost } from '@intertie/agent';
import { createInMemoryStore } from '@intertie/core';
import { openaiSource } from '@intertie/openai';
import { expect, it, onTestFinished, vi } from 'vitest';

import { gate } from '../../agent/test/test-stores.ts';

const response = { id: 'resp_1', object: 'response', created_at: 0, model: 'm', output: [], background: true };
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
const textPart = { type: 'output_text', text: '', annotations: [] };
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const events = [
  { type: 'response.created', response: { ...response, status: 'in_progress' } },
  { type: 'response.output_item.added', output_index: 0, item },
  { type: 'response.content_part.added', ...at, part: textPart },
  { type: 'response.output_text.delta', ...at, delta: 'Half' },
  { type: 'response.output_text.delta', ...at, delta: ' and half' },
  { type: 'response.output_text.done', ...at, text: 'Half and half' },
  { type: 'response.completed', response: { ...response, status: 'completed' } },
].map((event, sequence_number) => ({ ...event, sequence_number }));
/** Number of events before the model is blocked. */
const half = 4;

/** A Responses server with one response. The model writes the second half after `proceed`. */
function createResponsesServer() {
  const requests: string[] = [];
  const proceeded = gate();
  const write = (sent: typeof events): Uint8Array =>
    new TextEncoder().encode(sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  const fetch: typeof globalThis.fetch = async (...args) => {
    const { method, url } = new Request(...args);
    const { pathname, searchParams } = new URL(url);
    requests.push(`${method} ${pathname}`);
    if (pathname.endsWith('/cancel')) return Response.json({ ...response, status: 'cancelled' });
    const first = Number(searchParams.get('starting_after') ?? -1) + 1;
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(write(events.slice(first, half)));
        await proceeded.opened;
        controller.enqueue(write(events.slice(Math.max(first, half))));
        controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  return { fetch, requests, proceed: proceeded.open };
}

it('does not cancel the remote task of a run that another process has taken over', { timeout: 30_000 }, async () => {
  const server = createResponsesServer();
  const store = createInMemoryStore({ leaseMs: 100 });
  const { heartbeat } = store.registry;
  let isBlocked = false;
  store.registry.heartbeat = async (process, ...rest) => {
    // As if the event loop of the process, or its network, was blocked for longer than the lease.
    if (isBlocked && process === 'first') return;
    await heartbeat(process, ...rest);
  };
  const runEnded = vi.fn<(run: { agent: string; result: string }) => void>();
  const open = (process: string): Agent => {
    const host = createRunHost(store, { process, heartbeatMs: 20, sweepMs: 20, observer: { runEnded } });
    onTestFinished(() => host.close());
    const source = openaiSource({ baseURL: 'http://server/v1', model: 'm', fetch: server.fetch });
    return new Agent({ name: 'remote', source, store, host });
  };
  const [first, second] = [open('first'), open('second')];
  const run = await first.stream({ threadId: 't', message: 'Go' });
  for await (const event of run.events) if (event.type === 'text-delta') break;
  isBlocked = true;
  await second.open();
  await vi.waitFor(() => expect(runEnded).toHaveBeenCalledWith({ agent: 'remote', result: 'fenced' }), 10_000);
  server.proceed();
  expect(await run.message).toMatchObject({ status: 'complete', content: { parts: [{ text: 'Half and half' }] } });
  expect(server.requests).toEqual(['POST /v1/responses', 'GET /v1/responses/resp_1']);
});
