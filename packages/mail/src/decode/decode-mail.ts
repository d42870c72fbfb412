import type { AgentEvent, Codec, Emit, End, Fault, OnLoss, Outcome, RunInput } from '@intertie/core';
import { toInterruptedOutcome, toJson } from '@intertie/core/internal';
import { DecodedMAILCalls } from './decode-mail-calls.ts';
import { agentOf } from '../shared/agent-of-event.ts';
import { asFields, listOf, asNonEmptyText, parseJson, asText, type Fields } from '../shared/fields.ts';
import type { AnnouncedCall } from './mail-calls.ts';
import { MAILDecoderContext } from './mail-decoder-context.ts';
import { aloneEvent, eventNames, warningEvent, type MAILFrame } from '../shared/mail-event.ts';
import { agentFault, completedFault, oldServerFault, taskFault } from '../shared/mail-faults.ts';
import type { MAILTaskStatus } from '../shared/mail-metadata.ts';
import type { MAILToolCalls } from '../shared/mail-settings.ts';
import { readMessage } from '../shared/read-message.ts';
import { toResumeToken } from '../shared/resume-token.ts';

export interface MAILDecoderOptions {
  /** The task, if it is known before the first event says it. */
  taskId?: string;
  /** Whether the run's metadata holds every event of the server. Default: no. */
  includeEvents?: boolean;
  /** Whether the turn answers a breakpoint. Default: no. */
  answersBreakpoint?: boolean;
  /** `all`: also emits the calls of MAIL's own tools, such as `send_request`. Default: `actions`. */
  toolCalls?: MAILToolCalls;
  onLoss?: OnLoss;
}

/**
 * Decodes the event stream of a MAIL 1.3 server. Ends the run as soon as its end is known, which is up to 15 s before the
 * server says so: at a breakpoint, at a described `task_error`, and where the server would ping forever.
 */
export function createMAILDecoder(run: RunInput, options: MAILDecoderOptions = {}): Codec<MAILFrame, AgentEvent> {
  return new MAILDecoder(run, options);
}

type Write = Emit<AgentEvent>;

/** The server's limit, which nobody outside of it can lift. */
const twoPauses =
  'Two agents paused at once. A MAIL server remembers the last pause alone, so one of them is never answered and the task ' +
  'may never end. Let one agent of a swarm have the breakpoint tools.';

class MAILDecoder implements Codec<MAILFrame, AgentEvent> {
  #context: MAILDecoderContext;
  #calls: DecodedMAILCalls;
  #seenMessages = new Set<string>();
  /** The system speaks, and is spoken of, under the swarm's name. */
  #swarm: string | undefined;
  /** The server has not said yet that it takes the answers. */
  #isAnswering: boolean;
  #isAnswered = false;
  #isOver = false;
  #cause: Fault | undefined;

  constructor(run: RunInput, options: MAILDecoderOptions) {
    const { taskId = '', includeEvents = false, answersBreakpoint = false, toolCalls = 'actions' } = options;
    const { onLoss = () => undefined } = options;
    const events = includeEvents && { events: [] };
    this.#context = new MAILDecoderContext(run, { taskId, taskStatus: 'running', agentTrace: [], ...events }, onLoss);
    this.#calls = new DecodedMAILCalls(this.#context, toolCalls);
    this.#isAnswering = answersBreakpoint;
  }

  feed(frame: MAILFrame, emit: Write): void {
    const { data } = frame;
    const event = eventNames.get(frame.event) ?? frame.event;
    if (this.#isOver) {
      const why = event === 'breakpoint_tool_call' ? twoPauses : 'It came after the run had ended.';
      if (event !== 'ping') this.#context.onLoss({ kind: 'late', what: event, why });
      return;
    }
    if (event === 'ping') return;
    const parsed = typeof data === 'string' ? parseJson(data) : data;
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return this.#malformed(frame, emit);
    this.#event(event, parsed as Fields, emit);
  }

