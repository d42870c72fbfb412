import {
  compose,
  seal,
  sourceStream,
  type AgentEvent,
  type CanonicalMessage,
  type Codec,
  type RunInput,
} from '@intertie/core';
import type { ConnectedSource } from '@intertie/core/internal';
import { toRequestMessages } from '../../messages/to-request-messages.ts';
import { toUIMessages } from '../../messages/to-ui-messages.ts';
import { asFields, asNonEmptyText, defined } from '../../shared/read-fields.ts';
import type { UIMessageChunkOf } from '../../ui-message-stream/chunk/ui-message-chunk.ts';
import { createUIMessageDecoder } from '../../ui-message-stream/decode/decode-ui-message-stream.ts';
import { IntertieChatTransport } from './intertie-chat-transport.ts';

export interface UIMessageSourceOptions {
  /** URL of the chat route. */
  url: string;
  headers?: Record<string, string> | undefined;
  fetch?: typeof globalThis.fetch;
  name?: string;
}

/** Source that calls a chat route like `useChat`. Broken connections are resumed if the server supports it. */
export function uiMessageSource({ url, headers, fetch, name }: UIMessageSourceOptions): ConnectedSource {
  const transport = new IntertieChatTransport<7>({ api: url, version: 7, ...defined({ headers, fetch }) });
  /** Ids of messages and runs on the server, by our ids. The server knows only its own. */
  const serverIds = new Map<string, string>();
  const recordIds = (chunk: unknown, { messageId, runId }: RunInput): void => {
    const { type, messageId: message, messageMetadata } = asFields(chunk);
    if (type !== 'start') return;
    if (typeof message === 'string') serverIds.set(messageId, message);
    const run = asNonEmptyText(asFields(asFields(messageMetadata).intertie).runId);
    if (run !== undefined) serverIds.set(runId, run);
  };
  const withServerIds = (message: CanonicalMessage): CanonicalMessage => {
    const { id, runId } = message;
    return {
      ...message,
      id: serverIds.get(id) ?? id,
      ...(runId !== undefined && { runId: serverIds.get(runId) ?? runId }),
    };
  };
  const send = async (run: RunInput, signal: AbortSignal): Promise<ReadableStream<UIMessageChunkOf<7>>> => {
    const messages = toUIMessages(toRequestMessages(run).map(withServerIds));
    try {
      return await transport.sendMessages({
        trigger: 'submit-message',
        chatId: run.threadId,
        messageId: undefined,
        messages,
        abortSignal: signal,
      });
    } catch (error) {
      throw toReadableError(error);
    }
  };
  const read = (
    open: () => Promise<ReadableStream<UIMessageChunkOf<7>>>,
    run: RunInput,
    signal: AbortSignal,
  ): ReadableStream<AgentEvent> =>
    sourceStream(open, createDecoder(run), { signal, onFrame: (chunk) => recordIds(chunk, run) });
  return {
    name: name ?? new URL(url).host,
    pauses: 'replay',
    recordIds,
    run: (run, { signal }) => read(() => send(run, signal), run, signal),
    async reattach(run, signal) {
      const chunks = await transport.reconnectToStream({ chatId: run.threadId, abortSignal: signal });
      return chunks && read(async () => chunks, run, signal);
    },
  };
}

/** Extracts message and fix of a JSON error response. */
function toReadableError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  try {
    const { message, fix } = asFields(asFields(JSON.parse(error.message)).error);
    const texts = [asNonEmptyText(message), asNonEmptyText(fix)].filter((text) => text !== undefined);
    return texts.length === 0 ? error : new Error(texts.join(' '), { cause: error });
  } catch {
    return error;
  }
}

function createDecoder(run: RunInput): Codec<unknown, AgentEvent> {
  return compose(
    createUIMessageDecoder(run),
    seal(run, () => undefined),
  );
}
