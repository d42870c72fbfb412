import { Chat } from '@ai-sdk/react';
import { modelSource } from '@intertie/ai-sdk';
import type { AgentSource, Json } from '@intertie/core';
import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AGUIChatTransport } from '../src/ag-ui-chat-transport.ts';
import { createAGUIHandler } from '../src/create-ag-ui-handler.ts';
import { tools } from './scenarios.ts';
import { finish, reasoning, scriptedModel, streamedCall, text, type Turn } from './scripted-model.ts';
import { serve } from '../../ai-sdk/test/serve.ts';

const paris = '{"city":"Paris"}';

async function chatWith(...turns: Turn[]): Promise<Chat<UIMessage>> {
  return chatFor(modelSource(scriptedModel(turns), { tools }));
}

async function chatFor(source: AgentSource): Promise<Chat<UIMessage>> {
  const served = await serve(createAGUIHandler(source));
  onTestFinished(() => served.close());
  const transport = new AGUIChatTransport({
    url: served.url,
    prepare: () => ({ tools: [{ name: 'locate', description: 'Where the user is', inputSchema: { type: 'object' } }] }),
  });
  return new Chat({
    id: 'thread-1',
    transport,
    sendAutomaticallyWhen: (options) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
      lastAssistantMessageIsCompleteWithToolCalls(options),
  });
}

/** Waits until the chat rests. */
async function settled(chat: Chat<UIMessage>): Promise<void> {
  for (let rest = 0; rest < 3;) {
    // oxlint-disable-next-line no-await-in-loop -- it is looked at until it stays so
    await new Promise((resolve) => setTimeout(resolve, 5));
    rest = chat.status === 'ready' || chat.status === 'error' ? rest + 1 : 0;
  }
}

type Part = {
  type: string;
  text?: string;
  toolCallId?: string;
  state?: string;
  output?: Json;
  approval?: { id: string };
};
const partsOf = (chat: Chat<UIMessage>): Part[] => (chat.messages.at(-1) as unknown as { parts: Part[] }).parts;
const told = (chat: Chat<UIMessage>): string[] =>
  partsOf(chat).flatMap(({ type, text: words, toolCallId, state, output }) => {
    if (words !== undefined) return [`${type}=${words}`];
    return toolCallId === undefined ? [] : [`${toolCallId} ${state} ${JSON.stringify(output)}`];
  });

describe('useChat and an AG-UI agent over HTTP', () => {
  it('shows texts, reasoning and tools in order, and sends them back', async () => {
    const chat = await chatWith(
      [
        ...reasoning('0', 'Hm.'),
        ...text('1', 'Let me see.'),
        ...streamedCall('c1', 'weather', paris),
        finish('tool-calls'),
      ],
      [...text('0', 'It is 21.'), finish()],
    );
    await chat.sendMessage({ text: 'Go.' });
    expect(chat.error).toBeUndefined();
    const once = [
      'reasoning=Hm.',
      'text=Let me see.',
      'c1 output-available {"city":"Paris","degrees":21}',
      'text=It is 21.',
    ];
    expect(told(chat)).toEqual(once);
    await chat.sendMessage({ text: 'Again.' });
    expect(chat.error).toBeUndefined();
    expect(told(chat)).toEqual(['text=It is 21.']);
  });

  it('runs a tool of the page', async () => {
    const chat = await chatWith(
      [...streamedCall('c1', 'locate', '{}'), finish('tool-calls')],
      [...text('0', 'You are in Rome.'), finish()],
    );
    await chat.sendMessage({ text: 'Where am I?' });
    await chat.addToolOutput({ tool: 'locate', toolCallId: 'c1', output: 'Rome' });
    await settled(chat);
    expect(told(chat)).toEqual(['c1 output-available "Rome"', 'text=You are in Rome.']);
  });

  it('asks for an approval, and goes on with the answer', async () => {
    const chat = await chatWith(
      [...streamedCall('c1', 'remove', paris), finish('tool-calls')],
      [...text('0', 'Gone.'), finish()],
    );
    await chat.sendMessage({ text: 'Remove it.' });
    const asked = partsOf(chat).find(({ approval }) => approval !== undefined);
    expect(asked?.state).toBe('approval-requested');
    await chat.addToolApprovalResponse({ id: asked!.approval!.id, approved: true });
    await settled(chat);
    expect(chat.error).toBeUndefined();
    expect(told(chat)).toEqual(['c1 output-available "removed"', 'text=Gone.']);
  });

  it('says what the agent says when it refuses', async () => {
    const served = await serve(async () => new Response('No such agent.', { status: 404 }));
    onTestFinished(() => served.close());
    const chat = new Chat({ id: 't', transport: new AGUIChatTransport({ url: served.url }) });
    await chat.sendMessage({ text: 'Hi' });
    expect(chat.error?.message).toContain('answered 404: No such agent.');
  });
});
