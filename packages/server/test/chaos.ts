import { IntertieChatTransport } from '@intertie/ai-sdk';
import { foldEvents, type AgentEvent } from '@intertie/core';
import type { UIMessage } from 'ai';
import { expect } from 'vitest';
import { chatMajors, settled, shown } from '../../ai-sdk/test/chats.ts';
import { readEvents } from './client.ts';

/** Where clients of a bad network end: with the message in the store, and with nothing twice. */
export async function chatThroughChaos(bad: string, good: string, text: string): Promise<void> {
  const [{ createChat }] = chatMajors as [(typeof chatMajors)[number]];
  const thread = crypto.randomUUID();
  const transport = new IntertieChatTransport({ api: `${bad}/api/agents/helper/chat` });
  const chat = createChat({ id: thread, transport });
  await chat.sendMessage({ text });
  // The first answer may be lost before it began; a person would press the button again.
  for (let tries = 0; chat.status === 'error' && tries < 10; tries++) await chat.resumeStream();
  await settled(chat);
  const { messages, runId } = await finished(good, thread);
  expect(shown(chat.lastMessage)).toEqual(shown(messages.at(-1)));
  const content = await followThroughChaos(bad, runId);
  const canonical = await fetch(`${good}/api/threads/${thread}/messages?format=canonical`);
  const stored = (await canonical.json()) as { messages: Array<{ content: { parts: unknown[] } }> };
  expect(content).toEqual(stored.messages.at(-1)!.content.parts);
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
async function followThroughChaos(base: string, runId: string): Promise<unknown[]> {
  const events: AgentEvent[] = [];
  let last: string | undefined;
  while (events.at(-1)?.type !== 'run-end') {
    try {
      const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
      for await (const { id, data } of readEvents(await fetch(`${base}/api/runs/${runId}/events`, { headers }))) {
        events.push(data as AgentEvent);
        last = id;
      }
    } catch {
      // Cut off: once more, from there on.
    }
  }
  return (JSON.parse(JSON.stringify(foldEvents(events))) as { content: { parts: unknown[] } }).content.parts;
}
