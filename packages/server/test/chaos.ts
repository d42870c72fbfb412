import { isDeepStrictEqual } from 'node:util';
import { IntertieChatTransport } from '@intertie/ai-sdk';
import { foldEvents, type AgentEvent } from '@intertie/core';
import type { UIMessage } from 'ai';
import { expect } from 'vitest';
import { chatMajors, settled, shown } from '../../ai-sdk/test/chats.ts';
import { readEvents } from './client.ts';

/** Where the clients of a bad network end: with the message in the store, and with nothing twice. Returns how the run ended. */
export async function chatThroughChaos(
  bad: string,
  good: string,
  text: string,
  thread: string = crypto.randomUUID(),
): Promise<string> {
  const [{ createChat }] = chatMajors as [(typeof chatMajors)[number]];
  const transport = new IntertieChatTransport({ api: `${bad}/api/agents/helper/chat` });
  const chat = createChat({ id: thread, transport });
  await chat.sendMessage({ text });
  const stored = async (): Promise<unknown> => shown((await finished(good, thread)).messages.at(-1));
  // The first answer may be lost before it began, or the server be away for longer than anybody tries by himself: a person
  // would press the button again. That of a run that has failed ends with an error too.
  for (let tries = 0; chat.status === 'error' && tries < 20; tries++) {
    if (isDeepStrictEqual(shown(chat.lastMessage), await stored())) break;
    await chat.resumeStream();
  }
  await settled(chat);
  expect(shown(chat.lastMessage)).toEqual(await stored());
  const { runId } = await finished(good, thread);
  const events = await followToEnd(bad, runId);
  await expectStored(good, thread, events);
  const { runs } = (await (await fetch(`${good}/api/threads/${thread}/runs`)).json()) as { runs: unknown[] };
  expect(runs).toHaveLength(1);
  return endOf(events);
}

async function finished(base: string, thread: string): Promise<{ messages: UIMessage[]; runId: string }> {
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

/** The canonical events with as many requests as it takes, each from where the last one broke off. */
export async function followToEnd(
  base: string,
  runId: string,
  onEvent: (event: AgentEvent) => void = () => undefined,
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  let last: string | undefined;
  for (;;) {
    try {
      const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
      const response = await fetch(`${base}/api/runs/${runId}/events`, { headers });
      if (!response.ok) throw new Error(await response.text());
      for await (const { id, event, data } of readEvents(response)) {
        // Somebody else has gone on with the run, and tells it anew.
        if (event === 'reset') events.length = 0;
        else events.push(data as AgentEvent);
        last = id ?? last;
        if (event !== 'reset') onEvent(data as AgentEvent);
      }
    } catch {
      // Cut off: once more, from there on, when whoever was to answer has had time to come back.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (events.at(-1)?.type === 'run-end') return events;
  }
}

/** What was read is what is kept. */
export async function expectStored(base: string, thread: string, events: readonly AgentEvent[]): Promise<void> {
  const read = JSON.parse(JSON.stringify(foldEvents(events))) as { content: { parts: unknown[] } };
  const response = await fetch(`${base}/api/threads/${thread}/messages?format=canonical`);
  const { messages } = (await response.json()) as { messages: Array<{ content: { parts: unknown[] } }> };
  expect(read.content.parts).toEqual(messages.at(-1)!.content.parts);
}

/** How a run has ended, in words. */
export function endOf(events: readonly AgentEvent[]): string {
  const end = events.at(-1);
  if (end?.type !== 'run-end') return 'not at all';
  return end.outcome === 'error' ? `error ${end.error.code}` : end.outcome;
}
