import type { JsonObject } from '@intertie/core';
import type { MAILAddress, MAILToolCall } from '../shared/mail-event.ts';

/** Name of the demo swarm, and of its system sender. */
export const demoSwarm = 'demo';

export type DemoEvent = { event: string; data: JsonObject };
type PendingCall = { id: string; name: string; args: JsonObject };

/** How a request ended. `isStalled`: the stream notices the end only at its next ping. */
export type DemoEnd = { response: string; isStalled: boolean };

/** Task of the demo server, with the events of all its requests. */
export class DemoTask {
  readonly id: string;
  readonly owner: string;
  readonly events: DemoEvent[] = [];
  readonly startedAt: string;
  isRunning = false;
  isCompleted = false;
  pending: PendingCall[] = [];
  end: DemoEnd | undefined;
  #now: () => Date;
  #newId: () => string;
  #listeners = new Set<() => void>();
  #calls = 0;

  constructor(id: string, owner: string, now: () => Date, newId: () => string) {
    this.id = id;
    this.owner = owner;
    this.#now = now;
    this.#newId = newId;
    this.startedAt = this.timestamp();
  }

  timestamp(): string {
    return this.#now().toISOString().replace('Z', '000+00:00');
  }

  log(event: string, description: string, extra: JsonObject = {}): void {
    const data = { timestamp: this.timestamp(), description, task_id: this.id, extra_data: extra };
    this.events.push({ event, data });
    this.wake();
  }

  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Resolves at the next event, or after `ms`. */
  async waitForChange(ms: number): Promise<'change' | 'timeout'> {
    return new Promise((resolve) => {
      const done = (what: 'change' | 'timeout'): void => {
        clearTimeout(timer);
        this.#listeners.delete(onChange);
        resolve(what);
      };
      const onChange = (): void => done('change');
      const timer = setTimeout(() => done('timeout'), ms);
      this.#listeners.add(onChange);
    });
  }

  sendMessage(from: MAILAddress, to: string[], subject: string, body: string, type = 'request'): void {
    const agents = to.map((address) => ({ address_type: 'agent', address }));
    const isDirect = type === 'request' || type === 'response';
    const message = {
      task_id: this.id,
      [isDirect ? 'request_id' : 'broadcast_id']: this.#newId(),
      sender: from,
      ...(isDirect ? { recipient: agents[0] ?? null } : { recipients: agents }),
      subject,
      body,
      sender_swarm: from.address_type === 'agent' && type !== 'broadcast_complete' ? null : demoSwarm,
      routing_info: {},
    };
    const lead = type === 'broadcast_complete' ? `task_complete response from ${from.address}` : 'sending message';
    this.log('new_message', `${lead}:\n\n<incoming_message>\n<body>${body}</body>\n</incoming_message>\n`, {
      full_message: { id: this.#newId(), timestamp: this.timestamp(), message, msg_type: type },
    });
  }

  /** Logs a `tool_call`, the only event that contains the call's id. */
  call(
    agent: string,
    toolName: string,
    args: JsonObject,
    thought: Pick<MAILToolCall, 'reasoning' | 'preamble'> = {},
  ): PendingCall {
    this.#calls += 1;
    const call = { id: `call_${this.#calls}`, name: toolName, args };
    const extra = { tool_name: toolName, tool_args: args, tool_call_id: call.id, ...thought };
    this.log('tool_call', `agent ${agent} called ${toolName}`, extra);
    return call;
  }

  /** Pauses at breakpoint tools. The stream notices only at its next ping. */
  pause(agent: string, calls: PendingCall[]): void {
    const names = calls.map(({ name }) => name).join(', ');
    const args = calls.map((call) => JSON.stringify(call.args)).join(', ');
    this.log('breakpoint_tool_call', `agent ${agent} used breakpoint tools ${names} with args: ${args}`);
    this.pending = calls;
    this.isRunning = false;
    const response = calls.map((call) => ({
      arguments: JSON.stringify(call.args),
      call_id: call.id,
      name: call.name,
      type: 'function_call',
      id: `fc_${call.id}`,
      status: 'completed',
    }));
    this.end = { response: JSON.stringify(response), isStalled: true };
  }

  complete(agent: string, answer: string, reasoning: string): void {
    this.call(agent, 'task_complete', { finish_message: answer }, { reasoning });
    this.log('task_complete_call', `agent ${agent} called task_complete, full response to follow`);
    this.sendMessage(
      { address_type: 'agent', address: agent },
      ['all'],
      '::task_complete::',
      answer,
      'broadcast_complete',
    );
    this.isRunning = false;
    this.isCompleted = true;
    this.end = { response: answer, isStalled: false };
    this.wake();
  }

  /** Fails like the real server: the swarm's error message is addressed to the swarm itself. */
  fail(agent: string, why: string): void {
    const system: MAILAddress = { address_type: 'system', address: demoSwarm };
    this.log('agent_error', `error scheduling message for agent ${agent}: ${why}`);
    this.log('agent_error', `agent ${demoSwarm} attempted to send a message to the user (${this.owner})`);
    const body = `The user ('${this.owner}') is unable to respond to your message.`;
    this.sendMessage(system, [demoSwarm], '::improper_response_to_user::', body, 'response');
    this.log('agent_error', `error scheduling message for agent ${demoSwarm}: '${demoSwarm}'`);
    const description = `agent ${demoSwarm} is the swarm name; message from ${demoSwarm} cannot be delivered to it`;
    this.log('task_error', description);
    this.isRunning = false;
    const response = `A message was detected with sender '${demoSwarm}' and recipient '${demoSwarm}'.`;
    this.end = { response, isStalled: true };
  }
}
