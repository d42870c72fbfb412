import type { AgentEvent, Codec, Emit, End, Fault, Json, OnLoss, Outcome, RunInput } from '@intertie/core';
import { createPartIds, toJson } from '@intertie/core';
import { applyPatch, capJson, defined, asBoolean, isFields, asNonEmptyText, asText } from '@intertie/core/internal';
import { toServerEvent } from './earlier-events.ts';
import type { RunContext } from '../decode/invocation.ts';
import { protocolName } from '../decode/protocol-name.ts';
import { ServerAgents } from './server-agents.ts';
import { isImmerPatch, toOp, type ServerEvent } from './server-event.ts';

export interface OpenHarnessServerDecoderOptions {
  /** Names of statically typed tools. All others are dynamic. */
  tools?: readonly string[];
  onLoss?: OnLoss;
}

/**
 * Decodes the session events of an Open Harness server. The server sends an answer in one burst with the original times, does
 * not report failures, and keeps the stream open after `workflow:completed`. The run ends at that event; other ends are
 * detected by the source. Also decodes the signals of v0.3 and the events of core-v2, which have the same shape.
 */
export function createOpenHarnessServerDecoder(
  run: RunInput,
  options: OpenHarnessServerDecoderOptions = {},
): Codec<unknown, AgentEvent> {
  return new ServerDecoder(run, options);
}

class ServerDecoder implements Codec<unknown, AgentEvent>, RunContext {
  readonly ids: RunContext['ids'];
  readonly onLoss: OnLoss;
  #run: RunInput;
  #staticTools: ReadonlySet<string>;
  #emit: Emit<AgentEvent> = () => undefined;
  #at: number | undefined;
  #isOver = false;
  #stepCount = 0;
  #agents: ServerAgents;
  #calls = new Map<string, string>();
  #questions = new Set<string>();
  #state: Json | undefined;
  #fault: Fault | undefined;

  constructor(run: RunInput, { tools = [], onLoss = () => undefined }: OpenHarnessServerDecoderOptions) {
    this.#run = run;
    this.onLoss = onLoss;
    this.ids = createPartIds(run);
    this.#staticTools = new Set(tools);
    this.#state = run.state;
    this.#agents = new ServerAgents(this, run.runId);
  }

  emit = (event: AgentEvent): void => {
    const isTimed = this.#at !== undefined && !event.type.endsWith('-delta');
    this.#emit(isTimed ? { ...event, at: this.#at as number } : event);
  };

  nextStepId(): string {
    this.#stepCount += 1;
    return `${this.#run.runId}:step-${this.#stepCount}`;
  }

  isStatic(toolName: string): boolean {
    return this.#staticTools.has(toolName);
  }

