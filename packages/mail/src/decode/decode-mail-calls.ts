import type { AgentEvent, Emit, Json } from '@intertie/core';
import { toJson } from '@intertie/core';
import { asFields, asNonEmptyText, parseJson, asText, type Fields } from '../shared/fields.ts';
import { MAILCalls, type AnnouncedCall, type OpenCall } from './mail-calls.ts';
import type { MAILDecoderContext } from './mail-decoder-context.ts';
import type { MAILToolCalls } from '../shared/mail-settings.ts';
import { builtinTools, mailTools } from '../shared/mail-tools.ts';

type EmitEvent = Emit<AgentEvent>;

/** Decodes reasoning and tool calls of agents. */
export class MAILCallDecoder {
  #context: MAILDecoderContext;
  #toolCalls: MAILToolCalls;
  #open = new MAILCalls();
  /** Calls of the current batch. A `breakpoint_tool_call` after the batch shows which of them are breakpoints. */
  #announced: AnnouncedCall[] = [];
  #builtins: AnnouncedCall[] = [];
  /** Agent that announced an answer with a `task_complete` call, by the text of the answer. */
  readonly authorByAnswer: Map<string, string> = new Map();
  /** Last `text_output`, the text that an agent sends to the other agents without a tool. */
  lastText: { agent: string; text: string } | undefined;

  constructor(context: MAILDecoderContext, toolCalls: MAILToolCalls) {
    this.#context = context;
    this.#toolCalls = toolCalls;
  }

  announce(agent: string | undefined, extra: Fields, data: Fields, emit: EmitEvent): void {
    const toolName = asNonEmptyText(extra.tool_name);
    if (agent === undefined || toolName === undefined) {
      return this.#context.emitUnreadable('tool_call', data, 'It does not name the agent and the tool.', emit);
    }
    // Only the first call of a batch contains the reasoning; later calls refer to it.
    const { reasoning } = extra;
    this.#emitReasoning(
      Array.isArray(reasoning) ? reasoning.join('\n\n') : asText(reasoning),
      agent,
      'reasoning',
      emit,
    );
    this.#emitReasoning(asText(extra.preamble), agent, 'preamble', emit);
    if (toolName === 'task_complete') {
      const answer = asText(asFields(extra.tool_args).finish_message);
      if (answer !== undefined) this.authorByAnswer.set(answer, agent);
    }
    if (toolName === 'text_output') {
      this.lastText = { agent, text: asText(asFields(extra.tool_args).content) ?? '' };
    }
    if (mailTools.has(toolName) && this.#toolCalls !== 'all') return;
    const call = { agent, toolName, input: extra.tool_args, wireId: asText(extra.tool_call_id) ?? '' };
    if (builtinTools.has(toolName)) this.#builtins.push(call);
    else this.#announced.push(call);
  }

