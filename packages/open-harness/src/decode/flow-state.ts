import type { AgentEvent, Codec, Emit, End, Json, JsonObject, OnLoss, Outcome, RunInput } from '@intertie/core';
import { createPartIds, toJson } from '@intertie/core';
import { capJson, defined, isFields, asNonEmptyText, asText } from '@intertie/core/internal';
import type { FlowStatusData } from './data-types.ts';
import type { OpenHarnessDecoderOptions } from './decoder-options.ts';
import { FlowAgents } from './flow-agents.ts';
import { FlowNodes } from './flow-nodes.ts';
import { formatErrorText } from './format-error-text.ts';
import type { RunContext } from './invocation.ts';
import { protocolName } from './protocol-name.ts';
import type { OpenHarnessInput, RuntimeEvent, StatePatch } from '../runtime/runtime-event.ts';
import type { RunSnapshot } from '../runtime/runtime.ts';
import { toStatePatch } from '../runtime/state-patch.ts';
import { getLastUserText, undeliveredText } from '../runtime/request-text.ts';

type Input<Type extends RuntimeEvent['type']> = Extract<RuntimeEvent, { type: Type }>;

/** State machine of the decoder: one run of a flow. */
export class FlowState implements Codec<OpenHarnessInput, AgentEvent>, RunContext {
  readonly ids: RunContext['ids'];
  readonly onLoss: OnLoss;
  readonly run: RunInput;
  #options: OpenHarnessDecoderOptions;
  #staticTools: ReadonlySet<string>;
  #agents: FlowAgents = new FlowAgents(this);
  #nodes: FlowNodes;
  #emit: Emit<AgentEvent> = () => undefined;
  #at: number | undefined;
  #isOver = false;
  #flowName = '';
  #stepCount = 0;
  #state: Json;
  /** Set by the event that pauses or aborts the flow. Final events of its agents may follow. */
  #halted: 'paused' | 'aborted' | undefined;
  #stopReason: { by?: 'user' | 'system'; reason?: string } = {};
  /** The user's message did not reach the flow, so even a complete flow has not answered it. */
  #isUndelivered = false;
  #questionId: string | undefined;
  #questionCount = 0;

  constructor(run: RunInput, options: OpenHarnessDecoderOptions) {
    const { onLoss = () => undefined, tools = [] } = options;
    this.run = run;
    this.#options = options;
    this.onLoss = onLoss;
    this.ids = createPartIds(run);
    this.#staticTools = new Set(tools);
    this.#state = run.state ?? {};
    this.#nodes = new FlowNodes(this, this.#agents, options.nodeText);
  }

  emit = (event: AgentEvent): void => {
    const isTimed = this.#at !== undefined && !event.type.endsWith('-delta');
    this.#emit(isTimed ? { ...event, at: this.#at as number } : event);
  };

  nextStepId(): string {
    this.#stepCount += 1;
    return `${this.run.runId}:step-${this.#stepCount}`;
  }

  isStatic(toolName: string): boolean {
    return this.#staticTools.has(toolName);
  }

  feed(input: OpenHarnessInput, emit: Emit<AgentEvent>): void {
    this.#emit = emit;
    if (!isFields(input) || typeof input.type !== 'string') return this.#emitRaw(input);
    if (this.#isOver) {
      if (input.type.includes(':'))
        this.#reportLoss('late', input.type, 'The event arrived after the end of the flow.');
      return;
    }
    const { timestamp } = input as { timestamp?: unknown };
    if (typeof timestamp === 'number' && Number.isFinite(timestamp)) this.#at = timestamp;
    const problem = this.#decode(input);
    if (problem === undefined) return;
    this.#emitRaw(input);
    const message = `Open Harness sent "${input.type}" ${problem}, so the event was ignored.`;
    this.emit({ type: 'notice', level: 'warning', message, code: 'malformed' });
  }

