import {
  capJson,
  createPartIds,
  toJson,
  type AgentEvent,
  type Codec,
  type Emit,
  type End,
  type EventOf,
  type Fault,
  type Json,
  type OnLoss,
  type Outcome,
  type PartIds,
  type RunInput,
} from '@intertie/core';
import { agentOf } from './event-agent.ts';
import { fieldsOf, listOf, nameOf, parseJson, textOf, type Fields } from './fields.ts';
import { MAILCalls, type AnnouncedCall, type OpenCall } from './mail-calls.ts';
import { warningEvent, type MAILFrame } from './mail-event.ts';
import { agentFault, completedFault, oldServerFault, taskFault } from './mail-faults.ts';
import type { MAILProviderMetadata, MAILTaskStatus } from './mail-metadata.ts';
import { builtinTools, mailTools } from './mail-tools.ts';
import { readMessage } from './read-message.ts';

export interface MAILDecoderOptions {
  /** The task, if it is known before the first event says it. */
  taskId?: string;
  /** Whether the run's metadata holds every event of the server. Default: no. */
  includeEvents?: boolean;
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
type Time = { at?: number };

class MAILDecoder implements Codec<MAILFrame, AgentEvent> {
  #run: RunInput;
  #ids: PartIds;
  #onLoss: OnLoss;
  #agents = new Map<string, string>();
  #calls = new MAILCalls();
  /** The batch of announced calls. Whether one is a breakpoint is said right behind it. */
  #announced: AnnouncedCall[] = [];
  #builtins: AnnouncedCall[] = [];
  #seenMessages = new Set<string>();
  #finishMessages = new Map<string, string>();
  /** The system speaks, and is spoken of, under the swarm's name. */
  #swarm: string | undefined;
  #isAnswered = false;
  #isOver = false;
  #cause: Fault | undefined;
  #meta: MAILProviderMetadata;
  #time: Time = {};

  constructor(run: RunInput, { taskId = '', includeEvents = false, onLoss = () => undefined }: MAILDecoderOptions) {
    this.#run = run;
    this.#ids = createPartIds(run);
    this.#onLoss = onLoss;
    this.#meta = { taskId, taskStatus: 'running', agentTrace: [], ...(includeEvents && { events: [] }) };
  }

  feed(frame: MAILFrame, emit: Write): void {
    const { event, data } = frame;
    if (this.#isOver) {
      if (event !== 'ping') this.#onLoss({ kind: 'late', what: event, why: 'It came after the run had ended.' });
      return;
    }
    if (event === 'ping') return;
    const parsed = typeof data === 'string' ? parseJson(data) : data;
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return this.#malformed(frame, emit);
    this.#event(event, parsed as Fields, emit);
  }

