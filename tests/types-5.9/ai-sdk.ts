// A user's program, for the installed version of `ai`. It is compiled, not run.
import {
  createChatHandler,
  createMessageListState,
  flushToCanonical,
  fromUIMessages,
  IntertieChatTransport,
  modelSource,
  SourceChatTransport,
  toAiSdkMessages,
  toUIMessages,
  updateFromStreamPart,
} from '@intertie/ai-sdk';
import type { AgentSource, CanonicalMessage } from '@intertie/core';
import { streamText, tool, type ChatTransport, type LanguageModel, type UIMessage } from 'ai';

declare const model: LanguageModel;
declare const stored: CanonicalMessage[];

const tools = { now: tool({ inputSchema: {} as never, execute: async () => Date.now() }) };
export const source: AgentSource = modelSource(model, { tools, instructions: 'Be brief.', temperature: 0 });
export const POST: (request: Request) => Promise<Response> = createChatHandler(source);
export const transports: Array<ChatTransport<UIMessage>> = [
  new SourceChatTransport(source),
  new IntertieChatTransport({ api: '/api/chat' }),
];
export const shown: UIMessage[] = toUIMessages(stored);
export const back: CanonicalMessage[] = fromUIMessages(shown, { threadId: 't' });

export async function loop(): Promise<void> {
  const result = streamText({ model, messages: toAiSdkMessages(stored) });
  const state = createMessageListState({ threadId: 't' });
  for await (const part of result.fullStream) {
    updateFromStreamPart(part, state);
    const message: CanonicalMessage | null = flushToCanonical(state);
    if (message) stored.push(message);
  }
}
