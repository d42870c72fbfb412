import type {
  AgentEvent,
  Codec,
  Emit,
  EventOf,
  Json,
  JsonObject,
  OnLoss,
  Outcome,
  RunInput,
  ToolResult,
} from '@intertie/core';
import { MailFrames, type MailMessageType, type MailSender } from './mail-frames.ts';

type Write = Emit<unknown>;
type Words = { agent: string; text: string; internal: boolean; to: string[]; isThought: boolean };
type Call = { agent: string; name: string; args: Json };

/** Who speaks where nobody is named: MAIL knows no words without an agent. */
const nobody = 'supervisor';

/**
 * What a MAIL 1.3 server would say of a run, for front ends and clients that are developed without one. MAIL has whole messages,
 * one answer, and no approvals: what it cannot say is entered in the ledger.
 */
export function createMAILEncoder(run: RunInput, onLoss: OnLoss): Codec<AgentEvent, unknown> {
  const encoder = new MailEncoder(run, onLoss);
  return { feed: (event, emit) => encoder.feed(event, emit), end() {} };
}

class MailEncoder {
  #run: string;
  #frames: MailFrames;
  #onLoss: OnLoss;
  #agents = new Map<string, string>();
  #words = new Map<string, Words>();
  #calls = new Map<string, Call>();
  #questions = new Map<string, string>();
  /** What an agent has thought since its last call. */
  #thoughts = new Map<string, string>();
  /** What was said to the user and may yet be the answer. */
  #said: { agent: string; text: string } | undefined;

  constructor({ threadId, runId, startedAt }: RunInput, onLoss: OnLoss) {
    this.#run = runId;
    this.#frames = new MailFrames(threadId, runId, startedAt);
    this.#onLoss = onLoss;
  }