  feed(value: unknown, emit: Emit<AgentEvent>): void {
    this.#emit = emit;
    const input = toServerEvent(value);
    if (input === undefined) return this.#emitRaw(value);
    if (this.#isOver)
      return this.onLoss({ kind: 'late', what: input.name, why: 'The event arrived after the end of the workflow.' });
    const { timestamp } = input;
    // A burst is ordered by agent, so times may go backwards.
    if (typeof timestamp === 'number' && timestamp > (this.#at ?? -Infinity)) this.#at = timestamp;
    const problem = this.#decode(input);
    if (problem === undefined) return;
    this.#emitRaw(value);
    const message = `The Open Harness server sent "${input.name}" ${problem}, so the event was ignored.`;
    this.emit({ type: 'notice', level: 'warning', message, code: 'malformed' });
  }

  end(end: End, emit: Emit<AgentEvent>): void {
    this.#emit = emit;
    if (this.#isOver || end.reason !== 'eof') return;
    const open = [...this.#questions];
    if (open.length === 0) return this.#endWithFault();
    this.#finish({ outcome: 'paused', waitingFor: open.map((questionId) => ({ type: 'question', questionId })) });
  }

  #endWithFault(): void {
    const error = this.#fault ?? this.#agents.fault;
    if (error !== undefined) this.#finish({ outcome: 'error', error });
  }

  #decode({ name, payload }: ServerEvent): string | undefined {
    switch (name) {
      case 'workflow:started': {
        const workflow = asNonEmptyText(payload.workflow) ?? '';
        const sessionId = asNonEmptyText(payload.sessionId);
        this.emit({ type: 'metadata', metadata: { flow: { name: workflow, ...defined({ sessionId }) } } });
        if (payload.input !== undefined)
          this.#withhold('workflow:started input', 'The input is the request of the session.');
        return undefined;
      }
      case 'workflow:completed': {
        const result = toJson(payload.finalState, this.onLoss);
        if (payload.finalState !== undefined) this.#emitSnapshot(result);
        this.#finish({ outcome: 'complete' }, result);
        return undefined;
      }
      case 'phase:entered':
        return this.#agents.enter(asNonEmptyText(payload.phase));
      case 'phase:exited':
        return this.#agents.exit(asNonEmptyText(payload.phase), payload.reason);
      case 'agent:started':
        return this.#agents.start(asNonEmptyText(payload.agent), asNonEmptyText(payload.phase));
      case 'agent:completed':
        return this.#agents.complete(asNonEmptyText(payload.agent), payload);
      case 'text:delta':
      case 'thinking:delta': {
        const delta = asText(payload.delta);
        if (delta === undefined) return 'without a delta';
        this.#agents.getOrStart(payload.agent).appendText(name === 'text:delta' ? 'text' : 'reasoning', delta);
        return undefined;
      }
      case 'text:complete':
      case 'thinking:complete': {
        const content = asText(payload.content);
        if (content === undefined) return 'without content';
        this.#agents.getOrStart(payload.agent).completeText(name === 'text:complete' ? 'text' : 'reasoning', content);
        return undefined;
      }
      case 'harness:start':
        // Agents are started by `agent:started` or by their first content.
        return undefined;
      case 'tool:called':
        return this.#toolCalled(payload);
      case 'tool:result':
        return this.#toolResult(payload);
      case 'state:intent':
        return this.#intent(payload);
      case 'state:checkpoint':
        if (payload.state === undefined) return 'without a state';
        this.#emitSnapshot(toJson(payload.state, this.onLoss));
        return undefined;
      case 'input:requested':
        return this.#inputRequested(payload);
      case 'input:received':
        return this.#inputReceived(payload);
      case 'user:input':
        this.#withhold('user:input', 'The input is the request of the session.');
        return undefined;
      case 'error:occurred': {
        const message = asNonEmptyText(payload.message) ?? 'The workflow failed without a reason.';
        const fault: Fault = { message, ...defined({ code: asNonEmptyText(payload.code) }) };
        if (payload.recoverable !== true) this.#fault = fault;
        // Not a warning, even if recoverable: servers show the text of warnings to clients.
        this.emit({ type: 'notice', level: 'error', ...fault });
        return undefined;
      }
      default:
        this.#emitRaw({ name, payload });
        return undefined;
    }
  }

  #toolCalled({ agent, toolId, toolName, input }: ServerEvent['payload']): string | undefined {
    const caller = this.#agents.getOrStart(agent);
    caller.closeText();
    const wireId = asNonEmptyText(toolId);
    const toolCallId = this.ids.open(wireId);
    if (wireId !== undefined) this.#calls.set(wireId, toolCallId);
    const name = asNonEmptyText(toolName) ?? 'unknown';
    this.emit({
      type: 'tool-call',
      toolCallId,
      toolName: name,
      input: input === undefined ? {} : toJson(input, this.onLoss),
      executor: 'runtime',
      dynamic: !this.isStatic(name),
      agentId: caller.agentId,
      stepId: caller.ensureStep(),
    });
    return undefined;
  }

  #toolResult({ toolId, output, isError }: ServerEvent['payload']): string | undefined {
    const toolCallId = this.#calls.get(asNonEmptyText(toolId) ?? '');
    if (toolCallId === undefined) return 'for an unknown call';
    if (isError === true) {
      const message = typeof output === 'string' && output !== '' ? output : JSON.stringify(capJson(output ?? null));
      this.emit({ type: 'tool-result', toolCallId, status: 'error', error: { message } });
    } else this.emit({ type: 'tool-result', toolCallId, status: 'ok', output: toJson(output ?? null, this.onLoss) });
    return undefined;
  }

  #intent({ patches, state }: ServerEvent['payload']): string | undefined {
    const list: unknown[] = Array.isArray(patches) ? patches : [];
    const patch = list.filter(isImmerPatch).map((one) => toOp(one, this.onLoss));
    const patched = this.#state === undefined ? undefined : applyPatch(this.#state, patch);
    // The previous state may be unknown; the event contains the whole state besides the patch.
    if (patched?.ok !== true || patch.length < list.length) {
      if (state === undefined) return 'with patches that cannot be applied';
      this.#emitSnapshot(toJson(state, this.onLoss));
    } else if (patch.length > 0) {
      this.#state = patched.value;
      this.emit({ type: 'state-delta', patch });
    }
    return undefined;
  }

  #emitSnapshot(state: Json): void {
    this.#state = state;
    this.emit({ type: 'state-snapshot', state });
  }

  #inputRequested({ id, prompt, type, options }: ServerEvent['payload']): string | undefined {
    const questionId = asNonEmptyText(id);
    if (questionId === undefined) return 'without an id';
    const isChoice = type !== 'approval';
    const schema: Json | undefined = isChoice && Array.isArray(options) ? { enum: toJson(options) } : undefined;
    this.#questions.add(questionId);
    const message = asNonEmptyText(prompt);
    this.emit({ type: 'question', questionId, kind: isChoice ? 'input' : 'approval', ...defined({ message, schema }) });
    return undefined;
  }

  #inputReceived({ id, value, approved }: ServerEvent['payload']): string | undefined {
    const questionId = asNonEmptyText(id);
    // One of the server's two routes publishes answers without the id of the question.
    if (questionId === undefined || !this.#questions.delete(questionId)) return 'without an open question';
    const given = {
      value: value === undefined ? undefined : toJson(value, this.onLoss),
      approved: asBoolean(approved),
    };
    this.emit({ type: 'answer', questionId, ...defined(given) });
    return undefined;
  }

  #finish(outcome: Outcome, result?: Json): void {
    this.#agents.endAll(outcome);
    this.#isOver = true;
    this.emit({ type: 'run-end', ...outcome, ...defined({ result }) });
  }

  #withhold(what: string, why: string): void {
    this.onLoss({ kind: 'withheld', what, why });
  }

  #emitRaw(value: unknown): void {
    const shown = isFields(value) || value === null ? value : { value };
    this.emit({ type: 'raw', dialect: protocolName, value: capJson(shown, undefined, this.onLoss) });
  }
}