  end(end: End, emit: Write): void {
    if (this.#isOver) return;
    this.#releaseCalls(emit);
    if (end.reason === 'aborted') {
      const { by, message: reason } = end;
      const aborted: Outcome = { outcome: 'aborted', ...(by && { by }), ...(reason !== undefined && { reason }) };
      return this.#end(aborted, 'running', emit);
    }
    const message = 'The MAIL stream ended before the task did. The task may still be running at the server.';
    const error = end.reason === 'error' ? end.error : { message, code: 'truncated' };
    this.#end({ outcome: 'error', error }, 'running', emit);
  }

  #event(event: string, data: Fields, emit: Write): void {
    const description = textOf(data.description) ?? '';
    const extra = fieldsOf(data.extra_data);
    const at = Date.parse(textOf(data.timestamp) ?? '');
    this.#time = Number.isNaN(at) ? {} : { at };
    // Our own word says that another task took the place of the one that was asked for.
    if (event === warningEvent) this.#meta.taskId = nameOf(data.task_id) ?? this.#meta.taskId;
    else this.#meta.taskId ||= nameOf(data.task_id) ?? '';
    this.#meta.events?.push(toJson({ event, data }));
    const named = agentOf(event, description, extra);
    const agent = named === this.#swarm ? undefined : named;
    if (agent !== undefined) this.#trace(agent, event, data);
    if (event !== 'tool_call' && event !== 'breakpoint_tool_call') this.#releaseCalls(emit);

    switch (event) {
      case 'new_message':
        return this.#message(data, extra, emit);
      case 'tool_call':
        return this.#toolCall(agent, extra, data, emit);
      case 'action_call':
        return this.#actionCall(agent, description, emit);
      case 'action_complete':
        return this.#actionComplete(agent, description, data, emit);
      case 'action_error':
        return this.#actionError(agent, description, emit);
      case 'builtin_tool_call':
        return this.#builtin(agent, extra, data, emit);
      case 'breakpoint_tool_call':
        return this.#breakpoint(agent, description, emit);
      case 'breakpoint_action_complete':
        // The result came from our side, and is in the baseline.
        return;
      case 'task_complete_call_duplicate':
        this.#notice('info', event, description, agent, emit);
        if (!this.#isAnswered) this.#fail(completedFault, emit);
        return;
      case 'await_message':
      case 'help_called':
      case 'broadcast_ignored':
      case 'task_complete_call':
      case 'interswarm_message_sent':
      case 'interswarm_message_received':
        return this.#notice('info', event, description, agent, emit);
      case 'interswarm_message_error':
      case 'agent_error':
        this.#cause ??= agentFault(description);
        return this.#notice('error', event, description, agent, emit);
      case 'task_error':
        return this.#fail(this.#cause ?? taskFault(textOf(data.response) ?? description), emit);
      case 'task_complete':
        return this.#taskComplete(data, emit);
      case warningEvent:
        return this.#notice('warning', event, description, undefined, emit);
      default:
        emit({ type: 'raw', dialect: 'mail', value: capJson({ event, data }), ...this.#time });
    }
  }

  #message(data: Fields, extra: Fields, emit: Write): void {
    const message = readMessage(extra.full_message);
    if (!message) return this.#unread('new_message', data, 'It has no full_message that can be read.', emit);
    const { id, senderType, sender, to, subject, body, type } = message;
    this.#swarm ??= message.swarm;
    if (senderType === 'user' || senderType === 'admin') {
      return this.#onLoss({ kind: 'withheld', what: 'new_message', why: 'It is the echo of what was asked.', id });
    }
    // A broadcast comes once per recipient.
    if (this.#seenMessages.has(id)) return;
    if (id !== '') this.#seenMessages.add(id);
    const providerMetadata = { mail: { taskId: this.#meta.taskId, messageId: id, subject, messageType: type } };
    if (senderType === 'system') {
      const parts = [{ type: 'text' as const, text: body }];
      const said = { role: 'system' as const, name: sender, parts, to, internal: true as const, providerMetadata };
      return emit({ type: 'interjection', id: this.#ids.next(), ...said, ...this.#time });
    }
    this.#trace(sender, 'new_message', data);
    if (type !== 'broadcast_complete') {
      return this.#text(body, { agentId: this.#agent(sender, emit), to, internal: true, providerMetadata }, emit);
    }
    if (this.#isAnswered) {
      return this.#onLoss({ kind: 'withheld', what: 'new_message', why: 'The task has an answer already.', id });
    }
    this.#answer(sender, body, emit);
  }

  #answer(agent: string, body: string, emit: Write): void {
    this.#isAnswered = true;
    this.#text(body, { agentId: this.#agent(agent, emit), providerMetadata: this.#partMeta() }, emit);
  }

  #text(text: string, said: Omit<EventOf<'text-start'>, 'type' | 'id'>, emit: Write): void {
    const id = this.#ids.next();
    emit({ type: 'text-start', id, ...said, ...this.#time });
    emit({ type: 'text-delta', id, delta: text });
    emit({ type: 'text-end', id, ...this.#time });
  }

  #toolCall(agent: string | undefined, extra: Fields, data: Fields, emit: Write): void {
    const toolName = nameOf(extra.tool_name);
    if (agent === undefined || toolName === undefined) {
      return this.#unread('tool_call', data, 'It does not say which agent called which tool.', emit);
    }
    // Thoughts come on the first call of a turn, and later calls of the turn refer to it.
    const { reasoning } = extra;
    this.#reasoning(Array.isArray(reasoning) ? reasoning.join('\n\n') : textOf(reasoning), agent, 'reasoning', emit);
    this.#reasoning(textOf(extra.preamble), agent, 'preamble', emit);
    if (toolName === 'task_complete') {
      const answer = textOf(fieldsOf(extra.tool_args).finish_message);
      if (answer !== undefined) this.#finishMessages.set(answer, agent);
    }
    if (mailTools.has(toolName)) return;
    const call = { agent, toolName, input: extra.tool_args, wireId: textOf(extra.tool_call_id) ?? '' };
    if (builtinTools.has(toolName)) this.#builtins.push(call);
    else this.#announced.push(call);
  }

  #reasoning(text: string | undefined, agent: string, kind: 'reasoning' | 'preamble', emit: Write): void {
    if (text === undefined || text === '') return;
    const id = this.#ids.next();
    const providerMetadata = { mail: { taskId: this.#meta.taskId, kind } };
    emit({ type: 'reasoning-start', id, agentId: this.#agent(agent, emit), providerMetadata, ...this.#time });
    emit({ type: 'reasoning-delta', id, delta: text });
    emit({ type: 'reasoning-end', id, ...this.#time });
  }

  /** The batch is over, and no breakpoint was among it. */
  #releaseCalls(emit: Write): void {
    if (this.#announced.length === 0) return;
    for (const call of this.#announced) this.#runtimeCall(call, emit);
    this.#announced = [];
  }

  #runtimeCall(call: AnnouncedCall, emit: Write): OpenCall {
    const { agent, toolName } = call;
    const open: OpenCall = { agent, toolName, toolCallId: this.#call(call, 'runtime', emit), isRunning: false };
    this.#calls.add(open);
    return open;
  }

  #call(call: AnnouncedCall, executor: 'runtime' | 'client', emit: Write): string {
    const { agent, toolName, wireId } = call;
    const toolCallId = this.#ids.open(wireId);
    emit({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: toJson(call.input ?? {}),
      executor,
      ...(executor === 'runtime' && { dynamic: true }),
      agentId: this.#agent(agent, emit),
      providerMetadata: this.#partMeta(wireId),
      ...this.#time,
    });
    return toolCallId;
  }

  #actionCall(agent: string | undefined, description: string, emit: Write): void {
    const [, toolName, args = ''] = /executing action tool: (\S+) with args: ([\s\S]*)$/.exec(description) ?? [];
    if (agent === undefined || toolName === undefined || this.#calls.start(agent, toolName)) return;
    // Its announcement was lost, or came while nobody listened.
    this.#runtimeCall({ agent, toolName, input: parseJson(args), wireId: '' }, emit).isRunning = true;
  }

  #actionComplete(agent: string | undefined, description: string, data: Fields, emit: Write): void {
    const call = agent === undefined ? undefined : this.#calls.settle(agent);
    if (!call) return this.#unread('action_complete', data, 'No call of that agent is open.', emit);
    const text = description.slice(description.indexOf('\n') + 1);
    const failed = /^failed to execute action tool: ?([\s\S]*)$/.exec(text);
    // The server reports an action that raised as complete.
    if (failed) return this.#failed(call, failed[1] || text, emit);
    emit({ type: 'tool-result', toolCallId: call.toolCallId, status: 'ok', output: outputOf(text), ...this.#time });
  }

  #actionError(agent: string | undefined, description: string, emit: Write): void {
    const named =
      /^action error \(caller = .+?, tool = (.+?)\):\n([\s\S]*)$/.exec(description) ??
      /^action (.+) not found$/.exec(description) ??
      /cannot access action (.+)$/.exec(description);
    const absent = /^agent (.+) not found$/.exec(description)?.[1];
    const call = named || absent !== undefined ? this.#calls.refuse(agent ?? absent, named?.[1]) : undefined;
    if (!call) return this.#notice('error', 'action_error', description, agent, emit);
    const reason = description.includes('cannot access action')
      ? `The agent cannot access ${call.toolName}.`
      : undefined;
    this.#failed(call, named?.[2] ?? reason ?? description, emit);
  }

  #failed({ toolCallId }: OpenCall, message: string, emit: Write): void {
    emit({ type: 'tool-result', toolCallId, status: 'error', error: { message, code: 'mail-action' }, ...this.#time });
  }

  #builtin(agent: string | undefined, extra: Fields, data: Fields, emit: Write): void {
    const toolName = nameOf(extra.tool_type);
    if (agent === undefined || toolName === undefined) {
      return this.#unread('builtin_tool_call', data, 'It does not say which agent used which tool.', emit);
    }
    const index = this.#builtins.findIndex((call) => call.agent === agent && call.toolName === toolName);
    const [announced] = index === -1 ? [] : this.#builtins.splice(index, 1);
    const { outputs, status, ...input } = fieldsOf(extra.tool_args);
    const toolCallId = this.#call({ agent, toolName, input, wireId: announced?.wireId ?? '' }, 'runtime', emit);
    const output = toJson({ ...(status !== undefined && { status }), ...(outputs !== undefined && { outputs }) });
    emit({ type: 'tool-result', toolCallId, status: 'ok', output, ...this.#time });
  }

  #breakpoint(agent: string | undefined, description: string, emit: Write): void {
    const listed = / used breakpoint tools (.+?) with args: /s.exec(description)?.[1]?.split(', ') ?? [];
    const held = this.#announced.filter((call) => call.agent === agent && listed.includes(call.toolName));
    this.#announced = this.#announced.filter((call) => !held.includes(call));
    if (this.#announced.length > 0 && held.length > 0) {
      const message =
        'An action and a breakpoint tool were called in one turn. The server asks the agent again before the breakpoint is ' +
        'answered, so its next words may be lost.';
      this.#notice('warning', 'mail-mixed-breakpoint', message, agent, emit);
    }
    this.#releaseCalls(emit);
    // Without the calls there are no ids to answer; the server lists them once more in its last word.
    if (held.length === 0) return this.#notice('warning', 'breakpoint_tool_call', description, agent, emit);
    this.#pause(held, emit);
  }

  #pause(calls: AnnouncedCall[], emit: Write): void {
    const ids = calls.map((call) => this.#call(call, 'client', emit));
    this.#meta.resumeToken = JSON.stringify(calls.map((call) => call.wireId));
    const waitingFor = ids.map((toolCallId) => ({ type: 'tool' as const, toolCallId }));
    this.#end({ outcome: 'paused', waitingFor }, 'paused', emit);
  }

  #taskComplete(data: Fields, emit: Write): void {
    const response = textOf(data.response);
    const pending =
      response === undefined ? undefined : pendingCalls(response, this.#meta.currentAgent ?? 'supervisor');
    if (pending && !this.#isAnswered) return this.#pause(pending, emit);
    const author = response === undefined ? undefined : this.#finishMessages.get(response);
    if (!this.#isAnswered && author !== undefined && response !== undefined) {
      const why = 'The final message was missing; the server’s last word repeats it.';
      this.#onLoss({ kind: 'repaired', what: 'task_complete', why });
      this.#answer(author, response, emit);
    }
    if (this.#isAnswered) return this.#end({ outcome: 'complete' }, 'completed', emit);
    // Without the final message of an agent, the response is the runtime's own complaint.
    this.#fail(this.#cause ?? taskFault(response ?? textOf(data.description) ?? ''), emit);
  }

  #fail(error: Fault, emit: Write): void {
    this.#end({ outcome: 'error', error }, 'error', emit);
  }

  #end(outcome: Outcome, status: MAILTaskStatus, emit: Write): void {
    this.#isOver = true;
    this.#meta.taskStatus = status;
    if (outcome.outcome === 'error') this.#meta.error = outcome.error.message;
    for (const agentId of this.#agents.values())
      emit({ type: 'agent-end', agentId, ...agentOutcome(outcome), ...this.#time });
    const { taskId } = this.#meta;
    emit({
      type: 'run-end',
      ...outcome,
      ...(outcome.outcome === 'complete' && { finishReason: 'stop' as const }),
      ...(taskId !== '' && { resume: { taskId, status } }),
      providerMetadata: { mail: this.#meta },
      ...this.#time,
    });
  }

  #agent(name: string, emit: Write): string {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const agentId = `${this.#run.runId}:${name}`;
    this.#agents.set(name, agentId);
    emit({ type: 'agent-start', agentId, name, kind: 'agent', ...this.#time });
    return agentId;
  }

  #trace(agent: string, event: string, data: Fields): void {
    this.#meta.currentAgent = agent;
    this.#meta.agentTrace.push({ agent, timestamp: textOf(data.timestamp) ?? '', event });
  }

  #partMeta(wireId?: string): { mail: { taskId: string; callId?: string } } {
    return { mail: { taskId: this.#meta.taskId, ...(wireId !== undefined && wireId !== '' && { callId: wireId }) } };
  }

  #notice(
    level: 'info' | 'warning' | 'error',
    code: string,
    message: string,
    agent: string | undefined,
    emit: Write,
  ): void {
    const agentId = agent === undefined ? undefined : this.#agent(agent, emit);
    emit({ type: 'notice', level, message, code, ...(agentId !== undefined && { agentId }), ...this.#time });
  }

  /** A known event that does not say what it must. */
  #unread(event: string, data: Fields, why: string, emit: Write): void {
    emit({ type: 'raw', dialect: 'mail', value: capJson({ event, data }), ...this.#time });
    this.#notice('warning', 'mail-malformed', `A MAIL event "${event}" could not be read: ${why}`, undefined, emit);
  }

  #malformed(frame: MAILFrame, emit: Write): void {
    emit({ type: 'raw', dialect: 'mail', value: capJson(frame), ...this.#time });
    if (typeof frame.data === 'string' && /^\{'\w+': /.test(frame.data)) return this.#fail(oldServerFault, emit);
    const message = `A MAIL event "${frame.event}" could not be read: its data is no JSON object.`;
    this.#notice('warning', 'mail-malformed', message, undefined, emit);
  }
}

/** What the server lists as its last word when it is really paused. */
function pendingCalls(response: string, agent: string): AnnouncedCall[] | undefined {
  if (!response.startsWith('[')) return undefined;
  const list = listOf(parseJson(response)).map(fieldsOf);
  if (list.length === 0 || !list.every((call) => call.type === 'function_call' && nameOf(call.name))) return undefined;
  return list.map((call) => ({
    agent,
    toolName: nameOf(call.name) ?? '',
    input: parseJson(textOf(call.arguments) ?? ''),
    wireId: textOf(call.call_id) ?? '',
  }));
}

/** Actions answer with text; where it is a JSON object or list, with that. */
function outputOf(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  const parsed = parseJson(text);
  return parsed === undefined ? text : toJson(parsed);
}

/** Of all agents only the run knows what it waits for. */
function agentOutcome(outcome: Outcome): Outcome {
  return outcome.outcome === 'paused' ? { outcome: 'paused', waitingFor: [] } : outcome;
}
