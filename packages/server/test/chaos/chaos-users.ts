import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';

import { HttpAgent } from '@ag-ui/client';
import { stream } from '@durable-streams/client';
import { IntertieChatTransport } from '@intertie/ai-sdk';
import { foldEvents, type AgentEvent } from '@intertie/core';
import type { UIMessage } from 'ai';

import { settled, shown, type ChatMajor } from '../../../ai-sdk/test/chats.ts';
import { toVisibleMessages } from '../ag-ui-protocol.ts';
import { chatBody, postJson } from '../client.ts';
import { followToEnd, withoutDiscarded } from '../thread-log.ts';
import { startTrace, type Trace } from './chaos-evidence.ts';

/** Counts what the users have seen. Every entry of `faults` breaks a guarantee. */
export type Tally = {
  /** Threads with the ids of the messages that the server has acknowledged, in order. */
  acknowledged: Map<string, string[]>;
  turns: { [protocol: string]: number };
  ends: { [end: string]: number };
  /** Requests that were refused or cut off and sent again. */
  retries: number;
  approvals: number;
  /** Operation that each user waits for. */
  waits: Map<string, Wait>;
  faults: string[];
  /** What clients of the faults have seen. */
  evidence: Evidence[];
};

export type Wait = { operation: string; thread: string; trace?: Trace };
export type Evidence = { thread: string; seen?: unknown; stored?: unknown; trace?: readonly string[] };

export const newTally = (): Tally => ({
  acknowledged: new Map(),
  turns: {},
  ends: {},
  retries: 0,
  approvals: 0,
  waits: new Map(),
  faults: [],
  evidence: [],
});

export type Scene = {
  /** Address of any node that accepts connections. */
  base: string;
  tally: Tally;
  random: () => number;
  /** No new turns after this moment. */
  isOver: () => boolean;
};

export type User = (scene: Scene, name: string) => Promise<void>;

const texts = ['hello', 'What is the weather in Oslo?', 'Write a long answer', 'Send an email to Ada'] as const;
const readerNames = ['canonical events', 'Durable Streams'] as const;

/** Sends messages to one thread with plain requests, reads the log of each run, and answers its questions twice at once. */
export const logUser =
  (reader: (typeof readerNames)[number]): User =>
  async (scene, name) => {
    const { base, tally, random, isOver } = scene;
    const thread = `${name}-${crypto.randomUUID()}`;
    const ids: string[] = [];
    tally.acknowledged.set(thread, ids);
    while (!isOver()) {
      const id = crypto.randomUUID();
      const text = pick(texts, random);
      const body = chatBody(thread, text, id);
      tally.waits.set(name, { thread, operation: 'acknowledgement of a message' });
      const response = await retryUntilOk(scene, () => postJson(`${base}/api/agents/worker/chat`, body));
      ids.push(id);
      let runId = response.headers.get('x-intertie-run')!;
      await response.body?.cancel().catch(() => undefined);
      const trace = startTrace();
      tally.waits.set(name, { thread, trace, operation: `${reader} of the run ${runId}` });
      let events = await readRun(reader, base, runId, trace);
      const question = openQuestion(events);
      if (question !== undefined) {
        tally.waits.set(name, { thread, trace, operation: `answers to ${question}` });
        const next = await answerTwice(scene, thread, runId, question);
        if (next !== undefined) {
          runId = next;
          tally.waits.set(name, { thread, trace, operation: `${reader} of the continuation ${runId}` });
          events = await readRun(reader, base, runId, trace);
        }
      }
      tally.waits.set(name, { thread, trace, operation: 'stored messages' });
      count(tally, reader, events);
      const read = JSON.parse(JSON.stringify(foldEvents(events))) as { content: { parts: unknown[] } };
      const stored = await storedMessages<{ content: { parts: unknown[] } }>(base, thread, 'canonical');
      const parts = stored.at(-1)?.content.parts;
      if (!isDeepStrictEqual(read.content.parts, parts)) {
        const evidence = { thread, seen: events, stored: parts, trace: trace.lines };
        addFault(tally, `${reader} read events that differ from the stored ones: run ${runId}`, evidence);
      }
    }
    tally.waits.delete(name);
  };

