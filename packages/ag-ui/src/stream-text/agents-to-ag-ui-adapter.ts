import type { Event, Message } from '@ag-ui/core';
import { fromModelMessages, fromUIMessages } from '@intertie/ai-sdk';
import { generateId, iterate, type Json } from '@intertie/core';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { getFeatures } from '../shared/ag-ui-version.ts';
import { defined, isFields, asNonEmptyText, type Fields } from '../shared/read-fields.ts';
import { encodeStreamText, type StreamTextLike, type ToAGUIOptions } from './to-ag-ui.ts';
import { toAGUIMessages } from '../encode/to-ag-ui-messages.ts';

export interface AgentsToAGUIAdapterOptions extends Omit<
  ToAGUIOptions,
  'threadId' | 'runId' | 'parentRunId' | 'state' | 'input' | 'messages' | 'echo'
> {}

/**
 * Adapts `streamText` results to AG-UI events: chunks, text in the step "Generating Response", tool calls in "Executing Tools",
 * each result as soon as its tool has finished, a timestamp on every event, and a final messages snapshot if messages were
 * given. Every call is a run of its own. The generator never throws.
 */
export class AgentsToAGUIAdapter {
  #options: AgentsToAGUIAdapterOptions;

  constructor(options: AgentsToAGUIAdapterOptions = {}) {
    this.#options = options;
  }

  /** `inputMessages` are AG-UI, model or UI messages. */
  adaptStreamToAGUI(
    stream: StreamTextLike,
    threadId?: string,
    runId?: string,
    inputMessages: readonly object[] = [],
    parentRunId?: string,
    state?: unknown,
    forwardedProps?: unknown,
  ): AsyncGenerator<Event, void, undefined> {
    const { generateId: createId = generateId, protocolVersion, snapshot = inputMessages.length > 0 } = this.#options;
    const thread = threadId ?? createId();
    const messages = readMessages(inputMessages, thread);
    const optional = defined({
      parentRunId,
      state: state as Json | undefined,
      forwardedProps: forwardedProps ?? undefined,
    });
    const isV1 = getFeatures(protocolVersion).v1;
    // Clients before 1.0 reject an input without these fields.
    const requiredFields = isV1 ? undefined : { tools: [], context: [], state: {}, forwardedProps: {} };
    const echo: AGUIRunInput = {
      threadId: thread,
      runId: runId ?? createId(),
      messages,
      ...requiredFields,
      ...optional,
    };
    const events = encodeStreamText(stream, {
      form: 'chunks',
      stepNames: 'phases',
      timestamps: true,
      result: 'text',
      ...this.#options,
      ...defined({ parentRunId, state: optional.state }),
      threadId: thread,
      runId: echo.runId,
      snapshot,
      echo,
      ...(messages.length > 0 && { messages }),
    });
    return generate(events as ReadableStream<Event>);
  }
}

/**
 * Iterates a stream as a generator. A generator that is left before its first `next()` runs no `finally`, and one with a
 * pending read waits for it, so the stream is cancelled first.
 */
function generate<Item>(stream: ReadableStream<Item>): AsyncGenerator<Item, void, undefined> {
  const items = iterate(stream);
  const generator = (async function* (): AsyncGenerator<Item, void, undefined> {
    for await (const item of items) yield item;
  })();
  const [finish, fail] = [generator.return.bind(generator), generator.throw.bind(generator)];
  return Object.assign(generator, {
    async return() {
      await items.return?.();
      return finish();
    },
    async throw(error: unknown) {
      await items.return?.();
      return fail(error);
    },
  });
}

/** Converts AG-UI, UI or model messages to AG-UI messages. The kind is detected by fields that only one of them has. */
function readMessages(messages: readonly object[], threadId: string): Message[] {
  const given = messages as readonly Fields[];
  if (given.some(({ parts }) => Array.isArray(parts))) {
    return fromUIMessages(given, { threadId, createdAt: new Date(0) }).flatMap((message) => toAGUIMessages(message));
  }
  if (given.every((message) => asNonEmptyText(message.id) !== undefined && !isModelMessage(message)))
    return [...messages] as Message[];
  return fromModelMessages(given, { threadId }).flatMap((message) => toAGUIMessages(message));
}

/** Only model messages have a list as the content of an assistant message, and tool results in a list. */
function isModelMessage({ role, content }: Fields): boolean {
  if (!Array.isArray(content)) return false;
  return role === 'assistant' || content.some((part) => isFields(part) && part.type === 'tool-result');
}
