/** A call that an agent has announced. `wireId` is the vendor's, which may be empty or come twice. */
export type AnnouncedCall = { agent: string; toolName: string; input: unknown; wireId: string };
/** A call that is in the stream and has no result yet. */
export type OpenCall = { agent: string; toolName: string; toolCallId: string; isRunning: boolean };

/**
 * Pairs what the server does not pair: `action_complete` and its like carry no id. Per agent, calls are announced in one
 * batch and then run one after the other, in that order; agents interleave freely.
 */
export class MAILCalls {
  #open: OpenCall[] = [];

  add(call: OpenCall): void {
    this.#open.push(call);
  }

  /** `action_call`: the oldest call of the agent to this tool is being run. */
  start(agent: string, toolName: string): OpenCall | undefined {
    const call = this.#open.find((open) => open.agent === agent && open.toolName === toolName && !open.isRunning);
    if (call) call.isRunning = true;
    return call;
  }

  /** `action_complete`: the one that runs, else the oldest. */
  settle(agent: string): OpenCall | undefined {
    const own = this.#open.filter((open) => open.agent === agent);
    return this.#remove(own.find((open) => open.isRunning) ?? own[0]);
  }

  /** `action_error` before anything ran: often the tool's name alone is said. */
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
