import type { Message } from '@ag-ui/core';
import { MessageList, type AgentEvent } from '@intertie/core';
import type { AGUIEncoderOptions, AGUIOpenState } from './ag-ui-encoder-options.ts';
import type { AGUIParts } from './encode-parts.ts';
import { mergeMessages } from './merge-messages.ts';
import { defined } from '../shared/read-fields.ts';
import { resultIdsOf, toAGUIMessages, type ToAGUIMessagesOptions } from './to-ag-ui-messages.ts';

/** The messages of the thread: those that the client had before, and what the run has said, under the ids it was told. */
export class AGUIMessages {
  #options: AGUIEncoderOptions;
  #parts: AGUIParts;
  #history: readonly Message[] | undefined;
  /** What was said, as far as somebody will ask for it. */
  #fold: MessageList | undefined;
  #resultIds: ReadonlyMap<string, string> | undefined;

  constructor(options: AGUIEncoderOptions, parts: AGUIParts) {
    this.#options = options;
    this.#parts = parts;
    this.#history = options.messages;
    if (options.messages !== undefined) this.#fold = new MessageList();
  }

  /** Whether what came before the run is known: a snapshot without it would delete it. */
  get isWhole(): boolean {
    return this.#history !== undefined;
  }

  feed(event: AgentEvent): void {
    this.#fold?.feed(event);
  }

  /** For a client that joins. */
  join({ history, known = [] }: Pick<AGUIOpenState, 'history' | 'known'>): void {
    this.#history = history;
    this.#resultIds = resultIdsOf(known);
    this.#fold = new MessageList();
  }

  told(more: Pick<ToAGUIMessagesOptions, 'activities' | 'onBeside'>): Message[] {
    const message = this.#fold?.message;
    const { protocolVersion, sendReasoning = true, sendInternal = false } = this.#options;
    const { tools, agents } = this.#parts;
    const ownerOf = (agentId: string | undefined): string | undefined => agents.owner(agentId);
    const known = defined({ protocolVersion, resultIds: this.#resultIds });
    const options = { ...more, ...known, sendReasoning, sendInternal, assistants: tools.assistants, ownerOf };
    return mergeMessages(this.#history ?? [], message ? toAGUIMessages(message, options) : []);
  }
}
