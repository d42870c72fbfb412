type Lane = { messageId: string; stepId: string | undefined; isOver: boolean };
type Place = { agentId?: string; stepId?: string };

/**
 * Which AG-UI message a tool call belongs to. A text is a message of its own, and the calls that follow it in the same turn
 * are in it. What comes between, and the result of a provider's tool, begin a new one, so that the order stays as it was
 * said. One instance follows one message, live or stored: both give the same ids.
 */
export class MessageGroups {
  #lanes = new Map<string, Lane>();
  #lastCalls = new Map<Lane, string>();

  text(messageId: string, { agentId = '', stepId }: Place): void {
    this.#lanes.set(agentId, { messageId, stepId, isOver: false });
  }

  /** Something else is said: the next call is in a message of its own. */
  interrupt({ agentId = '' }: Place): void {
    this.#lanes.delete(agentId);
  }

  call(toolCallId: string, { agentId = '', stepId }: Place): string {
    let lane = this.#lanes.get(agentId);
    if (lane === undefined || lane.isOver || lane.stepId !== stepId) {
      lane = { messageId: `${toolCallId}:call`, stepId, isOver: false };
      this.#lanes.set(agentId, lane);
    }
    this.#lastCalls.set(lane, toolCallId);
    return lane.messageId;
  }

  /** The provider runs it: its result comes in the same turn, before what is said next. */
  isProviders(toolCallId: string, { agentId = '' }: Place): void {
    const lane = this.#lanes.get(agentId);
    if (lane !== undefined && this.#lastCalls.get(lane) === toolCallId) lane.isOver = true;
  }
}
