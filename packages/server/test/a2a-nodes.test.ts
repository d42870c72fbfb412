import { fileURLToPath } from 'node:url';
import { a2aProtocol, type A2AStreamItem } from '@intertie/a2a';
import { check } from '@intertie/conformance';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { connectA2A, foldItems, getText, text, type TestClient } from './a2a-client.ts';
import { collect } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';
import { spawnNode, type Node } from './nodes.ts';

const program = fileURLToPath(new URL('a2a-node-process.mjs', import.meta.url));
let database: string;
let remote: DemoServer;
const nodes: Node[] = [];

async function startNode(): Promise<Node> {
  const node = await spawnNode(program, [database, `${remote.url}/api/agents/helper/a2a`]);
  if (!node) throw new Error('The node exited before it listened.');
  nodes.push(node);
  return node;
}

beforeAll(async () => {
  database = await newPostgresUrl();
  remote = await startDemoServer({ pace: 0.5 });
}, 120_000);
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.kill('SIGKILL')));
  await remote.close();
});

const connect = ({ url }: { url: string }, agent: string): Promise<TestClient> =>
  connectA2A(`${url}/api/agents/${agent}/a2a`, 'JSONRPC');

/** Reads the beginning of a stream, then kills the process that serves it. Returns the id of the task. */
async function killAfter(node: Node, items: AsyncIterable<A2AStreamItem>, count: number): Promise<string> {
  const seen: A2AStreamItem[] = [];
  try {
    for await (const item of items) {
      seen.push(item);
      if (seen.length === count) await node.kill('SIGKILL');
    }
  } catch {
    // The connection breaks.
  }
  return foldItems(seen).id;
}

test('subscribes on another node to a task whose node was killed', { timeout: 60_000 }, async () => {
  const [a, b] = await Promise.all([startNode(), startNode()]);
  const [onA, onB] = [await connect(a, 'recording'), await connect(b, 'recording')];
  const id = await killAfter(a, onA.stream(text('Play it')), 4);
  const items = await collect(onB.subscribe(id));
  expect(check(a2aProtocol, items).violations).toEqual([]);
  const done = foldItems(items);
  expect(done.status.state).toBe('TASK_STATE_COMPLETED');
  expect(getText(done)).toBe(getText(await onB.send(text('Play it'))));
});

test('continues on another node a task that waits for input', { timeout: 60_000 }, async () => {
  const [a, b] = await Promise.all([startNode(), startNode()]);
  const [onA, onB] = [await connect(a, 'helper'), await connect(b, 'helper')];
  const paused = await onA.send(text('Send an email to Ada'));
  await a.kill('SIGKILL');
  const items: A2AStreamItem[] = [];
  for await (const item of onB.subscribe(paused.id)) {
    items.push(item);
    if (items.length === 1) await onB.send({ taskId: paused.id, ...text('yes') });
  }
  expect(items[0]).toMatchObject({ task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } });
  const done = foldItems(items);
  expect(done.status.state).toBe('TASK_STATE_COMPLETED');
  expect(getText(done)).toContain('the email is **sent**');
});

test('subscribes to the remote task again when the node that called it was killed', { timeout: 90_000 }, async () => {
  const [a, b] = await Promise.all([startNode(), startNode()]);
  const [onA, onB] = [await connect(a, 'relay'), await connect(b, 'relay')];
  const id = await killAfter(a, onA.stream(text('Write a long answer')), 12);
  const done = foldItems(await collect(onB.subscribe(id)));
  expect(done.status.state).toBe('TASK_STATE_COMPLETED');
  const own = await connect(remote, 'helper');
  const { tasks } = await own.list({ includeArtifacts: true });
  expect(tasks).toHaveLength(1);
  expect(getText(done)).toBe(getText(tasks[0]!));
});
