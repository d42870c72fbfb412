import { isDeepStrictEqual } from 'node:util';
import { IntertieChatTransport } from '@intertie/ai-sdk';
import { foldEvents, type AgentEvent } from '@intertie/core';
import type { UIMessage } from 'ai';
import { expect } from 'vitest';
import { chatMajors, settled, shown } from '../../ai-sdk/test/chats.ts';
import { followToEnd, withoutDiscarded } from './thread-log.ts';

/** Chats over a bad network, and checks that clients end with the stored message and no duplicates. Returns the outcome. */
export async function chatThroughChaos(
  bad: string,
  good: string,
  text: string,
  { thread = crypto.randomUUID(), agent = 'helper' }: { thread?: string; agent?: string } = {},
): Promise<string> {
  const [{ createChat }] = chatMajors as [(typeof chatMajors)[number]];
  const transport = new IntertieChatTransport({ api: `${bad}/api/agents/${agent}/chat` });
  const chat = createChat({ id: thread, transport });
  await chat.sendMessage({ text });
  const stored = async (): Promise<unknown> => shown((await waitForMessages(good, thread)).messages.at(-1));
  const seen = async (): Promise<unknown> => shown(await withoutDiscarded(chat.lastMessage, good, thread));
  // The first response may be lost, or the server may be away for longer than the transport retries: a user would then press
  // the button again. The chat of a failed run ends with an error too.
  for (let tries = 0; chat.status === 'error' && tries < 20; tries++) {
    if (isDeepStrictEqual(await seen(), await stored())) break;
    await chat.resumeStream();
  }
  await settled(chat);
  expect(await seen()).toEqual(await stored());
  const { runId } = await waitForMessages(good, thread);
  const events = await followToEnd(bad, runId);
  await expectStored(good, thread, events);
  const { runs } = (await (await fetch(`${good}/api/threads/${thread}/runs`)).json()) as { runs: unknown[] };
  expect(runs).toHaveLength(1);
  return describeEnd(events);
}

async function waitForMessages(base: string, thread: string): Promise<{ messages: UIMessage[]; runId: string }> {
  for (;;) {
    const response = await fetch(`${base}/api/threads/${thread}/messages?format=ui`);
    const { messages, live } = (await response.json()) as { messages?: UIMessage[]; live?: unknown };
    if (messages && !live) {
      const { intertie } = messages.at(-1)!.metadata as { intertie: { runId: string } };
      return { messages, runId: intertie.runId };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Expects that the events fold to the stored message. */
export async function expectStored(base: string, thread: string, events: readonly AgentEvent[]): Promise<void> {
  const read = JSON.parse(JSON.stringify(foldEvents(events))) as { content: { parts: unknown[] } };
  const response = await fetch(`${base}/api/threads/${thread}/messages?format=canonical`);
  const { messages } = (await response.json()) as { messages: Array<{ content: { parts: unknown[] } }> };
  expect(read.content.parts).toEqual(messages.at(-1)!.content.parts);
}

/** Describes the outcome of a run in a word. */
export function describeEnd(events: readonly AgentEvent[]): string {
  const end = events.at(-1);
  if (end?.type !== 'run-end') return 'no end';
  return end.outcome === 'error' ? `error ${end.error.code}` : end.outcome;
}