  end(end: End, emit: Write): void {
    if (this.#isOver) return;
    this.#calls.release(emit);
    const message = 'The MAIL stream ended before the task did. The task may still be running at the server.';
    const cut: Outcome =
      end.reason === 'eof' ? { outcome: 'error', error: { message, code: 'truncated' } } : toInterruptedOutcome(end);
    this.#end(cut, 'running', emit);
  }

  #event(event: string, data: Fields, emit: Write): void {
    const { meta } = this.#context;
    const description = asText(data.description) ?? '';
    const extra = asFields(data.extra_data);
    this.#context.stamp(asText(data.timestamp));
    // Our own word says that another task took the place of the one that was asked for.
    if (event === warningEvent) meta.taskId = asNonEmptyText(data.task_id) ?? meta.taskId;
    else meta.taskId ||= asNonEmptyText(data.task_id) ?? '';
    meta.events?.push(toJson({ event, data }));
    const named = agentOf(event, description, extra);
    const agent = named === this.#swarm ? undefined : named;
    if (agent !== undefined) this.#context.trace(agent, event, data);
    this.#checkAnswered(event, emit);
    if (event !== 'tool_call' && event !== 'breakpoint_tool_call') this.#calls.release(emit);

    switch (event) {
      case 'new_message':
        return this.#message(data, extra, emit);
      case 'tool_call':
        return this.#calls.announce(agent, extra, data, emit);
      case 'action_call':
        return this.#calls.actionCall(agent, description, emit);
      case 'action_complete':
        return this.#calls.actionComplete(agent, description, data, emit);
      case 'action_error':
        return this.#calls.actionError(agent, description, emit);
      case 'builtin_tool_call':
        return this.#calls.builtin(agent, extra, data, emit);
      case 'breakpoint_tool_call':
        return this.#breakpoint(agent, description, emit);
      case 'breakpoint_action_complete':
        // The result came from our side, and is in the baseline.
        return;
      case 'task_complete_call_duplicate':
        this.#context.notice('info', event, description, agent, emit);
        if (!this.#isAnswered) this.#fail(completedFault, emit);
        return;
      case 'await_message':
      case 'help_called':
      case 'broadcast_ignored':
      case 'task_complete_call':
      case 'interswarm_message_sent':
      case 'interswarm_message_received':
        return this.#context.notice('info', event, description, agent, emit);
      case 'interswarm_message_error':
      case 'agent_error':
        this.#cause ??= agentFault(description);
        return this.#context.notice('error', event, description, agent, emit);
      case 'task_error':
        return this.#fail(this.#cause ?? taskFault(asText(data.response) ?? description), emit);
      case 'task_complete':
        return this.#taskComplete(data, emit);
      case aloneEvent:
        return this.#alone(emit);
      case warningEvent:
        return this.#context.notice('warning', event, description, undefined, emit);
      default:
        this.#context.raw({ event, data }, emit);
    }
  }

  #message(data: Fields, extra: Fields, emit: Write): void {
    const message = readMessage(extra.full_message);
    if (!message) return this.#context.unread('new_message', data, 'It has no full_message that can be read.', emit);
    const { id, senderType, sender, to, subject, body, type } = message;
    this.#swarm ??= message.swarm;
    if (senderType === 'user' || senderType === 'admin') {
      return this.#context.onLoss({
        kind: 'withheld',
        what: 'new_message',
        why: 'It is the echo of what was asked.',
        id,
      });
    }
    // A broadcast comes once per recipient.
    if (this.#seenMessages.has(id)) return;
    if (id !== '') this.#seenMessages.add(id);
    const providerMetadata = { mail: { taskId: this.#context.meta.taskId, messageId: id, subject, messageType: type } };
    if (senderType === 'system') {
      return emit({
        type: 'interjection',
        id: this.#context.ids.next(),
        role: 'system',
        name: sender,
        parts: [{ type: 'text', text: body }],
        to,
        internal: true,
        providerMetadata,
        at: this.#context.at,
      });
    }
    this.#context.trace(sender, 'new_message', data);
    if (type !== 'broadcast_complete') {
      const agentId = this.#context.agent(sender, emit);
      const { at } = this.#context;
      const part = this.#context.ids.next();
      return this.#context.text(
        { type: 'text-start', id: part, agentId, to, internal: true, providerMetadata, at },
        body,
        emit,
      );
    }
    if (this.#isAnswered) {
      return this.#context.onLoss({
        kind: 'withheld',
        what: 'new_message',
        why: 'The task has an answer already.',
        id,
      });
    }
    this.#answer(sender, body, emit);
  }

  #answer(agent: string, body: string, emit: Write): void {
    this.#isAnswered = true;
    const agentId = this.#context.agent(agent, emit);
    const providerMetadata = this.#context.partMeta();
    const { at } = this.#context;
    const id = this.#context.ids.next();
    this.#context.text(
      { type: 'text-start', id, agentId, to: undefined, internal: undefined, providerMetadata, at },
      body,
      emit,
    );
  }

  #taskComplete(data: Fields, emit: Write): void {
    const response = asText(data.response);
    const pending =
      response === undefined ? undefined : parsePendingCalls(response, this.#context.meta.currentAgent ?? 'supervisor');
    if (pending && !this.#isAnswered) return this.#pause(pending, emit);
    const author = response === undefined ? undefined : this.#calls.finishMessages.get(response);
    if (!this.#isAnswered && author !== undefined && response !== undefined) {
      const why = 'The final message was missing; the server’s last word repeats it.';
      this.#context.onLoss({ kind: 'repaired', what: 'task_complete', why });
      this.#answer(author, response, emit);
    }
    if (this.#isAnswered) return this.#end({ outcome: 'complete' }, 'completed', emit);
    // Without the final message of an agent, the response is the runtime's own complaint.
    this.#fail(this.#cause ?? taskFault(response ?? asText(data.description) ?? ''), emit);
  }

  #breakpoint(agent: string | undefined, description: string, emit: Write): void {
    const held = this.#calls.hold(agent, description, emit);
    // Without the calls there are no ids to answer; the server lists them once more in its last word.
    if (held.length === 0) return this.#context.notice('warning', 'breakpoint_tool_call', description, agent, emit);
    this.#pause(held, emit);
  }

  #pause(calls: AnnouncedCall[], emit: Write): void {
    const ids = this.#calls.pause(calls, emit);
    const { meta } = this.#context;
    // A call without an id cannot be answered.
    const pending = calls.flatMap(({ wireId }) => (wireId === '' ? [] : [wireId]));
    if (meta.taskId !== '' && pending.length > 0) {
      meta.resumeToken = toResumeToken({ taskId: meta.taskId, calls: pending });
    }
    const waitingFor = ids.map((toolCallId) => ({ type: 'tool' as const, toolCallId }));
    this.#end({ outcome: 'paused', waitingFor }, 'paused', emit);
  }

  /** A server that takes the answers to a breakpoint says so first. Where it does not, they are of a pause that it forgot. */
  #checkAnswered(event: string, emit: Write): void {
    if (!this.#isAnswering) return;
    this.#isAnswering = false;
    if (event === 'breakpoint_action_complete' || event === 'task_error' || event === warningEvent) return;
    this.#context.notice('warning', 'mail-two-pauses', twoPauses, undefined, emit);
  }

  /** There is nobody else who would read the words: they are for the user, and nothing more will come. */
  #alone(emit: Write): void {
    const { lastText } = this.#calls;
    if (lastText === undefined || this.#isAnswered) return;
    const message = `${lastText.agent} answered without task_complete, and has no other agent to talk to. The server waits forever.`;
    this.#context.notice('warning', 'mail-text-output', message, lastText.agent, emit);
    this.#answer(lastText.agent, lastText.text, emit);
    this.#end({ outcome: 'complete' }, 'running', emit);
  }

  #fail(error: Fault, emit: Write): void {
    this.#end({ outcome: 'error', error }, 'error', emit);
  }

  #end(outcome: Outcome, status: MAILTaskStatus, emit: Write): void {
    this.#isOver = true;
    this.#context.meta.taskStatus = status;
    if (outcome.outcome === 'error') this.#context.meta.error = outcome.error.message;
    const { meta, at } = this.#context;
    for (const agentId of this.#context.agentIds) emit({ type: 'agent-end', agentId, at, ...agentOutcome(outcome) });
    emit({
      type: 'run-end',
      finishReason: outcome.outcome === 'complete' ? 'stop' : undefined,
      resume: meta.taskId === '' ? undefined : { taskId: meta.taskId, status },
      providerMetadata: { mail: meta },
      at,
      ...outcome,
    });
  }

  #malformed(frame: MAILFrame, emit: Write): void {
    this.#context.raw(frame, emit);
    if (typeof frame.data === 'string' && /^\{'\w+': /.test(frame.data)) return this.#fail(oldServerFault, emit);
    const message = `A MAIL event "${frame.event}" could not be read: its data is no JSON object.`;
    this.#context.notice('warning', 'mail-malformed', message, undefined, emit);
  }
}

/** Of all agents only the run knows what it waits for. */
function agentOutcome(outcome: Outcome): Outcome {
  return outcome.outcome === 'paused' ? { outcome: 'paused', waitingFor: [] } : outcome;
}

/** Parses the list of open calls that a paused server sends as its final response. Undefined: the response is an answer. */
function parsePendingCalls(response: string, agent: string): AnnouncedCall[] | undefined {
  if (!response.startsWith('[')) return undefined;
  const list = listOf(parseJson(response)).map(asFields);
  if (list.length === 0 || !list.every((call) => call.type === 'function_call' && asNonEmptyText(call.name)))
    return undefined;
  return list.map((call) => ({
    agent,
    toolName: asNonEmptyText(call.name) ?? '',
    input: parseJson(asText(call.arguments) ?? ''),
    wireId: asText(call.call_id) ?? '',
  }));
}
