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

type EmitFrame = Emit<unknown>;
type OpenText = { agent: string; text: string; internal: boolean; to: string[]; isReasoning: boolean };
type Call = { agent: string; name: string; args: Json };

/** Agent of events without one: every MAIL message has a sender. */
const defaultAgent = 'supervisor';

/**
 * Encodes a run as the events of a MAIL 1.3 server, to develop clients without one. MAIL has whole messages, one answer and no
 * approvals; everything else is reported as a loss.
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
  #openTexts = new Map<string, OpenText>();
  #calls = new Map<string, Call>();
  #questions = new Map<string, string>();
  /** Reasoning by agent since its last call. */
  #reasoning = new Map<string, string>();
  /** Last text for the user, which becomes the answer if no other agent writes after it. */
  #pendingAnswer: { agent: string; text: string } | undefined;

  constructor({ threadId, runId, startedAt }: RunInput, onLoss: OnLoss) {
    this.#run = runId;
    this.#frames = new MailFrames(threadId, runId, startedAt);
    this.#onLoss = onLoss;
  }

  feed(event: AgentEvent, emit: EmitFrame): void {
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
        const isReasoning = event.type === 'reasoning-start';
        return void this.#openTexts.set(event.id, {
          agent: this.#getName(agentId),
          text: '',
          internal,
          to,
          isReasoning,
        });
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const open = this.#openTexts.get(event.id);
        if (open) open.text += event.delta;
        return;
      }
      case 'text-end':
      case 'reasoning-end':
        return this.#endText(event.id, emit);
      case 'tool-call':
        return this.#call(event, emit);
      case 'tool-result':
        return this.#emitResult(event, emit);
      case 'question':
        return void this.#questions.set(event.questionId, event.message ?? event.reason ?? 'Approval required');
      case 'interjection': {
        const text = event.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
        return this.#emitMessage(
          { type: event.role, name: event.name ?? event.role },
          event.to ?? [defaultAgent],
          text,
          'response',
          emit,
        );
      }
      case 'file':
      case 'source':
      case 'data':
      case 'state-snapshot':
        return this.#reportLoss(event.type, 'MAIL has no such event.');
      case 'run-end':
        return this.#end(event, emit);
      default:
        // MAIL has no steps, notices or deltas. Dropping them loses no content.
        return;
    }
  }

  #getName(agentId: string | undefined): string {
    return (agentId === undefined ? undefined : this.#agents.get(agentId)) ?? defaultAgent;
  }

  #reportLoss(what: string, why: string): void {
    this.#onLoss({ kind: 'unsupported', what, why });
  }

  #emitLog(event: string, description: string, extra: JsonObject, emit: EmitFrame): void {
    emit(this.#frames.log(event, description, extra));
  }

  #emitMessage(from: MailSender, to: readonly string[], body: string, type: MailMessageType, emit: EmitFrame): void {
    emit(this.#frames.message(from, to, body, type));
  }

  #endText(id: string, emit: EmitFrame): void {
    const open = this.#openTexts.get(id);
    this.#openTexts.delete(id);
    if (!open || open.text === '') return;
    const { agent, text, internal, to, isReasoning } = open;
    if (isReasoning) this.#reasoning.set(agent, join(this.#reasoning.get(agent), text));
    else if (internal) this.#emitMessage({ type: 'agent', name: agent }, to, text, 'request', emit);
    else if (this.#pendingAnswer?.agent === agent) this.#pendingAnswer.text = join(this.#pendingAnswer.text, text);
    else {
      this.#sendPendingAnswer(agent, emit);
      this.#pendingAnswer = { agent, text };
    }
  }

  /** Sends the pending answer to the next agent, because only the last agent's text can be the answer. */
  #sendPendingAnswer(to: string, emit: EmitFrame): void {
    if (!this.#pendingAnswer) return;
    const { agent, text } = this.#pendingAnswer;
    this.#pendingAnswer = undefined;
    this.#emitMessage({ type: 'agent', name: agent }, [to], text, 'response', emit);
    this.#onLoss({
      kind: 'repaired',
      what: 'text',
      why: 'MAIL has one answer, so earlier text is sent as a message between agents.',
    });
  }

  #emitToolCall(agent: string, name: string, args: Json, id: string, emit: EmitFrame): void {
    const reasoning = this.#reasoning.get(agent);
    const preamble =
      this.#pendingAnswer?.agent === agent && name !== 'task_complete' ? this.#pendingAnswer.text : undefined;
    this.#reasoning.delete(agent);
    if (preamble !== undefined) this.#pendingAnswer = undefined;
    this.#emitLog(
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

  #call({ toolCallId, toolName: name, input: args, agentId }: EventOf<'tool-call'>, emit: EmitFrame): void {
    const agent = this.#getName(agentId);
    this.#calls.set(toolCallId, { agent, name, args });
    this.#emitToolCall(agent, name, args, toolCallId, emit);
  }

  #emitResult(event: EventOf<'tool-result'>, emit: EmitFrame): void {
    const call = this.#calls.get(event.toolCallId);
    if (!call || (event.status === 'ok' && event.preliminary)) return;
    this.#calls.delete(event.toolCallId);
    const { agent, name, args } = call;
    this.#emitLog(
      'action_call',
      `agent ${agent} executing action tool: ${name} with args: ${JSON.stringify(args)}`,
      {},
      emit,
    );
    if (event.status === 'ok')
      this.#emitLog('action_complete', `action complete (caller = ${agent}):\n${formatOutput(event)}`, {}, emit);
    else
      this.#emitLog(
        'action_error',
        `action error (caller = ${agent}, tool = ${name}):\n${formatOutput(event)}`,
        {},
        emit,
      );
  }

  #end(end: EventOf<'run-end'>, emit: EmitFrame): void {
    switch (end.outcome) {
      case 'complete':
        this.#complete(emit);
        break;
      case 'paused':
        this.#pause(end, emit);
        break;
      case 'aborted':
        this.#reportLoss('run-end', 'MAIL has no event for a stopped task, so it is sent as an error.');
        this.#fail(end.reason ?? 'The task was stopped.', emit);
        break;
      case 'error':
        this.#fail(end.error.message, emit);
    }
    for (const agent of this.#reasoning.keys()) {
      this.#reportLoss(
        'reasoning',
        `MAIL transports reasoning only with a tool call, and ${agent} made none after it.`,
      );
    }
  }

  #fail(response: string, emit: EmitFrame): void {
    // A failed task has no answer, so the pending one is sent as a message.
    this.#sendPendingAnswer(defaultAgent, emit);
    this.#emitFinal('task_error', response, emit);
  }

  #emitFinal(event: string, response: string, emit: EmitFrame): void {
    emit(this.#frames.final(event, response));
  }

  #complete(emit: EmitFrame): void {
    const { agent, text } = this.#pendingAnswer ?? { agent: defaultAgent, text: '' };
    this.#emitToolCall(agent, 'task_complete', { finish_message: text }, `${this.#run}:end`, emit);
    this.#emitLog('task_complete_call', `agent ${agent} called task_complete, full response to follow`, {}, emit);
    this.#emitMessage({ type: 'agent', name: agent }, ['all'], text, 'broadcast_complete', emit);
    this.#emitFinal('task_complete', text, emit);
  }

  #pause({ waitingFor }: Extract<Outcome, { outcome: 'paused' }>, emit: EmitFrame): void {
    const calls = waitingFor.flatMap((waiting) => {
      const call = waiting.type === 'tool' ? this.#calls.get(waiting.toolCallId) : undefined;
      return call && waiting.type === 'tool' ? [{ ...call, id: waiting.toolCallId }] : [];
    });
    for (const waiting of waitingFor) {
      if (waiting.type !== 'question') continue;
      this.#reportLoss('question', 'MAIL has no questions, so the question is sent as the answer of a completed task.');
      const text = join(this.#pendingAnswer?.text, this.#questions.get(waiting.questionId) ?? '');
      this.#pendingAnswer = { agent: this.#pendingAnswer?.agent ?? defaultAgent, text };
    }
    if (calls.length === 0) return this.#complete(emit);
    const agent = calls[0]?.agent ?? defaultAgent;
    const names = calls.map(({ name }) => name).join(', ');
    const args = calls.map((call) => JSON.stringify(call.args)).join(', ');
    this.#emitLog('breakpoint_tool_call', `agent ${agent} used breakpoint tools ${names} with args: ${args}`, {}, emit);
    const response = calls.map(({ id, name, args: input }) => ({
      arguments: JSON.stringify(input),
      call_id: id,
      name,
      type: 'function_call',
      id: `fc_${id}`,
      status: 'completed',
    }));
    this.#emitFinal('task_complete', JSON.stringify(response), emit);
  }
}

function join(before: string | undefined, text: string): string {
  return before === undefined || before === '' ? text : `${before}\n\n${text}`;
}

function formatOutput(result: ToolResult): string {
  if (result.status === 'error') return result.error.message;
  if (result.status === 'denied') return result.reason ?? 'The call was denied.';
  return typeof result.output === 'string' ? result.output : JSON.stringify(result.output);
}
