import { createUIMessageDecoder, IntertieChatTransport, toUIMessages } from '@intertie/ai-sdk';
import {
  applyAnswer,
  compose,
  seal,
  sourceStream,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type Codec,
  type RunInput,
} from '@intertie/core';

export interface UIMessageSourceOptions {
  /** The chat route. */
  url: string;
  headers?: Record<string, string> | undefined;
  fetch?: typeof globalThis.fetch;
  name?: string;
}

export interface UIMessageSource extends AgentSource {
  /** The run that the server is still writing in the thread, from its beginning; null where there is none. */
  reattach(run: RunInput, signal: AbortSignal): Promise<ReadableStream<AgentEvent> | null>;
}

/** A chat route as a source, as `useChat` would ask it. A connection that breaks goes on where the server can. */
export function uiMessageSource({ url, headers, fetch, name }: UIMessageSourceOptions): UIMessageSource {
  const transport = new IntertieChatTransport<7>({
    api: url,
    version: 7,
    ...(headers && { headers }),
    ...(fetch && { fetch }),
  });
  return {
    name: name ?? new URL(url).host,
    pauses: 'replay',
    run: (run, { signal }) =>
      sourceStream(
        () =>
          transport.sendMessages({
            trigger: 'submit-message',
            chatId: run.threadId,
            messageId: undefined,
            messages: toUIMessages(messagesOf(run)),
            abortSignal: signal,
          }),
        reading(run),
        { signal },
      ),
    async reattach(run, signal) {
      const chunks = await transport.reconnectToStream({ chatId: run.threadId, abortSignal: signal });
      return chunks && sourceStream(() => chunks, reading(run), { signal });
    },
  };
}

function reading(run: RunInput): Codec<unknown, AgentEvent> {
  return compose(createUIMessageDecoder(run), seal(run, ignore));
}

/** A conversation shows what it is told; what a protocol cannot say is for `convert` to count. */
function ignore(): void {
  // Nobody asks.
}

/** The history; of a continuation with the message that goes on, and the answers in it. */
function messagesOf({
  history,
  message,
  messageId: id,
  threadId,
  answers,
  startedAt,
  resumes,
}: RunInput): CanonicalMessage[] {
  if (!message) return history;
  const content = answers.reduce(applyAnswer, message);
  const createdAt = new Date(startedAt);
  const runId = resumes === undefined ? {} : { runId: resumes };
  return [
    ...history,
    { id, threadId, role: 'assistant', type: 'text', content, createdAt, status: 'paused', ...runId },
  ];
}
