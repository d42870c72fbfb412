import { isFields, asNonEmptyText } from '@intertie/core/internal';
import type { RuntimeEvent } from './runtime-event.ts';
import type { RuntimeLike } from './runtime.ts';

/**
 * Delivers one message to a flow that is already running. A runtime accepts messages per node invocation but does not list its
 * invocations, so the active one is derived from the events. Agent nodes read their inbox only when they start: a message that
 * the snapshot lists as unread is sent again to the next node.
 */
export class MessageDelivery {
  #runtime: RuntimeLike;
  #message: string;
  #sentTo: string | undefined;
  /** Ended invocations. Their late events do not make them active again. */
  #ended = new Set<string>();

  constructor(runtime: RuntimeLike, message: string) {
    this.#runtime = runtime;
    this.#message = message;
  }

  /** Sends the message if the event shows an active node. Rethrows errors of `dispatch`. */
  handleEvent(event: RuntimeEvent): void {
    if (event.type === 'node:complete' || event.type === 'node:error') {
      this.#ended.add(event.runId);
      if (this.#sentTo === event.runId && this.#isUnread()) this.#sentTo = undefined;
    } else if (this.#sentTo === undefined && this.#isOfActiveNode(event)) this.send(event.runId);
  }

  send(runId: string): void {
    this.#sentTo = runId;
    this.#runtime.dispatch?.({ type: 'send', message: this.#message, runId });
  }

  /** Whether no node has read the message. A runtime that reports no inbox is assumed to deliver. */
  get isUndelivered(): boolean {
    return this.#sentTo === undefined || this.#isUnread();
  }

  #isUnread(): boolean {
    const { inbox = [] } = this.#runtime.getSnapshot();
    return inbox.some(
      (command) =>
        isFields(command) &&
        command.type === 'send' &&
        command.runId === this.#sentTo &&
        command.message === this.#message,
    );
  }

  #isOfActiveNode(event: RuntimeEvent): event is Extract<RuntimeEvent, { runId: string }> {
    if (event.type === 'node:start') return true;
    if (!event.type.startsWith('agent:') || finalAgentEvents.has(event.type)) return false;
    const { nodeId, runId } = event as { nodeId?: unknown; runId?: unknown };
    if (asNonEmptyText(nodeId) === undefined || asNonEmptyText(runId) === undefined || this.#ended.has(runId as string))
      return false;
    // Sub-agents of a node have their own ids but no inbox.
    const { nodeStatus } = this.#runtime.getSnapshot();
    return nodeStatus === undefined || Object.hasOwn(nodeStatus, nodeId as string);
  }
}

const finalAgentEvents: ReadonlySet<string> = new Set(['agent:complete', 'agent:paused', 'agent:aborted']);