  feed(event: AgentEvent, emit: Write): void {
    if (event.at !== undefined) this.#frames.setTime(event.at);
    switch (event.type) {
      case 'message-snapshot':
        for (const [id, { name }] of Object.entries(event.content.agents ?? {})) this.#agents.set(id, name);
        return;
      case 'agent-start':
        return void this.#agents.set(event.agentId, event.name);
      case 'text-start':
      case 'reasoning-start': {
        const { agentId, internal = false, to = [] } = event;
        const isThought = event.type === 'reasoning-start';
        return void this.#words.set(event.id, { agent: this.#name(agentId), text: '', internal, to, isThought });
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const words = this.#words.get(event.id);
        if (words) words.text += event.delta;
        return;
      }
      case 'text-end':
      case 'reasoning-end':
        return this.#speak(event.id, emit);
      case 'tool-call':
        return this.#call(event, emit);
      case 'tool-result':
        return this.#result(event, emit);
      case 'question':
        return void this.#questions.set(event.questionId, event.message ?? event.reason ?? 'May it go on?');
      case 'interjection': {
        const text = event.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
        return this.#message(
          { type: event.role, name: event.name ?? event.role },
          event.to ?? [nobody],
          text,
          'response',
          emit,
        );
      }
      case 'file':
      case 'source':
      case 'data':
      case 'state-snapshot':
        return this.#lose(event.type, 'MAIL has no event for it.');
      case 'run-end':
        return this.#end(event, emit);
      default:
        // Steps, notices and pieces of what comes whole have no place of their own in MAIL, and take nothing with them.
        return;
    }
  }

  #name(agentId: string | undefined): string {
    return (agentId === undefined ? undefined : this.#agents.get(agentId)) ?? nobody;
  }

  #lose(what: string, why: string): void {
    this.#onLoss({ kind: 'unsupported', what, why });
  }

  #log(event: string, description: string, extra: JsonObject, emit: Write): void {
    emit(this.#frames.log(event, description, extra));
  }

  #message(from: MailSender, to: readonly string[], body: string, type: MailMessageType, emit: Write): void {
    emit(this.#frames.message(from, to, body, type));
  }

  #speak(id: string, emit: Write): void {
    const words = this.#words.get(id);
    this.#words.delete(id);
    if (!words || words.text === '') return;
    const { agent, text, internal, to, isThought } = words;
    if (isThought) this.#thoughts.set(agent, join(this.#thoughts.get(agent), text));
    else if (internal) this.#message({ type: 'agent', name: agent }, to, text, 'request', emit);
    else if (this.#said?.agent === agent) this.#said.text = join(this.#said.text, text);
    else {
      this.#passOn(agent, emit);
      this.#said = { agent, text };
    }
  }

  /** Only the last agent's words can be the answer; what another has said before goes to the one who speaks now. */
  #passOn(to: string, emit: Write): void {
    if (!this.#said) return;
    const { agent, text } = this.#said;
    this.#said = undefined;
    this.#message({ type: 'agent', name: agent }, [to], text, 'response', emit);
    this.#onLoss({
      kind: 'repaired',
      what: 'text',
      why: 'MAIL has one answer; what was said before it is a message between agents.',
    });
  }

  #announce(agent: string, name: string, args: Json, id: string, emit: Write): void {
    const reasoning = this.#thoughts.get(agent);
    const preamble = this.#said?.agent === agent && name !== 'task_complete' ? this.#said.text : undefined;
    this.#thoughts.delete(agent);
    if (preamble !== undefined) this.#said = undefined;
    this.#log(
      'tool_call',
      `agent ${agent} called ${name}`,
      {
        tool_name: name,
        tool_args: args,
        tool_call_id: id,
        ...(reasoning !== undefined && { reasoning }),
        ...(preamble !== undefined && { preamble }),
      },
      emit,
    );
  }

  #call({ toolCallId, toolName: name, input: args, agentId }: EventOf<'tool-call'>, emit: Write): void {
    const agent = this.#name(agentId);
    this.#calls.set(toolCallId, { agent, name, args });
    this.#announce(agent, name, args, toolCallId, emit);
  }

  #result(event: EventOf<'tool-result'>, emit: Write): void {
    const call = this.#calls.get(event.toolCallId);
    if (!call || (event.status === 'ok' && event.preliminary)) return;
    this.#calls.delete(event.toolCallId);
    const { agent, name, args } = call;
    this.#log(
      'action_call',
      `agent ${agent} executing action tool: ${name} with args: ${JSON.stringify(args)}`,
      {},
      emit,
    );
    if (event.status === 'ok')
      this.#log('action_complete', `action complete (caller = ${agent}):\n${outputOf(event)}`, {}, emit);
    else this.#log('action_error', `action error (caller = ${agent}, tool = ${name}):\n${outputOf(event)}`, {}, emit);
  }

  #end(end: EventOf<'run-end'>, emit: Write): void {
    switch (end.outcome) {
      case 'complete':
        this.#complete(emit);
        break;
      case 'paused':
        this.#pause(end, emit);
        break;
      case 'aborted':
        this.#lose('run-end', 'MAIL cannot say that a task was stopped; it is told as an error.');
        this.#fail(end.reason ?? 'The task was stopped.', emit);
        break;
      case 'error':
        this.#fail(end.error.message, emit);
    }
    for (const agent of this.#thoughts.keys()) {
      this.#lose('reasoning', `MAIL has thoughts beside calls alone, and ${agent} made none after it.`);
    }
  }

  #fail(response: string, emit: Write): void {
    // What has been said is no answer, and not lost either.
    this.#passOn(nobody, emit);
    this.#last('task_error', response, emit);
  }

  #last(event: string, response: string, emit: Write): void {
    emit(this.#frames.last(event, response));
  }

  #complete(emit: Write): void {
    const { agent, text } = this.#said ?? { agent: nobody, text: '' };
    this.#announce(agent, 'task_complete', { finish_message: text }, `${this.#run}:end`, emit);
    this.#log('task_complete_call', `agent ${agent} called task_complete, full response to follow`, {}, emit);
    this.#message({ type: 'agent', name: agent }, ['all'], text, 'broadcast_complete', emit);
    this.#last('task_complete', text, emit);
  }

  #pause({ waitingFor }: Extract<Outcome, { outcome: 'paused' }>, emit: Write): void {
    const calls = waitingFor.flatMap((waiting) => {
      const call = waiting.type === 'tool' ? this.#calls.get(waiting.toolCallId) : undefined;
      return call && waiting.type === 'tool' ? [{ ...call, id: waiting.toolCallId }] : [];
    });
    for (const waiting of waitingFor) {
      if (waiting.type !== 'question') continue;
      this.#lose('question', 'MAIL asks nobody; the question is the answer, and the task is complete.');
      const text = join(this.#said?.text, this.#questions.get(waiting.questionId) ?? '');
      this.#said = { agent: this.#said?.agent ?? nobody, text };
    }
    if (calls.length === 0) return this.#complete(emit);
    const agent = calls[0]?.agent ?? nobody;
    const names = calls.map(({ name }) => name).join(', ');
    const args = calls.map((call) => JSON.stringify(call.args)).join(', ');
    this.#log('breakpoint_tool_call', `agent ${agent} used breakpoint tools ${names} with args: ${args}`, {}, emit);
    const response = calls.map(({ id, name, args: input }) => ({
      arguments: JSON.stringify(input),
      call_id: id,
      name,
      type: 'function_call',
      id: `fc_${id}`,
      status: 'completed',
    }));
    this.#last('task_complete', JSON.stringify(response), emit);
  }
}

function join(before: string | undefined, text: string): string {
  return before === undefined || before === '' ? text : `${before}\n\n${text}`;
}

function outputOf(result: ToolResult): string {
  if (result.status === 'error') return result.error.message;
  if (result.status === 'denied') return result.reason ?? 'It was denied.';
  return typeof result.output === 'string' ? result.output : JSON.stringify(result.output);
}
