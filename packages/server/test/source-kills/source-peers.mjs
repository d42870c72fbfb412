import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createAGUIHandler } from '@intertie/ag-ui';
import { Agent, createRunHost } from '@intertie/agent';
import { createInMemoryStore } from '@intertie/core';
import { pause, pullStream } from '@intertie/core/internal';
import { startMAILDemo } from '@intertie/mail/demo';
import { onTestFinished } from 'vitest';
import { serve } from '../../../ai-sdk/test/serve.ts';
import { scriptSource, type Peers } from './source-agents.mjs';

/** Starts the runtimes behind the sources: a MAIL swarm, an Open Harness server and an AG-UI agent with durable runs. */
export async function startPeers(): Promise<Peers> {
  const store = createInMemoryStore();
  const host = createRunHost(store);
  const remote = new Agent({ source: scriptSource(), store, host });
  const [mail, openHarness, agUi] = await Promise.all([
    startMAILDemo({ paceMs: 100 }),
    serve(serveSessions),
    serve(createAGUIHandler(remote)),
  ]);
  onTestFinished(async () => {
    await Promise.all([mail.stop(), openHarness.close(), agUi.close()]);
    await host.close();
  });
  return { mail: mail.url, openHarness: openHarness.url, agUi: agUi.url };
}

const recording = readFileSync(
  fileURLToPath(new URL('../../../open-harness/fixtures/head-4645c5d/phases.jsonl', import.meta.url)),
  'utf8',
);
const sessionEvents = recording.trim().split('\n');
const startedAt = new Map<string, number>();
const eventMs = 20;

/** Serves sessions like the Open Harness server: the history, then live events, and no end. A session starts with its first reader. */
async function serveSessions(request: Request): Promise<Response> {
  const [, , session = '', what] = new URL(request.url).pathname.split('/');
  const start = startedAt.get(session) ?? Date.now();
  startedAt.set(session, start);
  const countEvents = (): number => Math.min(sessionEvents.length, Math.floor((Date.now() - start) / eventMs));
  if (what !== 'events') return Response.json({ running: countEvents() < sessionEvents.length });
  let sent = 0;
  const encoder = new TextEncoder();
  const body = pullStream<Uint8Array<ArrayBuffer>>({
    async pull(emit) {
      while (sent >= countEvents()) await pause(eventMs, request.signal);
      emit(encoder.encode(`data: ${sessionEvents[sent]}\n\n`));
      sent += 1;
      return true;
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
