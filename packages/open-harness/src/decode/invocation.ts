import type { AgentEvent, Emit, Fault, Meta, OnLoss } from '@intertie/core';
import { toJson } from '@intertie/core';
import type { PartIds } from '@intertie/core/internal';
import { protocolName } from './protocol-name.ts';

export type TextKind = 'text' | 'reasoning';
type Call = { toolCallId: string; toolName: string };

/** The part of the run's state that an invocation needs. */
export interface RunContext {
  emit: Emit<AgentEvent>;
  ids: PartIds;
  nextStepId(): string;
  isStatic(toolName: string): boolean;
  onLoss: OnLoss;
}

export type ToolUse = {
  toolName?: string | undefined;
  input?: unknown;
  output?: unknown;
  error?: string | undefined;
  durationMs?: number | undefined;
};

/** Name of a tool that the runtime does not name. */
const unknownTool = 'unknown';

/**
 * One invocation of a node, or a sub-agent inside one: its step, its open text part, and its calls without a result. The wire
 * has neither ids of parts and calls nor the start of a block, so both are derived here.
 */
export class Invocation {
  readonly agentId: string;
  readonly name: string;
  /** A sub-agent has no `node:start` of its own and ends with its step. */
  readonly isSubAgent: boolean;
  readonly parent: Invocation | undefined;
  /** Last `agent:error`, the cause if the node then fails. */
  fault: Fault | undefined;
  hasText = false;
  sessionId: string | undefined;
  #context: RunContext;
  #stepId: string | undefined;
  #open: { kind: TextKind; id: string; text: string } | undefined;
  /** Text of blocks that were closed before their complete text arrived, which then adds nothing. */
  #unconfirmed = new Map<TextKind, string>();
  #calls: Call[] = [];

  constructor(
    context: RunContext,
    identity: { agentId: string; name: string; isSubAgent: boolean; parent: Invocation | undefined },
  ) {
    this.#context = context;
    this.agentId = identity.agentId;
    this.name = identity.name;
    this.isSubAgent = identity.isSubAgent;
    this.parent = identity.parent;
  }

  /** Returns the open step, or starts one: events without an `agent:start` need a step too. */
  ensureStep(): string {
    this.#stepId ??= this.#startStep();
    return this.#stepId;
  }

  get stepId(): string | undefined {
    return this.#stepId;
  }

  /** Starts a step. If one is open and has an error, this is a retry and the open step is discarded. */
  restartStep(): void {
    if (this.#stepId !== undefined && this.fault !== undefined) this.endStep({ discarded: true });
    else this.endStep();
    this.ensureStep();
  }

  endStep(fields: Omit<Extract<AgentEvent, { type: 'step-end' }>, 'type' | 'stepId'> = {}): void {
    this.closeText();
    this.#unconfirmed.clear();
    if (fields.discarded) this.#calls = [];
    if (this.#stepId === undefined) return;
    this.#context.emit({ type: 'step-end', stepId: this.#stepId, ...fields });
    this.#stepId = undefined;
  }

  appendText(kind: TextKind, delta: string): void {
    if (delta === '') return;
    const open = this.#openText(kind);
    open.text += delta;
    this.#context.emit({ type: `${kind}-delta`, id: open.id, delta });
  }

  /** Completes a block: emits what the deltas lack of `content`, and closes the part. */
  completeText(kind: TextKind, content: string): void {
    const open = this.#open?.kind === kind ? this.#open : undefined;
    const text = open?.text ?? this.#unconfirmed.get(kind);
    this.#unconfirmed.delete(kind);
    if (text === undefined) {
      this.appendText(kind, content);
    } else if (open !== undefined && content.startsWith(text)) {
      this.appendText(kind, content.slice(text.length));
    } else if (text.trim() !== content.trim() && !text.startsWith(content)) {
      const why = 'The complete text differs from its deltas. The streamed text is kept.';
      this.#context.onLoss({ kind: 'repaired', what: `agent:${kind === 'text' ? 'text' : 'thinking'}`, why });
    }
    this.closeText();
    this.#unconfirmed.delete(kind);
  }

  closeText(): void {
    if (this.#open === undefined) return;
    const { kind, id, text } = this.#open;
    this.#open = undefined;
    this.#unconfirmed.set(kind, text);
    this.#context.emit({ type: `${kind}-end`, id });
  }

  /** Emits a tool use. It arrives in one event, or as input and then output, without an id. */
  emitToolUse({ toolName = unknownTool, input, output, error, durationMs }: ToolUse): void {
    this.closeText();
    const isOver = output !== undefined || error !== undefined;
    const started = isOver && input === undefined ? this.#removeCall(toolName) : undefined;
    const call = started ?? this.#emitCall(toolName, input);
    if (!isOver) {
      this.#calls.push(call);
      return;
    }
    const providerMetadata: Meta | undefined =
      durationMs === undefined ? undefined : { [protocolName]: { durationMs } };
    const fields = { toolCallId: call.toolCallId, ...(providerMetadata && { providerMetadata }) };
    // An empty error text is still an error.
    if (error === undefined) {
      this.#context.emit({
        type: 'tool-result',
        ...fields,
        status: 'ok',
        output: toJson(output, this.#context.onLoss),
      });
    } else {
      const message = error === '' ? `The tool "${call.toolName}" failed without a reason.` : error;
      this.#context.emit({ type: 'tool-result', ...fields, status: 'error', error: { message } });
    }
  }

  /** Fails the calls without a result at the end of the node. */
  failOpenCalls(): void {
    for (const { toolCallId, toolName } of this.#calls) {
      const error = { message: `The tool "${toolName}" returned no output before its node ended.`, code: 'no-output' };
      this.#context.emit({ type: 'tool-result', toolCallId, status: 'error', error });
    }
    this.#calls = [];
  }

  #openText(kind: TextKind): { kind: TextKind; id: string; text: string } {
    if (this.#open?.kind === kind) return this.#open;
    this.closeText();
    if (kind === 'text') this.hasText = true;
    this.#unconfirmed.delete(kind);
    const stepId = this.ensureStep();
    this.#open = { kind, id: this.#context.ids.next(), text: '' };
    this.#context.emit({ type: `${kind}-start`, id: this.#open.id, agentId: this.agentId, stepId });
    return this.#open;
  }

  #emitCall(toolName: string, input: unknown): Call {
    const toolCallId = this.#context.ids.next();
    this.#context.emit({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: input === undefined ? {} : toJson(input, this.#context.onLoss),
      executor: 'runtime',
      dynamic: !this.#context.isStatic(toolName),
      agentId: this.agentId,
      stepId: this.ensureStep(),
    });
    return { toolCallId, toolName };
  }

  #removeCall(toolName: string): Call | undefined {
    const place = this.#calls.findIndex((call) => call.toolName === toolName || toolName === unknownTool);
    return place === -1 ? undefined : this.#calls.splice(place, 1)[0];
  }

  #startStep(): string {
    const stepId = this.#context.nextStepId();
    this.#context.emit({ type: 'step-start', stepId, agentId: this.agentId, name: this.name });
    return stepId;
  }
}