export function addFault(tally: Tally, fault: string, evidence: Evidence): void {
  tally.faults.push(`${new Date().toISOString()} ${fault}, thread ${evidence.thread}`);
  tally.evidence.push(evidence);
}

/** Has conversations of one message with a real chat and its transport. */
export const chatUser =
  ({ name: client, major, createChat }: ChatMajor): User =>
  async ({ base, tally, random, isOver }, name) => {
    while (!isOver()) {
      const thread = `${name}-${crypto.randomUUID()}`;
      const agent = pick(['worker', 'helper'], random);
      const trace = startTrace();
      const api = `${base}/api/agents/${agent}/chat`;
      const transport = new IntertieChatTransport<6 | 7>({ api, version: major, fetch: trace.fetch });
      const chat = createChat({ id: thread, transport: transport as never });
      tally.waits.set(name, { thread, trace, operation: client });
      await chat.sendMessage({ text: pick(texts.slice(0, 3), random) });
      const stored = async (): Promise<unknown> => shown((await storedMessages<UIMessage>(base, thread, 'ui')).at(-1));
      const seen = async (): Promise<unknown> =>
        shown(major === 6 ? await withoutDiscarded(chat.lastMessage, base, thread) : chat.lastMessage);
      for (let tries = 0; chat.status === 'error' && tries < 50; tries += 1) {
        const current = await stored();
        // The request was refused before a message was stored, so no message was acknowledged.
        if (isDeepStrictEqual(current, []) || isDeepStrictEqual(await seen(), current)) break;
        tally.retries += 1;
        await sleep(200);
        await chat.resumeStream();
      }
      await settled(chat);
      const current = await stored();
      if (isDeepStrictEqual(current, [])) continue;
      tally.acknowledged.set(thread, [chat.messages[0]!.id]);
      tally.turns[client] = (tally.turns[client] ?? 0) + 1;
      const last = await seen();
      if (!isDeepStrictEqual(last, current)) {
        const evidence = { thread, seen: last, stored: current, trace: trace.lines };
        addFault(tally, `${client} ended with messages that differ from the stored ones`, evidence);
      }
    }
    tally.waits.delete(name);
  };

/** Has conversations of one message with an unmodified AG-UI client, which requests its run again after each failure. */
export const agUiUser: User = async ({ base, tally, random, isOver }, name) => {
  while (!isOver()) {
    const thread = `${name}-${crypto.randomUUID()}`;
    const trace = startTrace();
    tally.waits.set(name, { thread, trace, operation: 'AG-UI' });
    const load = (input: RequestInfo | URL, init?: RequestInit): Promise<Response> =>
      fetchWholeBody(input, init, trace.fetch);
    const client = new HttpAgent({ url: `${base}/api/agents/worker/ag-ui`, threadId: thread, fetch: load });
    const id = crypto.randomUUID();
    client.addMessage({ id, role: 'user', content: pick(texts.slice(0, 3), random) });
    const runId = crypto.randomUUID();
    for (let tries = 0; tries < 300; tries += 1) {
      await client.runAgent({ runId }, { onRunFailed: () => undefined }).catch(() => undefined);
      const current = await storedMessages<object>(base, thread, 'ag-ui');
      if (current.length > 0 && isDeepStrictEqual(toVisibleMessages(client.messages), toVisibleMessages(current)))
        break;
      tally.retries += 1;
      await sleep(200);
    }
    const current = await storedMessages<object>(base, thread, 'ag-ui');
    tally.acknowledged.set(thread, [id]);
    tally.turns['AG-UI'] = (tally.turns['AG-UI'] ?? 0) + 1;
    const [seen, stored] = [toVisibleMessages(client.messages), toVisibleMessages(current)];
    if (!isDeepStrictEqual(seen, stored)) {
      const evidence = { thread, seen, stored, trace: trace.lines };
      addFault(tally, 'AG-UI ended with messages that differ from the stored ones', evidence);
    }
  }
  tally.waits.delete(name);
};

