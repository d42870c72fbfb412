import { stream } from '@durable-streams/client';
import type { AgentEvent } from '@intertie/core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { createMapLog } from '../../core/test/map-log.ts';
import { nextCursor, parseOffset } from '../src/routes/stream-offset.ts';
import { chatBody, postJson, sendMessage, collectEvents } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';

let server: DemoServer;
let ended: string;
beforeAll(async () => {
  server = await startDemoServer({ pace: 0.2 });
  ({ runId: ended } = await sendMessage(server.url, { thread: 'ended', text: 'What is the weather in Lisbon?' }));
});
afterAll(() => server.close());
const url = (run: string, query = ''): string => `${server.url}/streams/runs/${run}${query}`;

test('returns all events of an ended run, closed, with an etag', async () => {
  const all = await fetch(url(ended, '?offset=-1'));
  const events = (await all.json()) as AgentEvent[];
  expect(events[0]?.type).toBe('run-start');
  expect(events.at(-1)?.type).toBe('run-end');
  expect(Object.fromEntries(all.headers)).toMatchObject({
    'content-type': 'application/json',
    'stream-closed': 'true',
    'stream-up-to-date': 'true',
    'stream-next-offset': expect.stringMatching(/^\d{16}_\d{16}$/) as unknown,
  });
  const etag = all.headers.get('etag')!;
  for (const tags of [etag, `"other", W/${etag}`, '*']) {
    expect((await fetch(url(ended, '?offset=-1'), { headers: { 'if-none-match': tags } })).status).toBe(304);
  }
  const end = all.headers.get('stream-next-offset')!;
  expect(await (await fetch(url(ended, `?offset=${end}`))).json()).toEqual([]);
  const head = await fetch(url(ended), { method: 'HEAD' });
  expect([head.headers.get('stream-next-offset'), head.headers.get('stream-closed')]).toEqual([end, 'true']);
  expect((await fetch(url(ended, '?offset=now'))).headers.get('stream-next-offset')).toBe(end);
  expect(await (await fetch(url(ended, `?offset=${'0'.repeat(16)}_${'0'.repeat(16)}`))).json()).toEqual(events);
  const poll = await fetch(url(ended, `?offset=${end}&live=long-poll`));
  expect([poll.status, poll.headers.get('stream-closed')]).toEqual([204, 'true']);
});

test('rejects offsets of another epoch, invalid queries and writes', async () => {
  const status = async (query: string): Promise<number> => (await fetch(url(ended, query))).status;
  expect(await status(`?offset=${'9'.repeat(16)}_${'1'.padStart(16, '0')}`)).toBe(410);
  expect(await status('?offset=5')).toBe(400);
  expect(await status('?offset=-1&offset=-1')).toBe(400);
  expect(await status('?offset=-1&live=sse&live=long-poll')).toBe(400);
  expect(await status('?live=sse')).toBe(400);
  expect(await status('?offset=-1&live=forever')).toBe(400);
  for (const method of ['PUT', 'POST', 'DELETE']) {
    const refused = await fetch(url(ended), { method });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  }
  expect((await fetch(url('nothing'))).status).toBe(404);
});

test.each(['long-poll', 'sse'] as const)('lets the Durable Streams client follow a live run with %s', async (live) => {
  const response = await postJson(`${server.url}/api/agents/helper/chat`, chatBody(`live-${live}`, 'hello'));
  const runId = response.headers.get('x-intertie-run')!;
  const answer = response.text();
  const followed: AgentEvent[] = [];
  const reading = await stream<AgentEvent>({ url: url(runId), live });
  for await (const event of reading.jsonStream()) followed.push(event);
  await answer;
  const logged = await collectEvents(await fetch(`${server.url}/api/runs/${runId}/events?live=false`), () => false);
  expect(followed).toEqual(logged.map(({ data }) => data));
  const head = await fetch(url(runId), { method: 'HEAD' });
  expect(reading.offset).toBe(head.headers.get('stream-next-offset'));
});

/** Starts a server whose runs end, but whose logs cannot be closed. */
async function startUnclosedServer(): Promise<DemoServer> {
  const log = { ...createMapLog(), close: () => Promise.reject(new Error('The log is unreachable.')) };
  const unclosed = await startDemoServer({ log: { open: async () => ({ log, close: async () => undefined }) } });
  onTestFinished(() => unclosed.close());
  return unclosed;
}

test.each([false, 'long-poll', 'sse'] as const)(
  'delivers the end of a run whose log was not closed, live %s',
  async (live) => {
    const unclosed = await startUnclosedServer();
    const { runId } = await sendMessage(unclosed.url, { thread: 't', text: 'hello' });
    const reading = await stream<AgentEvent>({ url: `${unclosed.url}/streams/runs/${runId}`, live });
    const events = await reading.json();
    expect(events.filter(({ type }) => type === 'run-end')).toEqual([events.at(-1)]);
    expect(events.at(-1)).toMatchObject({ outcome: 'complete' });
  },
);

test('replays the end of a run whose log was not closed', async () => {
  const unclosed = await startUnclosedServer();
  const { runId } = await sendMessage(unclosed.url, { thread: 't', text: 'hello' });
  const events = await collectEvents(await fetch(`${unclosed.url}/api/runs/${runId}/events?live=false`), () => false);
  expect(events.at(-1)).toMatchObject({ data: { type: 'run-end', outcome: 'complete' } });
});

test('increases nextCursor with every call', () => {
  expect(nextCursor(undefined, 40_000)).toBe('2');
  expect(nextCursor('2', 40_000)).toBe('3');
  expect(nextCursor('nonsense', 40_000)).toBe('2');
  expect(parseOffset('-1')).toEqual({ epoch: 0, seq: 0 });
  expect(parseOffset('1_2')).toBeNull();
});
