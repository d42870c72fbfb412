import type { AgentEvent, Codec, Emit, End, Fault, OnLoss, Outcome, RunInput } from '@intertie/core';
import { toJson } from '@intertie/core';
import { toInterruptedOutcome } from '@intertie/core/internal';
import { MAILCallDecoder } from './decode-mail-calls.ts';
import { findEventAgent } from '../shared/find-event-agent.ts';
import { asFields, asNonEmptyText, parseJson, asText, type Fields } from '../shared/fields.ts';
import type { AnnouncedCall } from './mail-calls.ts';
import { parsePendingCalls } from './pending-calls.ts';
import { MAILDecoderContext } from './mail-decoder-context.ts';
import { singleAgentEvent, eventNames, warningEvent, type MAILFrame } from '../shared/mail-event.ts';
import { toAgentFault, completedTaskFault, oldServerFault, toTaskFault } from '../shared/mail-faults.ts';
import type { MAILTaskStatus } from '../shared/mail-metadata.ts';
import type { MAILToolCalls } from '../shared/mail-settings.ts';
import { readMessage } from '../shared/read-message.ts';
import { toResumeToken } from '../shared/resume-token.ts';

export interface MAILDecoderOptions {
  /** Id of the task, if known before the first event. */
  taskId?: string;
  /** Adds every event of the server to the run's metadata. Default: false. */
  includeEvents?: boolean;
  /** Whether the request answers a breakpoint. Default: false. */
  answersBreakpoint?: boolean;
  /** `all`: also emits the calls of MAIL's own tools, such as `send_request`. Default: `actions`. */
  toolCalls?: MAILToolCalls;
  onLoss?: OnLoss;
}

/**
 * Decodes the event stream of a MAIL 1.3 server. Ends the run as soon as its outcome is known, up to 15 s before the server
 * closes the stream: at a breakpoint, at a `task_error` with a description, and where the server would ping forever.
 */
export function createMAILDecoder(run: RunInput, options: MAILDecoderOptions = {}): Codec<MAILFrame, AgentEvent> {
  return new MAILDecoder(run, options);
}

type EmitEvent = Emit<AgentEvent>;

/** Limitation of the server that a client cannot work around. */
const concurrentPauses =
  'Two agents are paused at the same time. A MAIL server remembers only the last pause, so one of them is never answered ' +
  'and the task may never end. Give the breakpoint tools to only one agent of a swarm.';

class MAILDecoder implements Codec<MAILFrame, AgentEvent> {
  #context: MAILDecoderContext;
  #calls: MAILCallDecoder;
  #seenMessages = new Set<string>();
  /** Name of the swarm, which the system uses as its own name. */
  #swarm: string | undefined;
  /** Whether the request answers a breakpoint and the server has not acknowledged it yet. */
  #awaitsAcknowledgement: boolean;
  /**
   * Whether the answer of the task was emitted. A server sends the answer up to three times: as the `task_complete` call of the
   * supervisor, as a `broadcast_complete` message to every agent, and as the response of the final `task_complete` event. The call is
   * only remembered (`authorByAnswer`); the first of the other two is emitted, and later ones are withheld.
   */
  #isAnswered = false;
  #isOver = false;
  #cause: Fault | undefined;

  constructor(run: RunInput, options: MAILDecoderOptions) {
    const { taskId = '', includeEvents = false, answersBreakpoint = false, toolCalls = 'actions' } = options;
    const { onLoss = () => undefined } = options;
    const events = includeEvents && { events: [] };
    this.#context = new MAILDecoderContext(run, { taskId, taskStatus: 'running', agentTrace: [], ...events }, onLoss);
    this.#calls = new MAILCallDecoder(this.#context, toolCalls);
    this.#awaitsAcknowledgement = answersBreakpoint;
  }

  feed(frame: MAILFrame, emit: EmitEvent): void {
    const { data } = frame;
    const event = eventNames.get(frame.event) ?? frame.event;
    if (this.#isOver) {
      const why = event === 'breakpoint_tool_call' ? concurrentPauses : 'The event arrived after the end of the run.';
      if (event !== 'ping') this.#context.onLoss({ kind: 'late', what: event, why });
      return;
    }
    if (event === 'ping') return;
    const parsed = typeof data === 'string' ? parseJson(data) : data;
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      return this.#reportMalformed(frame, emit);
    this.#decodeEvent(event, parsed as Fields, emit);
  }

