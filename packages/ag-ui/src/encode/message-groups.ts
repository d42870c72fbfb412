type Lane = { messageId: string; stepId: string | undefined; isOver: boolean };
type Attributed = { agentId?: string; stepId?: string };

/**
 * Assigns tool calls to AG-UI messages. A text is a message, and the calls after it in the same step belong to it. Any other
 * part, and the result of a provider's tool, start a new message, so that the order is preserved. Use one instance per message;
 * live and stored messages get the same ids.
 */
export class MessageGroups {
  #lanes = new Map<string, Lane>();
  #lastCalls = new Map<Lane, string>();

  text(messageId: string, { agentId = '', stepId }: Attributed): void {
    this.#lanes.set(agentId, { messageId, stepId, isOver: false });
  }

  /** Makes the next call start a new message. */
  startNewMessage({ agentId = '' }: Attributed): void {
    this.#lanes.delete(agentId);
  }

  call(toolCallId: string, { agentId = '', stepId }: Attributed): string {
    let lane = this.#lanes.get(agentId);
    if (lane === undefined || lane.isOver || lane.stepId !== stepId) {
      lane = { messageId: `${toolCallId}:call`, stepId, isOver: false };
      this.#lanes.set(agentId, lane);
    }
    this.#lastCalls.set(lane, toolCallId);
    return lane.messageId;
  }

  /** Ends the group after a call that the provider executes: its result follows in the same step, before further parts. */
  markProviderExecuted(toolCallId: string, { agentId = '' }: Attributed): void {
    const lane = this.#lanes.get(agentId);
    if (lane !== undefined && this.#lastCalls.get(lane) === toolCallId) lane.isOver = true;
  }
}
