import { createUIMessageDecoder, IntertieChatTransport, toUIMessages, type UIMessageChunkOf } from '@intertie/ai-sdk';
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
import { asFields, asNonEmptyText } from '@intertie/core/internal';

export interface UIMessageSourceOptions {
  /** The chat route. */
  url: string;
  headers?: Record<string, string> | undefined;
  fetch?: typeof globalThis.fetch;
  name?: string;
}

export interface UIMessageSource extends AgentSource {
  /** A chunk of the run that somebody else has read: it may say under which ids the server knows it. */
  learn(chunk: unknown, run: RunInput): void;
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
  /** A server gives messages and runs ids of its own, and knows them by these alone. */
  const theirs = new Map<string, string>();
  const learn = (chunk: unknown, { messageId, runId }: RunInput): void => {
    const { type, messageId: message, messageMetadata } = asFields(chunk);
    if (type !== 'start') return;
    if (typeof message === 'string') theirs.set(messageId, message);
    const run = asNonEmptyText(asFields(asFields(messageMetadata).intertie).runId);
    if (run !== undefined) theirs.set(runId, run);
  };
  const told = (message: CanonicalMessage): CanonicalMessage => {
    const { id, runId } = message;
    return { ...message, id: theirs.get(id) ?? id, ...(runId !== undefined && { runId: theirs.get(runId) ?? runId }) };
  };
  const send = async (run: RunInput, signal: AbortSignal): Promise<ReadableStream<UIMessageChunkOf<7>>> => {
    const messages = toUIMessages(messagesOf(run).map(told));
    try {
      return await transport.sendMessages({
        trigger: 'submit-message',
        chatId: run.threadId,
        messageId: undefined,
        messages,
        abortSignal: signal,
      });
    } catch (error) {
      throw readable(error);
    }
  };
  const read = (
    open: () => Promise<ReadableStream<UIMessageChunkOf<7>>>,
    run: RunInput,
    signal: AbortSignal,
  ): ReadableStream<AgentEvent> => sourceStream(open, reading(run), { signal, onFrame: (chunk) => learn(chunk, run) });
  return {
    name: name ?? new URL(url).host,
    pauses: 'replay',
    learn,
    run: (run, { signal }) => read(() => send(run, signal), run, signal),
    async reattach(run, signal) {
      const chunks = await transport.reconnectToStream({ chatId: run.threadId, abortSignal: signal });
      return chunks && read(async () => chunks, run, signal);
    },
  };
}

/** What a server says in JSON, in its own words. */
function readable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  try {
    const { message, fix } = asFields(asFields(JSON.parse(error.message)).error);
    const words = [asNonEmptyText(message), asNonEmptyText(fix)].filter((text) => text !== undefined);
    return words.length === 0 ? error : new Error(words.join(' '), { cause: error });
  } catch {
    return error;
  }
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
