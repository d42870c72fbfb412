import type { AgentEvent, Emit, Fault, Meta, OnLoss } from '@intertie/core';
import { toJson, type PartIds } from '@intertie/core/internal';
import { dialect } from './dialect-name.ts';

export type Words = 'text' | 'reasoning';
type Call = { toolCallId: string; toolName: string };

/** What an invocation needs of the run that it is in. */
export interface Surroundings {
  say: Emit<AgentEvent>;
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
  #around: Surroundings;
  #stepId: string | undefined;
  #open: { kind: Words; id: string; said: string } | undefined;
  /** Blocks that were closed before their whole came, which then says nothing new. */
  #unconfirmed = new Map<Words, string>();
  #calls: Call[] = [];

  constructor(
    around: Surroundings,
    who: { agentId: string; name: string; isSubAgent: boolean; parent: Invocation | undefined },
  ) {
    this.#around = around;
    this.agentId = who.agentId;
    this.name = who.name;
    this.isSubAgent = who.isSubAgent;
    this.parent = who.parent;
  }

  /** The turn that is open, or a new one: what a node says without `agent:start` is a turn too. */
  step(): string {
    this.#stepId ??= this.#startStep();
    return this.#stepId;
  }

  get stepId(): string | undefined {
    return this.#stepId;
  }

  /** A turn begins. One that is still open has failed and is tried again. */
  startTurn(): void {
    if (this.#stepId !== undefined && this.fault !== undefined) this.endTurn({ discarded: true });
    else this.endTurn();
    this.step();
  }

  endTurn(more: Omit<Extract<AgentEvent, { type: 'step-end' }>, 'type' | 'stepId'> = {}): void {
    this.closeWords();
    this.#unconfirmed.clear();
    if (more.discarded) this.#calls = [];
    if (this.#stepId === undefined) return;
    this.#around.say({ type: 'step-end', stepId: this.#stepId, ...more });
    this.#stepId = undefined;
  }

  delta(kind: Words, delta: string): void {
    if (delta === '') return;
    const open = this.#openWords(kind);
    open.said += delta;
    this.#around.say({ type: `${kind}-delta`, id: open.id, delta });
  }

  /** A block as a whole: what its deltas have not said yet is said, and it is over. */
  whole(kind: Words, content: string): void {
    const open = this.#open?.kind === kind ? this.#open : undefined;
    const said = open?.said ?? this.#unconfirmed.get(kind);
    this.#unconfirmed.delete(kind);
    if (said === undefined) {
      this.delta(kind, content);
    } else if (open !== undefined && content.startsWith(said)) {
      this.delta(kind, content.slice(said.length));
    } else if (said.trim() !== content.trim() && !said.startsWith(content)) {
      const why = 'The whole block is not what its deltas said. What was streamed stands.';
      this.#around.onLoss({ kind: 'repaired', what: `agent:${kind === 'text' ? 'text' : 'thinking'}`, why });
    }
    this.closeWords();
    this.#unconfirmed.delete(kind);
  }

  closeWords(): void {
    if (this.#open === undefined) return;
    const { kind, id, said } = this.#open;
    this.#open = undefined;
    this.#unconfirmed.set(kind, said);
    this.#around.say({ type: `${kind}-end`, id });
  }

  /** A use of a tool comes at once, or first with its input and then with its output, and without an id. */
  tool({ toolName = unknownTool, input, output, error, durationMs }: ToolUse): void {
    this.closeWords();
    const isOver = output !== undefined || error !== undefined;
    const begun = isOver && input === undefined ? this.#takeCall(toolName) : undefined;
    const call = begun ?? this.#call(toolName, input);
    if (!isOver) {
      this.#calls.push(call);
      return;
    }
    const providerMetadata: Meta | undefined = durationMs === undefined ? undefined : { [dialect]: { durationMs } };
    const more = { toolCallId: call.toolCallId, ...(providerMetadata && { providerMetadata }) };
    // An empty error is one too.
    if (error === undefined) {
      this.#around.say({ type: 'tool-result', ...more, status: 'ok', output: toJson(output, this.#around.onLoss) });
    } else {
      const message = error === '' ? `The tool "${call.toolName}" failed and did not say why.` : error;
      this.#around.say({ type: 'tool-result', ...more, status: 'error', error: { message } });
    }
  }

  /** The node is over: a tool that has given nothing by now has failed. */
  settleCalls(): void {
    for (const { toolCallId, toolName } of this.#calls) {
      const error = { message: `The tool "${toolName}" gave no output before its node ended.`, code: 'no-output' };
      this.#around.say({ type: 'tool-result', toolCallId, status: 'error', error });
    }
    this.#calls = [];
  }

  #openWords(kind: Words): { kind: Words; id: string; said: string } {
    if (this.#open?.kind === kind) return this.#open;
    this.closeWords();
    if (kind === 'text') this.hasText = true;
    this.#unconfirmed.delete(kind);
    const stepId = this.step();
    this.#open = { kind, id: this.#around.ids.next(), said: '' };
    this.#around.say({ type: `${kind}-start`, id: this.#open.id, agentId: this.agentId, stepId });
    return this.#open;
  }

  #call(toolName: string, input: unknown): Call {
    const toolCallId = this.#around.ids.next();
    this.#around.say({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: input === undefined ? {} : toJson(input, this.#around.onLoss),
      executor: 'runtime',
      dynamic: !this.#around.isStatic(toolName),
      agentId: this.agentId,
      stepId: this.step(),
    });
    return { toolCallId, toolName };
  }

  #takeCall(toolName: string): Call | undefined {
    const place = this.#calls.findIndex((call) => call.toolName === toolName || toolName === unknownTool);
    return place === -1 ? undefined : this.#calls.splice(place, 1)[0];
  }

  #startStep(): string {
    const stepId = this.#around.nextStepId();
    this.#around.say({ type: 'step-start', stepId, agentId: this.agentId, name: this.name });
    return stepId;
  }
}