  end(end: End, emit: Emit<AgentEvent>): void {
    this.#emit = emit;
    if (this.#isOver) return;
    if (end.reason === 'error') {
      return this.#finish({ outcome: 'error', error: { ...end.error, message: formatErrorText(end.error.message) } });
    }
    // After an abort the seal writes the end. After a cut, the last events of the flow decide.
    if (end.reason === 'aborted') return;
    if (this.#halted !== undefined) return this.#finishHalted(undefined);
    if (this.#nodes.fault !== undefined) this.#finish({ outcome: 'error', error: this.#nodes.fault });
  }

  /** Decodes an input. Returns a description of the problem if a known input is malformed. */
  #decode(input: OpenHarnessInput): string | undefined {
    switch (input.type) {
      case 'flow:start':
        this.#flowName = asText(input.flowName) ?? '';
        this.emit({ type: 'metadata', metadata: { flow: { name: this.#flowName } } });
        this.#flowStatus('running');
        return undefined;
      case 'flow:complete':
        return this.#flowComplete(input);
      case 'flow:paused':
        return this.#flowPaused();
      case 'flow:aborted':
        this.#halted = 'aborted';
        return undefined;
      case 'flow:resumed':
        return this.#flowResumed();
      case 'node:start':
        return this.#nodes.start(input);
      case 'node:complete':
        return this.#nodes.complete(input);
      case 'node:error':
        return this.#nodes.fail(input);
      case 'node:skipped':
        if (asNonEmptyText(input.nodeId) === undefined) return 'without a nodeId';
        return this.#emitData('node', { nodeId: input.nodeId, status: 'skipped', reason: toJson(input.reason) });
      case 'edge:fire':
        return this.#emitData('edge', { ...defined({ edgeId: asNonEmptyText(input.edgeId) }), ...toEdge(input) });
      case 'loop:iterate':
        return this.#emitData('loop', {
          ...defined({ edgeId: asNonEmptyText(input.edgeId) }),
          iteration: toJson(input.iteration),
        });
      case 'state:patch':
        return this.#statePatch(input.patch);
      case 'command:received':
        return this.#command(input);
      case 'agent:start':
      case 'agent:thinking':
      case 'agent:thinking:delta':
      case 'agent:text':
      case 'agent:text:delta':
      case 'agent:tool':
      case 'agent:error':
      case 'agent:complete':
      case 'agent:paused':
      case 'agent:aborted':
        return this.#agents.decode(input);
      case 'settled':
        return this.#settled(input.snapshot);
      case 'drained':
        if (this.#halted !== undefined) this.#finishHalted(undefined);
        return undefined;
      case 'stopping':
        this.#stopReason = defined({ by: input.by, reason: input.reason });
        return undefined;
      case 'undelivered':
        this.#isUndelivered = true;
        return undefined;
      case 'answered':
        if (this.#questionId !== undefined)
          this.emit({ type: 'answer', questionId: this.#questionId, value: input.text });
        this.#questionId = undefined;
        return undefined;
      default:
        this.#emitRaw(input);
        return undefined;
    }
  }

  #flowComplete({ flowName, status }: Input<'flow:complete'>): undefined {
    this.#flowName = asNonEmptyText(flowName) ?? this.#flowName;
    if (status !== 'failed') return this.#finish({ outcome: 'complete' });
    const message = `The flow "${this.#flowName}" failed without a reason.`;
    this.#finish({ outcome: 'error', error: this.#nodes.fault ?? { message, code: 'flow-failed' } });
  }

  #flowPaused(): undefined {
    this.#halted = 'paused';
    if (this.#options.pauses !== 'live' || this.#questionId !== undefined) return;
    this.#questionCount += 1;
    this.#questionId = `${this.run.runId}:pause-${this.#questionCount}`;
    this.#flowStatus('paused');
    const message = 'The flow is paused. Reply to continue.';
    this.emit({ type: 'question', questionId: this.#questionId, kind: 'input', message, schema: { type: 'string' } });
  }

  /** A resumed flow restarts its paused nodes as new invocations. */
  #flowResumed(): undefined {
    if (this.#halted !== 'paused') return;
    this.#halted = undefined;
    this.#agents.endAll({ outcome: 'paused', waitingFor: [] });
    this.#flowStatus('running');
  }

  #settled(snapshot: RunSnapshot | undefined): undefined {
    if (snapshot?.status === 'paused') this.#halted ??= 'paused';
    if (snapshot?.status === 'aborted') this.#halted = 'aborted';
    // A live pause continues with its answer; the source sends `drained` if there will be none.
    if (this.#halted === 'paused' && this.#questionId !== undefined) return;
    if (this.#halted !== undefined) return this.#finishHalted(snapshot);
    if (this.#nodes.fault !== undefined) return this.#finish({ outcome: 'error', error: this.#nodes.fault });
    this.#finish({ outcome: 'complete' });
  }

  /** Ends a paused or aborted flow after the final events of its agents. */
  #finishHalted(snapshot: RunSnapshot | undefined): undefined {
    if (this.#halted === 'aborted') return this.#finish({ outcome: 'aborted', ...this.#stopReason });
    const questionId = this.#questionId;
    const waitingFor: Extract<Outcome, { outcome: 'paused' }>['waitingFor'] = [
      questionId === undefined ? { type: 'message' } : { type: 'question', questionId },
    ];
    const token = snapshot && { ...defined({ runId: snapshot.runId }), snapshot: toJson(snapshot, this.onLoss) };
    this.#finish({ outcome: 'paused', waitingFor }, token);
  }

  #finish(outcome: Outcome, resume?: Json): undefined {
    this.#agents.endAll(outcome);
    this.#flowStatus(outcome.outcome === 'error' ? 'failed' : outcome.outcome);
    this.#isOver = true;
    const usage = this.#agents.usage.length > 0 ? this.#agents.usage : undefined;
    const undelivered = { message: undeliveredText, code: 'undelivered' };
    if (this.#isUndelivered && outcome.outcome === 'complete') {
      this.emit({ type: 'run-end', outcome: 'error', error: undelivered, ...defined({ usage }) });
      return;
    }
    if (this.#isUndelivered) this.emit({ type: 'notice', level: 'error', ...undelivered });
    this.emit({ type: 'run-end', ...outcome, ...defined({ usage, resume }) });
  }

  #command({ command }: Input<'command:received'>): string | undefined {
    if (!isFields(command)) return 'without a command';
    if (command.type === 'abort') {
      const reason = asNonEmptyText(command.reason);
      if (reason !== undefined && this.#stopReason.reason === undefined)
        this.#stopReason = { ...this.#stopReason, reason };
    }
    if (command.type !== 'send' && command.type !== 'reply') {
      this.#emitRaw({ type: 'command:received', command });
      return undefined;
    }
    const text = asText(command.type === 'send' ? command.message : command.content);
    if (text === undefined) return 'without text';
    if (text === getLastUserText(this.run)) {
      this.#reportLoss('withheld', 'command:received', 'The message is the one that this run answers.');
      return undefined;
    }
    const to = this.#agents.find(command.runId);
    // Text after the user's message starts a new part.
    to?.closeText();
    const agentId = to?.agentId;
    const id = this.ids.next();
    this.emit({ type: 'interjection', id, role: 'user', parts: [{ type: 'text', text }], ...defined({ agentId }) });
    return undefined;
  }

  #statePatch(patch: StatePatch): string | undefined {
    const isKnown = isFields(patch) && typeof patch.path === 'string' && (patch.op === 'set' || isFields(patch.value));
    const patched = isKnown ? toStatePatch(this.#state, patch) : undefined;
    if (patched === undefined) return 'with a patch that cannot be applied';
    this.#state = patched.state;
    if (patched.patch.length > 0) this.emit({ type: 'state-delta', patch: patched.patch });
    return undefined;
  }

  #flowStatus(status: FlowStatusData['status']): void {
    // A flow without `flow:start` has no status to update.
    if (this.#flowName === '' && status !== 'running') return;
    const data = { status, flowName: this.#flowName };
    this.emit({ type: 'data', id: `${this.run.runId}:flow-status`, name: 'flow-status', data });
  }

  #emitData(name: string, data: JsonObject): undefined {
    this.emit({ type: 'data', id: this.ids.next(), name, data, transient: true });
  }

  #emitRaw(value: unknown): void {
    this.emit({ type: 'raw', dialect: protocolName, value: capJson(value, undefined, this.onLoss) });
  }

  #reportLoss(kind: 'late' | 'withheld', what: string, why: string): void {
    this.onLoss({ kind, what, why });
  }
}

function toEdge({ from, to }: Input<'edge:fire'>): { from: Json; to: Json } {
  return { from: toJson(from), to: toJson(to) };
}
