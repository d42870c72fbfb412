/** Call from a `tool_call`. `wireId` is the vendor's id, which may be empty or repeated. */
export type AnnouncedCall = { agent: string; toolName: string; input: unknown; wireId: string };
/** Emitted call without a result. */
export type OpenCall = { agent: string; toolName: string; toolCallId: string; isRunning: boolean };

/**
 * Pairs results with calls, because `action_complete` and `action_error` have no id. An agent announces its calls in one batch
 * and runs them sequentially in that order; agents interleave.
 */
export class MAILCalls {
  #open: OpenCall[] = [];

  add(call: OpenCall): void {
    this.#open.push(call);
  }

  /** `action_call`: marks the agent's oldest waiting call of the tool as running. */
  start(agent: string, toolName: string): OpenCall | undefined {
    const call = this.#open.find((open) => open.agent === agent && open.toolName === toolName && !open.isRunning);
    if (call) call.isRunning = true;
    return call;
  }

  /** `action_complete`: removes the agent's running call, else its oldest. */
  settle(agent: string): OpenCall | undefined {
    const own = this.#open.filter((open) => open.agent === agent);
    return this.#remove(own.find((open) => open.isRunning) ?? own[0]);
  }

  /** `action_error` for a call that never ran. Often only the tool is named. */
  refuse(agent: string | undefined, toolName: string | undefined): OpenCall | undefined {
    return this.#remove(
      this.#open.find(
        (open) =>
          (agent === undefined || open.agent === agent) && (toolName === undefined || open.toolName === toolName),
      ),
    );
  }

  #remove(call: OpenCall | undefined): OpenCall | undefined {
    if (call) this.#open.splice(this.#open.indexOf(call), 1);
    return call;
  }
}
