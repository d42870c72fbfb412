import { check } from '@intertie/conformance';
import type { Protocol as StreamProtocol } from '@intertie/core';
import { createParser } from 'eventsource-parser';
import { postJson } from './client.ts';

export type Scenario = 'answer' | 'tool' | 'approval' | 'error' | 'abort' | 'resume';

/** Reply to a question: an approval, the output of a client tool, or a message. */
export type Reply = { approve: true } | { output: string } | { text: string };

export type Case = { base: string; agent: string; thread: string; text: string; scenario: Scenario; reply?: Reply };

/** Final state of a client, the stored state in the same format, and violations of the protocol. */
export type Observed = { client: unknown; stored: unknown; violations: string[] };

export type Protocol = { name: string; run(test: Case): Promise<Observed> };

type Messages<Message> = { messages: Message[]; live?: unknown };

export async function storedMessages<Message>(
  { base, thread }: Case,
  format: 'ui' | 'ag-ui' | 'canonical',
): Promise<Message[]> {
  for (;;) {
    const response = await fetch(`${base}/api/threads/${thread}/messages?format=${format}`);
    const { messages, live } = (await response.json()) as Messages<Message>;
    if (live === undefined) return messages;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Creates a `fetch` that records the items of each response. */
export function recordResponses(): { fetch: typeof fetch; items: unknown[][] } {
  const items: unknown[][] = [];
  return {
    items,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (!response.body || !response.headers.get('content-type')?.includes('event-stream')) return response;
      const own: unknown[] = [];
      items.push(own);
      const parser = createParser({
        onEvent: ({ data }) => void own.push(data === '[DONE]' ? data : (JSON.parse(data) as unknown)),
      });
      const decoder = new TextDecoder();
      const tap = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          parser.feed(decoder.decode(chunk, { stream: true }));
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body.pipeThrough(tap), response);
    },
  };
}

export function listViolations(protocol: StreamProtocol, streams: readonly unknown[][]): string[] {
  return streams.flatMap((items) =>
    check(protocol, items).violations.map(({ rule, message }) => `${rule}: ${message}`),
  );
}

/** Waits until the client has received some items of a live run. */
export async function waitForItems(test: Case, responses: readonly unknown[][]): Promise<void> {
  while ((responses.at(-1)?.length ?? 0) < 4) await new Promise((resolve) => setTimeout(resolve, 5));
  await expectLive(test);
}

async function expectLive({ base, thread }: Case): Promise<void> {
  const { live } = (await (await fetch(`${base}/api/threads/${thread}`)).json()) as { live?: unknown };
  if (!live) throw new Error('The run ended before it could be disturbed.');
}

/** Reads a stream. In the scenarios that disturb a run, aborts it or leaves the stream after `count` items. */
export async function readDisturbed<Item>(
  test: Case,
  stream: AsyncIterable<Item>,
  { count, abort }: { count: number; abort: (items: Item[]) => Promise<unknown> },
): Promise<Item[]> {
  const isDisturbed = test.scenario === 'abort' || test.scenario === 'resume';
  const items: Item[] = [];
  for await (const item of stream) {
    items.push(item);
    if (!isDisturbed || items.length !== count) continue;
    await expectLive(test);
    if (test.scenario === 'resume') break;
    await abort(items);
  }
  return items;
}

export const stop = ({ base, agent, thread }: Case): Promise<Response> =>
  postJson(`${base}/api/agents/${agent}/chat/${thread}/stop`, '');
export const cut = ({ base, thread }: Case): Promise<Response> =>
  postJson(`${base}/api/dev/wire`, { thread, cut: true });