  #emitReasoning(text: string | undefined, agent: string, kind: 'reasoning' | 'preamble', emit: EmitEvent): void {
    if (text === undefined || text === '') return;
    const id = this.#context.ids.next();
    const providerMetadata = { mail: { taskId: this.#context.meta.taskId, kind } };
    const agentId = this.#context.ensureAgent(agent, emit);
    const { at } = this.#context;
    this.#context.emitText({ type: 'reasoning-start', id, agentId, providerMetadata, at }, text, emit);
  }

  /** Emits the announced calls that are not breakpoints, at the end of their batch. */
  releaseBatch(emit: EmitEvent): void {
    if (this.#announced.length === 0) return;
    for (const call of this.#announced) {
      if (mailTools.has(call.toolName)) this.#emitMailCall(call, emit);
      else this.#emitRuntimeCall(call, emit);
    }
    this.#announced = [];
  }

  /** Emits a call of MAIL's own tools with an empty result, because the server reports none. */
  #emitMailCall(call: AnnouncedCall, emit: EmitEvent): void {
    const toolCallId = this.#emitCall(call, 'runtime', emit);
    emit({ type: 'tool-result', toolCallId, status: 'ok', output: null, at: this.#context.at });
  }

  #emitRuntimeCall(call: AnnouncedCall, emit: EmitEvent): OpenCall {
    const { agent, toolName } = call;
    const open: OpenCall = { agent, toolName, toolCallId: this.#emitCall(call, 'runtime', emit), isRunning: false };
    this.#open.add(open);
    return open;
  }

  #emitCall(call: AnnouncedCall, executor: 'runtime' | 'client', emit: EmitEvent): string {
    const { agent, toolName, wireId } = call;
    const toolCallId = this.#context.ids.open(wireId);
    emit({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: toJson(call.input ?? {}),
      executor,
      dynamic: executor === 'runtime' ? true : undefined,
      agentId: this.#context.ensureAgent(agent, emit),
      providerMetadata: this.#context.createPartMetadata(wireId),
      at: this.#context.at,
    });
    return toolCallId;
  }

  actionCall(agent: string | undefined, description: string, emit: EmitEvent): void {
    const [, toolName, args = ''] = /executing action tool: (\S+) with args: ([\s\S]*)$/.exec(description) ?? [];
    if (agent === undefined || toolName === undefined || this.#open.start(agent, toolName)) return;
    // The `tool_call` was lost, or preceded this stream.
    this.#emitRuntimeCall({ agent, toolName, input: parseJson(args), wireId: '' }, emit).isRunning = true;
  }

  actionComplete(agent: string | undefined, description: string, data: Fields, emit: EmitEvent): void {
    const call = agent === undefined ? undefined : this.#open.settle(agent);
    if (!call) return this.#context.emitUnreadable('action_complete', data, 'The agent has no open call.', emit);
    const text = description.slice(description.indexOf('\n') + 1);
    const failed = /^failed to execute action tool: ?([\s\S]*)$/.exec(text);
    // The server also reports an action that raised an exception as complete.
    if (failed) return this.#emitFailure(call, failed[1] || text, emit);
    const { toolCallId } = call;
    emit({ type: 'tool-result', toolCallId, status: 'ok', output: parseOutput(text), at: this.#context.at });
  }

  actionError(agent: string | undefined, description: string, emit: EmitEvent): void {
    const named =
      /^action error \(caller = .+?, tool = (.+?)\):\n([\s\S]*)$/.exec(description) ??
      /^action (.+) not found$/.exec(description) ??
      /cannot access action (.+)$/.exec(description);
    const absent = /^agent (.+) not found$/.exec(description)?.[1];
    const call = named || absent !== undefined ? this.#open.refuse(agent ?? absent, named?.[1]) : undefined;
    if (!call) return this.#context.emitNotice('error', 'action_error', description, agent, emit);
    const reason = description.includes('cannot access action')
      ? `The agent cannot access ${call.toolName}.`
      : undefined;
    this.#emitFailure(call, named?.[2] ?? reason ?? description, emit);
  }

  #emitFailure({ toolCallId }: OpenCall, message: string, emit: EmitEvent): void {
    const error = { message, code: 'mail-action' };
    emit({ type: 'tool-result', toolCallId, status: 'error', error, at: this.#context.at });
  }

  builtinCall(agent: string | undefined, extra: Fields, data: Fields, emit: EmitEvent): void {
    const toolName = asNonEmptyText(extra.tool_type);
    if (agent === undefined || toolName === undefined) {
      return this.#context.emitUnreadable('builtin_tool_call', data, 'It does not name the agent and the tool.', emit);
    }
    const index = this.#builtins.findIndex((call) => call.agent === agent && call.toolName === toolName);
    const [announced] = index === -1 ? [] : this.#builtins.splice(index, 1);
    const { outputs, status, ...input } = asFields(extra.tool_args);
    const toolCallId = this.#emitCall({ agent, toolName, input, wireId: announced?.wireId ?? '' }, 'runtime', emit);
    const output = toJson({ ...(status !== undefined && { status }), ...(outputs !== undefined && { outputs }) });
    emit({ type: 'tool-result', toolCallId, status: 'ok', output, at: this.#context.at });
  }

  /** Removes and returns the announced calls that a `breakpoint_tool_call` lists, and emits the others. */
  takeBreakpointCalls(agent: string | undefined, description: string, emit: EmitEvent): AnnouncedCall[] {
    const listed = / used breakpoint tools (.+?) with args: /s.exec(description)?.[1]?.split(', ') ?? [];
    const held = this.#announced.filter((call) => call.agent === agent && listed.includes(call.toolName));
    this.#announced = this.#announced.filter((call) => !held.includes(call));
    if (held.length > 0 && this.#announced.some((call) => !mailTools.has(call.toolName))) {
      const message =
        'An agent called an action and a breakpoint tool in one batch. The server calls the agent again before the breakpoint ' +
        'is answered, so its next message may be lost.';
      this.#context.emitNotice('warning', 'mail-mixed-breakpoint', message, agent, emit);
    }
    this.releaseBatch(emit);
    return held;
  }

  /** Emits calls that the client executes. Returns their ids. */
  emitClientCalls(calls: readonly AnnouncedCall[], emit: EmitEvent): string[] {
    return calls.map((call) => this.#emitCall(call, 'client', emit));
  }
}

/** Parses an action's output if it is a JSON object or array. Returns other text unchanged. */
function parseOutput(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  const parsed = parseJson(text);
  return parsed === undefined ? text : toJson(parsed);
}