/** Ends a body that fails: for a failed one, `HttpAgent` rejects a promise that its user cannot catch. */
export const fetchWholeBody = async (
  input: RequestInfo | URL,
  init?: RequestInit,
  load: typeof fetch = fetch,
): Promise<Response> => {
  const response = await load(input, init);
  const reader = response.body?.getReader();
  if (!reader) return response;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true as const, value: undefined }));
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
};

export const readers: ReadonlyArray<(typeof readerNames)[number]> = readerNames;

function pick<T>(from: readonly T[], random: () => number): T {
  return from[Math.floor(random() * from.length)]!;
}

/** Repeats a request until a node accepts it. The server must recognise the repetition. */
async function retryUntilOk({ tally }: Scene, send: () => Promise<Response>): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const response = await send().catch(() => undefined);
    if (response?.ok) return response;
    const text = await response?.text().catch(() => '');
    if (response && response.status < 500 && response.status !== 409 && response.status !== 429)
      throw new Error(`${response.status}: ${text}`);
    if (tries > 2000) throw new Error(`No node accepts the request: ${response?.status} ${text}`);
    tally.retries += 1;
    await sleep(150);
  }
}

async function readRun(
  reader: (typeof readerNames)[number],
  base: string,
  runId: string,
  trace: Trace,
): Promise<AgentEvent[]> {
  if (reader === 'canonical events') return followToEnd(base, runId, undefined, trace.fetch);
  for (;;) {
    try {
      const all: AgentEvent[] = [];
      const response = await stream<AgentEvent>({
        url: `${base}/streams/runs/${runId}`,
        live: 'long-poll',
        fetch: trace.fetch,
      });
      for await (const event of response.jsonStream()) all.push(event);
      if (all.at(-1)?.type === 'run-end') return all;
    } catch {
      // Cut off, or the run was taken over and its log was reset.
    }
    await sleep(150);
  }
}

function openQuestion(events: readonly AgentEvent[]): string | undefined {
  const end = events.at(-1);
  if (end?.type !== 'run-end' || end.outcome !== 'paused') return undefined;
  const [waiting] = end.waitingFor;
  return waiting?.type === 'question' ? waiting.questionId : undefined;
}

type Answered = { verdicts: Array<{ result: string }>; run?: { runId: string } };

/** Two people answer at the same moment, one yes and one no, each until the server replies. Returns the run that continues. */
async function answerTwice(
  scene: Scene,
  thread: string,
  runId: string,
  questionId: string,
): Promise<string | undefined> {
  const { base, tally } = scene;
  const answer = async (approved: boolean): Promise<Answered> => {
    const url = `${base}/api/runs/${runId}/answers?thread=${thread}`;
    const response = await retryUntilOk(scene, () => postJson(url, { answers: [{ questionId, approved }] }));
    return (await response.json()) as Answered;
  };
  const [yes, no] = await Promise.all([answer(true), answer(false)]);
  const isAccepted = ({ verdicts }: Answered): boolean => ['accepted', 'duplicate'].includes(verdicts[0]!.result);
  tally.approvals += 1;
  if (isAccepted(yes) === isAccepted(no))
    addFault(tally, `the question ${questionId} has ${isAccepted(yes) ? 'two answers' : 'no answer'}`, { thread });
  return (yes.run ?? no.run)?.runId;
}

function count(tally: Tally, protocol: string, events: readonly AgentEvent[]): void {
  const end = events.at(-1);
  tally.turns[protocol] = (tally.turns[protocol] ?? 0) + 1;
  if (end?.type !== 'run-end') return;
  const name = end.outcome === 'error' ? `error ${end.error.code}` : end.outcome;
  tally.ends[name] = (tally.ends[name] ?? 0) + 1;
}

/** Waits until the thread has no live run. A thread that does not exist has no messages. */
export async function storedMessages<Message>(
  base: string,
  thread: string,
  format: 'ui' | 'ag-ui' | 'canonical',
): Promise<Message[]> {
  for (;;) {
    try {
      const response = await fetch(`${base}/api/threads/${thread}/messages?format=${format}`);
      if (response.status === 404) return [];
      const { messages, live } = (await response.json()) as { messages?: Message[]; live?: unknown };
      if (messages && live === undefined) return messages;
    } catch {
      // The node was killed or is cut off from its database.
    }
    await sleep(100);
  }
}