  end(end: End, emit: EmitEvent): void {
    if (this.#isOver) return;
    this.#calls.releaseBatch(emit);
    const message = 'The MAIL stream ended before the task. The task may still be running on the server.';
    const cut: Outcome =
      end.reason === 'eof' ? { outcome: 'error', error: { message, code: 'truncated' } } : toInterruptedOutcome(end);
    this.#end(cut, 'running', emit);
  }

  #decodeEvent(event: string, data: Fields, emit: EmitEvent): void {
    const { meta } = this.#context;
    const description = asText(data.description) ?? '';
    const extra = asFields(data.extra_data);
    this.#context.setTimestamp(asText(data.timestamp));
    // A `warningEvent` names the task that replaced the requested one.
    if (event === warningEvent) meta.taskId = asNonEmptyText(data.task_id) ?? meta.taskId;
    else meta.taskId ||= asNonEmptyText(data.task_id) ?? '';
    meta.events?.push(toJson({ event, data }));
    const named = findEventAgent(event, description, extra);
    const agent = named === this.#swarm ? undefined : named;
    if (agent !== undefined) this.#context.addTrace(agent, event, data);
    this.#checkAcknowledged(event, emit);
    if (event !== 'tool_call' && event !== 'breakpoint_tool_call') this.#calls.releaseBatch(emit);

    switch (event) {
      case 'new_message':
        return this.#decodeMessage(data, extra, emit);
      case 'tool_call':
        return this.#calls.announce(agent, extra, data, emit);
      case 'action_call':
        return this.#calls.actionCall(agent, description, emit);
      case 'action_complete':
        return this.#calls.actionComplete(agent, description, data, emit);
      case 'action_error':
        return this.#calls.actionError(agent, description, emit);
      case 'builtin_tool_call':
        return this.#calls.builtinCall(agent, extra, data, emit);
      case 'breakpoint_tool_call':
        return this.#breakpoint(agent, description, emit);
      case 'breakpoint_action_complete':
        // Acknowledges a result that the client sent; the message contains it already.
        return;
      case 'task_complete_call_duplicate':
        this.#context.emitNotice('info', event, description, agent, emit);
        if (!this.#isAnswered) this.#fail(completedTaskFault, emit);
        return;
      case 'await_message':
      case 'help_called':
      case 'broadcast_ignored':
      case 'task_complete_call':
      case 'interswarm_message_sent':
      case 'interswarm_message_received':
        return this.#context.emitNotice('info', event, description, agent, emit);
      case 'interswarm_message_error':
      case 'agent_error':
        this.#cause ??= toAgentFault(description);
        return this.#context.emitNotice('error', event, description, agent, emit);
      case 'task_error':
        return this.#fail(this.#cause ?? toTaskFault(asText(data.response) ?? description), emit);
      case 'task_complete':
        return this.#taskComplete(data, emit);
      case singleAgentEvent:
        return this.#endSingleAgent(emit);
      case warningEvent:
        return this.#context.emitNotice('warning', event, description, undefined, emit);
      default:
        this.#context.emitRaw({ event, data }, emit);
    }
  }

  #decodeMessage(data: Fields, extra: Fields, emit: EmitEvent): void {
    const message = readMessage(extra.full_message);
    if (!message) return this.#context.emitUnreadable('new_message', data, 'It has no readable full_message.', emit);
    const { id, senderType, sender, to, subject, body, type } = message;
    this.#swarm ??= message.swarm;
    if (senderType === 'user' || senderType === 'admin') {
      return this.#context.onLoss({
        kind: 'withheld',
        what: 'new_message',
        why: 'The message is an echo of the request.',
        id,
      });
    }
    // The server repeats a broadcast for each recipient, and the answer is a broadcast too.
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
    this.#context.addTrace(sender, 'new_message', data);
    if (type !== 'broadcast_complete') {
      const agentId = this.#context.ensureAgent(sender, emit);
      const { at } = this.#context;
      const part = this.#context.ids.next();
      return this.#context.emitText(
        { type: 'text-start', id: part, agentId, to, internal: true, providerMetadata, at },
        body,
        emit,
      );
    }
    if (this.#isAnswered) {
      return this.#context.onLoss({
        kind: 'withheld',
        what: 'new_message',
        why: 'The task already has an answer.',
        id,
      });
    }
    this.#emitAnswer(sender, body, emit);
  }

  #emitAnswer(agent: string, body: string, emit: EmitEvent): void {
    this.#isAnswered = true;
    const agentId = this.#context.ensureAgent(agent, emit);
    const providerMetadata = this.#context.createPartMetadata();
    const { at } = this.#context;
    const id = this.#context.ids.next();
    this.#context.emitText(
      { type: 'text-start', id, agentId, to: undefined, internal: undefined, providerMetadata, at },
      body,
      emit,
    );
  }

  #taskComplete(data: Fields, emit: EmitEvent): void {
    const response = asText(data.response);
    const pending =
      response === undefined ? undefined : parsePendingCalls(response, this.#context.meta.currentAgent ?? 'supervisor');
    if (pending && !this.#isAnswered) return this.#pause(pending, emit);
    const author = response === undefined ? undefined : this.#calls.authorByAnswer.get(response);
    if (!this.#isAnswered && author !== undefined && response !== undefined) {
      const why = 'The final message was missing, so the answer was taken from task_complete.';
      this.#context.onLoss({ kind: 'repaired', what: 'task_complete', why });
      this.#emitAnswer(author, response, emit);
    }
    if (this.#isAnswered) return this.#end({ outcome: 'complete' }, 'completed', emit);
    // Without a final message of an agent, the response is an error message of the runtime.
    this.#fail(this.#cause ?? toTaskFault(response ?? asText(data.description) ?? ''), emit);
  }

  #breakpoint(agent: string | undefined, description: string, emit: EmitEvent): void {
    const calls = this.#calls.takeBreakpointCalls(agent, description, emit);
    // Without the calls there are no ids to answer. The final `task_complete` lists them again.
    if (calls.length === 0)
      return this.#context.emitNotice('warning', 'breakpoint_tool_call', description, agent, emit);
    this.#pause(calls, emit);
  }

  #pause(calls: AnnouncedCall[], emit: EmitEvent): void {
    const ids = this.#calls.emitClientCalls(calls, emit);
    const { meta } = this.#context;
    // Calls without an id cannot be answered.
    const pending = calls.flatMap(({ wireId }) => (wireId === '' ? [] : [wireId]));
    if (meta.taskId !== '' && pending.length > 0) {
      meta.resumeToken = toResumeToken({ taskId: meta.taskId, calls: pending });
    }
    const waitingFor = ids.map((toolCallId) => ({ type: 'tool' as const, toolCallId }));
    this.#end({ outcome: 'paused', waitingFor }, 'paused', emit);
  }

  /** Warns if the first event does not acknowledge the answers: the server has forgotten their pause. */
  #checkAcknowledged(event: string, emit: EmitEvent): void {
    if (!this.#awaitsAcknowledgement) return;
    this.#awaitsAcknowledgement = false;
    if (event === 'breakpoint_action_complete' || event === 'task_error' || event === warningEvent) return;
    this.#context.emitNotice('warning', 'mail-two-pauses', concurrentPauses, undefined, emit);
  }

  /** Uses the text of a swarm's only agent as the answer: no other agent reads it, and no event follows. */
  #endSingleAgent(emit: EmitEvent): void {
    const { lastText } = this.#calls;
    if (lastText === undefined || this.#isAnswered) return;
    const message = `${lastText.agent} answered without task_complete and is the only agent of the swarm. The server would wait forever.`;
    this.#context.emitNotice('warning', 'mail-text-output', message, lastText.agent, emit);
    this.#emitAnswer(lastText.agent, lastText.text, emit);
    this.#end({ outcome: 'complete' }, 'running', emit);
  }

  #fail(error: Fault, emit: EmitEvent): void {
    this.#end({ outcome: 'error', error }, 'error', emit);
  }

  #end(outcome: Outcome, status: MAILTaskStatus, emit: EmitEvent): void {
    this.#isOver = true;
    this.#context.meta.taskStatus = status;
    if (outcome.outcome === 'error') this.#context.meta.error = outcome.error.message;
    const { meta, at } = this.#context;
    for (const agentId of this.#context.agentIds) emit({ type: 'agent-end', agentId, at, ...toAgentOutcome(outcome) });
    emit({
      type: 'run-end',
      finishReason: outcome.outcome === 'complete' ? 'stop' : undefined,
      resume: meta.taskId === '' ? undefined : { taskId: meta.taskId, status },
      providerMetadata: { mail: meta },
      at,
      ...outcome,
    });
  }

  #reportMalformed(frame: MAILFrame, emit: EmitEvent): void {
    this.#context.emitRaw(frame, emit);
    if (typeof frame.data === 'string' && /^\{'\w+': /.test(frame.data)) return this.#fail(oldServerFault, emit);
    const message = `A MAIL event "${frame.event}" could not be read: its data is not a JSON object.`;
    this.#context.emitNotice('warning', 'mail-malformed', message, undefined, emit);
  }
}

/** Returns the outcome of an agent. Only the run lists what a pause waits for. */
function toAgentOutcome(outcome: Outcome): Outcome {
  return outcome.outcome === 'paused' ? { outcome: 'paused', waitingFor: [] } : outcome;
}
