import type { SendMessagesOptions, UIMessageChunk } from '@intertie/ai-sdk';
import { readUIMessageStream, type UIMessage } from 'ai';
import { readAll } from '../../core/test/read-all.ts';
import {
  OpenHarnessChatTransport,
  type OpenHarnessChatTransportOptions,
} from '../src/chat/open-harness-chat-transport.ts';
import { ReplayRuntime } from './replay-runtime.ts';
import { findTrace } from './traces.ts';

/** Creates the request of a chat with one user message. */
export function createRequest(more: Partial<SendMessagesOptions> = {}): SendMessagesOptions {
  return {
    chatId: 'thread',
    trigger: 'submit-message',
    messageId: undefined,
    messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
    abortSignal: undefined,
    ...more,
  };
}

/** Returns the chunks that a chat receives for a trace. */
export async function readChunks(
  name: string,
  options?: OpenHarnessChatTransportOptions<6>,
): Promise<UIMessageChunk[]> {
  return readAll(await replay(name, options));
}

/** Returns the message that a chat builds from a trace. */
export async function readMessage(name: string, options?: OpenHarnessChatTransportOptions<6>): Promise<UIMessage> {
  const stream = await replay(name, options);
  let message: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream, onError: () => undefined })) message = state;
  return message!;
}

function replay(
  name: string,
  options: OpenHarnessChatTransportOptions<6> | undefined,
): ReturnType<OpenHarnessChatTransport['sendMessages']> {
  return new OpenHarnessChatTransport(() => new ReplayRuntime(findTrace(name)), options).sendMessages(createRequest());
}
