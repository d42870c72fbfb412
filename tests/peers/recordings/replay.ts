import {
  foldEvents,
  type AgentEvent,
  type CanonicalMessage,
  type EventOf,
  type RunControl,
  type RunInput,
} from '@intertie/core';
import { modelSource } from '@intertie/ai-sdk';
import * as ai6 from 'ai';
import * as ai7 from 'ai-7';
import type { LanguageModel, ModelMessage, ToolSet } from 'ai';

import { createModel, loadProvider, toBody, toolsFor, type ApiName, type Major } from './providers.ts';

const streamTexts: { readonly [major in Major]: typeof ai6.streamText } = {
  6: ai6.streamText,
  7: ai7.streamText as unknown as typeof ai6.streamText,
};

/** Answer of the provider: a body, or a status other than 200. */
export type Answer = { body?: Uint8Array; status?: number };

/** A provider that gives one answer to all requests and records their bodies. */
export type Replayed = { provider: { [method: string]: unknown }; model: LanguageModel; requests: unknown[] };

export async function replay(api: ApiName, major: Major, answer: Answer): Promise<Replayed> {
  const requests: unknown[] = [];
  const create = await loadProvider(api, major);
  const provider = create(async (_url, init) => {
    requests.push(JSON.parse(init?.body as string));
    const { body = new Uint8Array(), status = 200 } = answer;
    if (status !== 200) return new Response('{"error":{"message":"Overloaded"}}', { status });
    // The body arrives in pieces that do not match its events.
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < body.length; at += 4096) controller.enqueue(body.slice(at, at + 4096));
        controller.close();
      },
    });
    const isAws = api === 'amazon-bedrock';
    const type = isAws ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
    return new Response(stream, { headers: { 'content-type': type } });
  });
  return { provider, model: createModel(api, provider), requests };
}

/** Creates tools for the calls in the lines, as the provider package decodes them without tools. */
export async function createTools(api: ApiName, major: Major, lines: readonly string[]): Promise<ToolSet> {
  const { model, provider } = await replay(api, major, { body: toBody(api, lines) });
  const result = streamTexts[major]({ model, prompt: 'Begin.', maxRetries: 0, onError: () => undefined });
  const calls: Array<{ toolName: string; providerExecuted: boolean; hasResult: boolean }> = [];
  try {
    for await (const part of result.fullStream) {
      if (part.type === 'tool-call')
        calls.push({ toolName: part.toolName, providerExecuted: part.providerExecuted === true, hasResult: false });
      if (part.type === 'tool-result')
        for (const call of calls) if (call.toolName === part.toolName) call.hasResult = true;
    }
  } catch {
    // The provider package cannot read the recording. The checks show how a run of it ends.
  }
  return toolsFor(calls, provider);
}

/** Returns the messages that the AI SDK itself would send back. */
export async function sdkMessages(major: Major, { model }: Replayed, tools: ToolSet): Promise<ModelMessage[]> {
  const result = streamTexts[major]({
    model,
    tools,
    messages: [{ role: 'user', content: 'Begin.' }],
    maxRetries: 0,
    onError: () => undefined,
  });
  await result.consumeStream({ onError: () => undefined });
  return [...(await result.response).messages] as ModelMessage[];
}

/** Sends messages through the AI SDK. The request is then in `requests`. */
export async function sdkRequest(
  major: Major,
  { model, requests }: Replayed,
  messages: ModelMessage[],
  tools: ToolSet,
): Promise<unknown> {
  const result = streamTexts[major]({ model, tools, messages, maxRetries: 0, onError: () => undefined });
  let error: unknown;
  for await (const part of result.fullStream) if (part.type === 'error') error ??= part.error;
  if (requests.length === 0) throw error ?? new Error('No request was made.');
  return requests[0];
}

export type Ran = { events: AgentEvent[]; message: CanonicalMessage; end: EventOf<'run-end'> };

/** Runs our source over one answer of the provider: one step, with the results of its tools. */
export async function runSource(
  major: Major,
  { model }: Pick<Replayed, 'model'>,
  tools: ToolSet,
  history: CanonicalMessage[],
): Promise<Ran> {
  const source = modelSource(model, {
    tools,
    maxRetries: 0,
    version: major,
    streamText: streamTexts[major],
    stopWhen: () => true,
  });
  const events: AgentEvent[] = [];
  for await (const event of source.run(input(history), control()) as unknown as AsyncIterable<AgentEvent>) {
    events.push(event);
  }
  return { events, message: foldEvents(events)!, end: events.at(-1) as EventOf<'run-end'> };
}

/** Returns the request that our source sends for a history. */
export async function sourceRequest(
  major: Major,
  replayed: Replayed,
  tools: ToolSet,
  history: CanonicalMessage[],
): Promise<unknown> {
  const { end } = await runSource(major, replayed, tools, history);
  if (replayed.requests.length > 0) return replayed.requests[0];
  throw new Error(end.outcome === 'error' ? end.error.message : 'No request was made.');
}

export function userMessage(id: string, text: string, parentId?: string): CanonicalMessage {
  return {
    id,
    threadId: 'thread-1',
    role: 'user',
    type: 'text',
    content: { format: 2, parts: [{ type: 'text', text }] },
    createdAt: new Date(0),
    ...(parentId !== undefined && { parentId }),
  };
}

function input(history: CanonicalMessage[]): RunInput {
  return {
    runId: `run-${history.length}`,
    threadId: 'thread-1',
    messageId: `message-${history.length}`,
    parentMessageId: history.at(-1)!.id,
    startedAt: 0,
    history,
    answers: [],
    tools: [],
    context: [],
  };
}

function control(): RunControl {
  return {
    signal: AbortSignal.timeout(5000),
    barrier: async () => undefined,
    liveAnswers: (async function* () {})(),
  };
}
