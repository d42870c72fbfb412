import type { Message } from '@ag-ui/core';
import { MessageList, type AgentEvent } from '@intertie/core';
import type { AGUIEncoderOptions, AGUIOpenState } from './ag-ui-encoder-options.ts';
import type { PartEncoders } from './part-encoders.ts';
import { defined } from '../shared/read-fields.ts';
import { getResultIds, toAGUIMessages, type ToAGUIMessagesOptions } from './to-ag-ui-messages.ts';

/** Messages for snapshots: the client's history, and the messages of the run under the ids that were streamed. */
export class MessageHistory {
  #options: AGUIEncoderOptions;
  #parts: PartEncoders;
  #history: readonly Message[] | undefined;
  /** Fold of the run. Absent if no snapshot can be written. */
  #fold: MessageList | undefined;
  #resultIds: ReadonlyMap<string, string> | undefined;

  constructor(options: AGUIEncoderOptions, parts: PartEncoders) {
    this.#options = options;
    this.#parts = parts;
    this.#history = options.messages;
    if (options.messages !== undefined) this.#fold = new MessageList();
  }

  /** Whether the history before the run is known. A snapshot without it would delete it. */
  get isComplete(): boolean {
    return this.#history !== undefined;
  }

  feed(event: AgentEvent): void {
    this.#fold?.feed(event);
  }

  /** Sets the history for a client that joins. */
  startJoin({ history, known = [] }: Pick<AGUIOpenState, 'history' | 'known'>): void {
    this.#history = history;
    this.#resultIds = getResultIds(known);
    this.#fold = new MessageList();
  }

  toMessages(options: Pick<ToAGUIMessagesOptions, 'activities' | 'onUnattached'>): Message[] {
    const message = this.#fold?.message;
    if (message === undefined) return [...(this.#history ?? [])];
    const { protocolVersion, sendReasoning = true, sendInternal = false } = this.#options;
    const { tools, agents } = this.#parts;
    const messages = toAGUIMessages(message, {
      ...options,
      ...defined({ protocolVersion, resultIds: this.#resultIds }),
      sendReasoning,
      sendInternal,
      assistants: tools.assistants,
      getOwner: (agentId) => agents.owner(agentId),
    });
    return mergeMessages(this.#history ?? [], messages);
  }
}

/**
 * Merges the messages of a run into the history like the client does: known messages keep their place, new ones are appended.
 * Omits results for calls that the history already answers, because the client gave them under other ids.
 */
function mergeMessages(history: readonly Message[], messages: readonly Message[]): Message[] {
  const merged = [...history];
  const answered = new Set(history.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])));
  const indexes = new Map(history.map(({ id }, index) => [id, index]));
  const added: Message[] = [];
  for (const message of messages) {
    const index = indexes.get(message.id);
    if (index !== undefined) merged[index] = message;
    else if (message.role !== 'tool' || !answered.has(message.toolCallId)) added.push(message);
  }
  return [...merged, ...added];
}
