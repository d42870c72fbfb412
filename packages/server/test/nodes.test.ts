import { afterAll, beforeAll, expect, test } from 'vitest';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { chatBody, postJson, readEvents, collectEvents } from './client.ts';
import { startNode, type Node } from './nodes.ts';

let database: string;
let a: Node;
let b: Node;
let c: Node;
beforeAll(async () => {
  database = await newPostgresUrl();
  [a, b, c] = await Promise.all([startNode(database, 1), startNode(database, 1), startNode(database, 0)]);
});
afterAll(() => Promise.all([a, b, c].map((node) => node?.kill('SIGKILL'))));

type RunEnd = { type: string; outcome?: string; by?: string; reason?: string; error?: { code?: string } };

async function startRun(
  node: Node,
  thread: string,
  text: string,
  agent = 'helper',
): Promise<{ runId: string; response: Response }> {
  const response = await postJson(`${node.url}/api/agents/${agent}/chat`, chatBody(thread, text));
  return { runId: response.headers.get('x-intertie-run')!, response };
}

const events = (node: Node, runId: string): Promise<Response> => fetch(`${node.url}/api/runs/${runId}/events`);
const json = async <T>(url: string): Promise<T> => (await fetch(url)).json() as Promise<T>;

test('shows the same end on A and B if a run of A is stopped on B', async () => {
  const { runId, response } = await startRun(a, 'stop', 'Write a long answer');
  const reader = readEvents(await events(b, runId));
  const seen: RunEnd[] = [];
  let stopped: unknown;
  for await (const { data } of reader) {
    seen.push(data as RunEnd);
    if (seen.length !== 8) continue;
    stopped = await (await postJson(`${b.url}/api/runs/${runId}/stop`, { reason: 'enough' })).json();
  }
  expect(stopped).toEqual({ result: 'requested' });
  expect(seen.at(-1)).toMatchObject({ type: 'run-end', outcome: 'aborted', by: 'user', reason: 'enough' });
  expect(await response.text()).toContain('"abort"');
  const { messages } = await json<{ messages: Array<{ status: string }> }>(`${c.url}/api/threads/stop/messages`);
  expect(messages.at(-1)).toMatchObject({ status: 'aborted' });
});

test('continues a run of A once if it is answered on B and C', async () => {
  const { runId, response } = await startRun(a, 'ask', 'Send an email to Ada');
  await response.text();
  const { questions } = await json<{ questions: Array<{ id: string }> }>(
    `${b.url}/api/questions?state=open&thread=ask`,
  );
  const answer = (node: Node): Promise<{ verdicts: Array<{ result: string }>; run: { runId: string } }> =>
    postJson(`${node.url}/api/runs/${runId}/answers`, {
      answers: [{ questionId: questions[0]!.id, approved: true }],
    }).then((r) => r.json());
  const [onC, onB] = await Promise.all([answer(c), answer(b)]);
  expect([onB, onC].map(({ verdicts }) => verdicts[0]!.result).toSorted()).toEqual(['accepted', 'duplicate']);
  expect(onB.run.runId).toBe(onC.run.runId);
  const followed = await collectEvents(await events(b, onC.run.runId), () => false);
  expect(followed.at(-1)?.data).toMatchObject({ type: 'run-end', outcome: 'complete' });
  const { messages } = await json<{ messages: unknown[] }>(`${a.url}/api/threads/ask/messages`);
  expect(JSON.stringify(messages)).toContain('the email is **sent**');
});

test('ends runs that cannot continue with a reason on SIGTERM and informs their readers', async () => {
  const stopping = await startNode(database, 1);
  const { runId } = await startRun(stopping, 'leave', 'Write a long answer', 'forgetful');
  const reader = collectEvents(await events(b, runId), () => false);
  const own = collectEvents(await events(stopping, runId), () => false).catch((error: unknown) => error);
  await stopping.kill('SIGTERM');
  expect((await reader).at(-1)?.data).toMatchObject({ outcome: 'aborted', by: 'system', reason: 'shutdown' });
  const end = await own;
  const hasEnd = Array.isArray(end) && (end.at(-1) as { data: RunEnd }).data.type === 'run-end';
  expect(hasEnd || end instanceof Error).toBe(true);
});

test('closes a run of a killed node that cannot continue as lost, informs readers on B, and accepts the next message', async () => {
  const { runId, response } = await startRun(a, 'kill', 'Write a long answer', 'forgetful');
  const cut = response.text().catch((error: unknown) => error);
  const reader = readEvents(await events(b, runId));
  const seen: RunEnd[] = [];
  for await (const { data } of reader) {
    seen.push(data as RunEnd);
    if (seen.length === 8) await a.kill('SIGKILL');
  }
  expect(await cut).toBeInstanceOf(Error);
  expect(seen.at(-1)).toMatchObject({ type: 'run-end', outcome: 'error', error: { code: 'lost' } });
  // Sends the stored history, as a reloaded page does.
  const { messages: before } = await json<{ messages: unknown[] }>(`${c.url}/api/threads/kill/messages?format=ui`);
  const next = { id: 'next', role: 'user', parts: [{ type: 'text', text: 'hello' }] };
  const accepted = await postJson(`${c.url}/api/agents/helper/chat`, { id: 'kill', messages: [...before, next] });
  expect([accepted.status, await accepted.text()]).toEqual([200, expect.stringContaining('[DONE]')]);
  const { messages } = await json<{ messages: Array<{ role: string; status?: string }> }>(
    `${b.url}/api/threads/kill/messages`,
  );
  expect(messages.map(({ role, status }) => `${role} ${status}`)).toEqual([
    'user complete',
    'assistant error',
    'user complete',
    'assistant complete',
  ]);
});
