import { toJson, type AgentEvent, type Emit, type Fault, type Meta, type OnLoss, type PartIds } from '@intertie/core';
import { dialect } from './dialect-name.ts';

export type TextKind = 'text' | 'reasoning';
type Call = { toolCallId: string; toolName: string };

/** What an invocation needs of the run that it is in. */
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

/** Where a runtime knows no name. */
const unknownTool = 'unknown';

/**
 * One invocation of a node, or a sub-agent inside one: its turn, the words that are open, the calls that have no result.
 * The wire gives parts and calls no ids and does not say where a block begins, so that is worked out here.
 */
export class Invocation {
  readonly agentId: string;
  readonly name: string;
  /** Without a `node:start` of its own, so that its turn is all of it. */
  readonly isSubAgent: boolean;
  readonly parent: Invocation | undefined;
  /** The last that an agent complained of, which is the cause if the node then fails. */
  fault: Fault | undefined;
  hasText = false;
  sessionId: string | undefined;
  #context: RunContext;
  #stepId: string | undefined;
  #open: { kind: TextKind; id: string; said: string } | undefined;
  /** Blocks that were closed before their whole came, which then says nothing new. */
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

  /** The turn that is open, or a new one: what a node says without `agent:start` is a turn too. */
  ensureStep(): string {
    this.#stepId ??= this.#startStep();
    return this.#stepId;
  }

  get stepId(): string | undefined {
    return this.#stepId;
  }

  /** A turn begins. One that is still open has failed and is tried again. */
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
    open.said += delta;
    this.#context.emit({ type: `${kind}-delta`, id: open.id, delta });
  }

  /** A block as a whole: what its deltas have not said yet is said, and it is over. */
  completeText(kind: TextKind, content: string): void {
    const open = this.#open?.kind === kind ? this.#open : undefined;
    const said = open?.said ?? this.#unconfirmed.get(kind);
    this.#unconfirmed.delete(kind);
    if (said === undefined) {
      this.appendText(kind, content);
    } else if (open !== undefined && content.startsWith(said)) {
      this.appendText(kind, content.slice(said.length));
    } else if (said.trim() !== content.trim() && !said.startsWith(content)) {
      const why = 'The whole block is not what its deltas said. What was streamed stands.';
      this.#context.onLoss({ kind: 'repaired', what: `agent:${kind === 'text' ? 'text' : 'thinking'}`, why });
    }
    this.closeText();
    this.#unconfirmed.delete(kind);
  }

  closeText(): void {
    if (this.#open === undefined) return;
    const { kind, id, said } = this.#open;
    this.#open = undefined;
    this.#unconfirmed.set(kind, said);
    this.#context.emit({ type: `${kind}-end`, id });
  }

  /** A use of a tool comes at once, or first with its input and then with its output, and without an id. */
  emitToolUse({ toolName = unknownTool, input, output, error, durationMs }: ToolUse): void {
    this.closeText();
    const isOver = output !== undefined || error !== undefined;
    const started = isOver && input === undefined ? this.#removeCall(toolName) : undefined;
    const call = started ?? this.#emitCall(toolName, input);
    if (!isOver) {
      this.#calls.push(call);
      return;
    }
    const providerMetadata: Meta | undefined = durationMs === undefined ? undefined : { [dialect]: { durationMs } };
    const fields = { toolCallId: call.toolCallId, ...(providerMetadata && { providerMetadata }) };
    // An empty error is one too.
    if (error === undefined) {
      this.#context.emit({
        type: 'tool-result',
        ...fields,
        status: 'ok',
        output: toJson(output, this.#context.onLoss),
      });
    } else {
      const message = error === '' ? `The tool "${call.toolName}" failed and did not say why.` : error;
      this.#context.emit({ type: 'tool-result', ...fields, status: 'error', error: { message } });
    }
  }

  /** The node is over: a tool that has given nothing by now has failed. */
  failOpenCalls(): void {
    for (const { toolCallId, toolName } of this.#calls) {
      const error = { message: `The tool "${toolName}" gave no output before its node ended.`, code: 'no-output' };
      this.#context.emit({ type: 'tool-result', toolCallId, status: 'error', error });
    }
    this.#calls = [];
  }

  #openText(kind: TextKind): { kind: TextKind; id: string; said: string } {
    if (this.#open?.kind === kind) return this.#open;
    this.closeText();
    if (kind === 'text') this.hasText = true;
    this.#unconfirmed.delete(kind);
    const stepId = this.ensureStep();
    this.#open = { kind, id: this.#context.ids.next(), said: '' };
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
