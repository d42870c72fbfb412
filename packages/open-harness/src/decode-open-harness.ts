import {
  capJson,
  createPartIds,
  toJson,
  type AgentEvent,
  type Codec,
  type Emit,
  type End,
  type Fault,
  type Json,
  type JsonObject,
  type OnLoss,
  type Outcome,
  type RunInput,
  type Usage,
} from '@intertie/core';
import { addUsage, toUsage } from './agent-usage.ts';
import { defined, isFields, nameOf, textOf } from './fields.ts';
import { friendlyText } from './friendly-text.ts';
import { Invocation, type Surroundings, type Words } from './invocation.ts';
import { lastUserText } from './turn-text.ts';
import { dialect } from './open-harness-dialect.ts';
import type { FlowStatusData } from './data-types.ts';
import type { OpenHarnessInput, RuntimeEvent, StatePatch } from './runtime-event.ts';
import type { RunSnapshot } from './runtime.ts';
import { toStatePatch } from './state-patch.ts';

/** What a node gave, for those who make words of it. */
export type NodeOutput = { nodeId: string; runId: string; output: unknown };

export interface OpenHarnessDecoderOptions {
  /** Names of tools that the page has types for. All others are dynamic. */
  tools?: readonly string[];
  /**
   * Makes text of the output of a node that has said nothing, for flows without agents. `true`: the output if it is a
   * string, or its `text`. Default: no.
   */
  nodeText?: boolean | ((node: NodeOutput) => string | undefined);
  /** `live`: a pause is a question inside the run. Default: `token`, a pause ends the run. */
  pauses?: 'token' | 'live';
  onLoss?: OnLoss;
}

/** Decodes what a graph runtime of either generation says. Put `seal` behind it. */
export function createOpenHarnessDecoder(
  run: RunInput,
  options: OpenHarnessDecoderOptions = {},
): Codec<OpenHarnessInput, AgentEvent> {
  return new FlowState(run, options);
}

/** Where the transformation of a flow's events stands. */
export function createFlowState(run: RunInput, options: OpenHarnessDecoderOptions = {}): FlowState {
  return new FlowState(run, options);
}

/** One step of the decoder by hand: the canonical events that an input makes. All that it knows is in the state. */
export function transformEvent(input: OpenHarnessInput, state: FlowState): AgentEvent[] {
  const events: AgentEvent[] = [];
  state.feed(input, (event) => void events.push(event));
  return events;
}

type Input<Type extends RuntimeEvent['type']> = Extract<RuntimeEvent, { type: Type }>;
type AgentInput = Extract<RuntimeEvent, { type: `agent:${string}` }>;

/** The state machine behind the decoder. */
export class FlowState implements Codec<OpenHarnessInput, AgentEvent>, Surroundings {
  readonly ids: Surroundings['ids'];
  readonly onLoss: OnLoss;
  #run: RunInput;
  #options: OpenHarnessDecoderOptions;
  #staticTools: ReadonlySet<string>;
  #emit: Emit<AgentEvent> = () => undefined;
  #at: number | undefined;
  #isOver = false;
  #flowName = '';
  /** At work, by the wire's id of the invocation, in the order in which they started. */
  #invocations = new Map<string, Invocation>();
  /** Wire ids of invocations that are over. */
  #ended = new Set<string>();
  #agentCount = 0;
  #stepCount = 0;
  #usage: Usage[] = [];
  #state: Json;
  /** Why the node that ended last did not succeed, as long as nothing has started since. */
  #fault: Fault | undefined;
  /** The flow has said so; its agents may still have their last words. */
  #ending: 'paused' | 'aborted' | undefined;
  #stop: { by?: 'user' | 'system'; reason?: string } = {};
  #questionId: string | undefined;
  #questionCount = 0;

  constructor(run: RunInput, options: OpenHarnessDecoderOptions) {
    const { onLoss = () => undefined, tools = [] } = options;
    this.#run = run;
    this.#options = options;
    this.onLoss = onLoss;
    this.ids = createPartIds(run);
    this.#staticTools = new Set(tools);
    this.#state = run.state ?? {};
  }

  say = (event: AgentEvent): void => {
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

  feed(input: OpenHarnessInput, emit: Emit<AgentEvent>): void {
    this.#emit = emit;
    if (!isFields(input) || typeof input.type !== 'string') return this.#raw(input);
    if (this.#isOver) {
      if (input.type.includes(':')) this.#lose('late', input.type, 'It came after the flow had ended.');
      return;
    }
    const { timestamp } = input as { timestamp?: unknown };
    if (typeof timestamp === 'number' && Number.isFinite(timestamp)) this.#at = timestamp;
    const complaint = this.#take(input);
    if (complaint === undefined) return;
    this.#raw(input);
    const message = `Open Harness sent "${input.type}" ${complaint}, so it was passed over.`;
    this.say({ type: 'notice', level: 'warning', message, code: 'malformed' });
  }

  end(end: End, emit: Emit<AgentEvent>): void {
    this.#emit = emit;
    if (this.#isOver) return;
    if (end.reason === 'error') {
      return this.#finish({ outcome: 'error', error: { ...end.error, message: friendlyText(end.error.message) } });
    }
    // Stopped: the seal knows who did it. Cut off: what the flow has said by then decides.
    if (end.reason === 'aborted') return;
    if (this.#ending !== undefined) return this.#rest(undefined);
    if (this.#fault !== undefined) this.#finish({ outcome: 'error', error: this.#fault });
  }

  /** What is wrong with the input, if it is one that is known. */
  #take(input: OpenHarnessInput): string | undefined {
    switch (input.type) {
      case 'flow:start':
        this.#flowName = textOf(input.flowName) ?? '';
        this.say({ type: 'metadata', metadata: { flow: { name: this.#flowName } } });
        this.#flowStatus('running');
        return undefined;
      case 'flow:complete':
        return this.#flowComplete(input);
      case 'flow:paused':
        return this.#flowPaused();
      case 'flow:aborted':
        this.#ending = 'aborted';
        return undefined;
      case 'flow:resumed':
        return this.#flowResumed();
      case 'node:start':
        return this.#nodeStart(input);
      case 'node:complete':
        return this.#nodeComplete(input);
      case 'node:error':
        return this.#nodeError(input);
      case 'node:skipped':
        if (nameOf(input.nodeId) === undefined) return 'without a nodeId';
        return this.#show('node', { nodeId: input.nodeId, status: 'skipped', reason: toJson(input.reason) });
      case 'edge:fire':
        return this.#show('edge', { ...defined({ edgeId: nameOf(input.edgeId) }), ...ends(input) });
      case 'loop:iterate':
        return this.#show('loop', {
          ...defined({ edgeId: nameOf(input.edgeId) }),
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
        return this.#agent(input);
      case 'settled':
        return this.#settled(input.snapshot);
      case 'drained':
        if (this.#ending !== undefined) this.#rest(undefined);
        return undefined;
      case 'stopping':
        this.#stop = defined({ by: input.by, reason: input.reason });
        return undefined;
      case 'answered':
        if (this.#questionId !== undefined)
          this.say({ type: 'answer', questionId: this.#questionId, value: input.text });
        this.#questionId = undefined;
        return undefined;
      default:
        this.#raw(input);
        return undefined;
    }
  }

  #flowComplete({ flowName, status }: Input<'flow:complete'>): undefined {
    this.#flowName = nameOf(flowName) ?? this.#flowName;
    if (status !== 'failed') return this.#finish({ outcome: 'complete' });
    const message = `The flow "${this.#flowName}" failed and did not say why.`;
    this.#finish({ outcome: 'error', error: this.#fault ?? { message, code: 'flow-failed' } });
  }

  #flowPaused(): undefined {
    this.#ending = 'paused';
    if (this.#options.pauses !== 'live' || this.#questionId !== undefined) return;
    this.#questionCount += 1;
    this.#questionId = `${this.#run.runId}:pause-${this.#questionCount}`;
    this.#flowStatus('paused');
    const message = 'The flow is paused. What shall it go on with?';
    this.say({ type: 'question', questionId: this.#questionId, kind: 'input', message, schema: { type: 'string' } });
  }

  /** A flow that goes on starts its paused nodes anew, as other invocations. */
  #flowResumed(): undefined {
    if (this.#ending !== 'paused') return;
    this.#ending = undefined;
    for (const [key, invocation] of [...this.#invocations].toReversed()) {
      this.#endInvocation(key, invocation, { outcome: 'paused', waitingFor: [] });
    }
    this.#flowStatus('running');
  }

  #settled(snapshot: RunSnapshot | undefined): undefined {
    if (snapshot?.status === 'paused') this.#ending ??= 'paused';
    if (snapshot?.status === 'aborted') this.#ending = 'aborted';
    // A live pause goes on when it is answered; the source says `drained` if nobody will.
    if (this.#ending === 'paused' && this.#questionId !== undefined) return;
    if (this.#ending !== undefined) return this.#rest(snapshot);
    if (this.#fault !== undefined) return this.#finish({ outcome: 'error', error: this.#fault });
    this.#finish({ outcome: 'complete' });
  }

  /** The flow is paused or aborted, and its agents have had their last words. */
  #rest(snapshot: RunSnapshot | undefined): undefined {
    if (this.#ending === 'aborted') return this.#finish({ outcome: 'aborted', ...this.#stop });
    const questionId = this.#questionId;
    const waitingFor: Extract<Outcome, { outcome: 'paused' }>['waitingFor'] = [
      questionId === undefined ? { type: 'message' } : { type: 'question', questionId },
    ];
    const token = snapshot && { ...defined({ runId: snapshot.runId }), snapshot: toJson(snapshot, this.onLoss) };
    this.#finish({ outcome: 'paused', waitingFor }, token);
  }

  #finish(outcome: Outcome, resume?: Json): undefined {
    for (const [key, invocation] of [...this.#invocations].toReversed()) {
      if (outcome.outcome === 'complete') invocation.settleCalls();
      const agentOutcome: Outcome = outcome.outcome === 'paused' ? { outcome: 'paused', waitingFor: [] } : outcome;
      this.#endInvocation(key, invocation, agentOutcome);
    }
    this.#flowStatus(outcome.outcome === 'error' ? 'failed' : outcome.outcome);
    this.#isOver = true;
    const usage = this.#usage.length > 0 ? this.#usage : undefined;
    this.say({ type: 'run-end', ...outcome, ...defined({ usage, resume }) });
  }

  #nodeStart({ nodeId, runId }: Input<'node:start'>): string | undefined {
    if (nameOf(nodeId) === undefined) return 'without a nodeId';
    const key = nameOf(runId) ?? nodeId;
    const before = this.#invocations.get(key);
    if (before !== undefined) this.#endInvocation(key, before, { outcome: 'complete' });
    this.#fault = undefined;
    this.#start(key, nodeId, 'node', undefined);
    return undefined;
  }

  #nodeComplete({ nodeId, runId, output }: Input<'node:complete'>): string | undefined {
    if (nameOf(nodeId) === undefined) return 'without a nodeId';
    const key = nameOf(runId) ?? nodeId;
    const node = this.#node(key, nodeId);
    if (node === undefined) return this.#late('node:complete');
    this.#endChildren(node, { outcome: 'complete' });
    node.settleCalls();
    const words = node.hasText ? undefined : this.#wordsOf({ nodeId, runId: key, output });
    if (words !== undefined) node.whole('text', words);
    node.endTurn();
    const result = toJson(output, this.onLoss);
    this.say({
      type: 'data',
      id: `${this.#run.runId}:output:${nodeId}`,
      name: 'node-output',
      data: { nodeId, runId: key, output: result },
      agentId: node.agentId,
    });
    this.#endInvocation(key, node, { outcome: 'complete' }, result);
    return undefined;
  }

  #nodeError({ nodeId, runId, error }: Input<'node:error'>): string | undefined {
    if (nameOf(nodeId) === undefined) return 'without a nodeId';
    const key = nameOf(runId) ?? nodeId;
    const node = this.#node(key, nodeId);
    if (node === undefined) return this.#late('node:error');
    const why = friendlyText(textOf(error) ?? node.fault?.message ?? 'it did not say why');
    const { code = 'node-error', data } = node.fault ?? {};
    const fault: Fault = { message: `Node "${nodeId}" failed: ${why}`, code, ...defined({ data }) };
    this.#fault = fault;
    this.#endChildren(node, { outcome: 'error', error: fault });
    node.settleCalls();
    this.#endInvocation(key, node, { outcome: 'error', error: fault });
    return undefined;
  }

  #agent(input: AgentInput): string | undefined {
    if (nameOf(input.nodeId) === undefined && nameOf(input.runId) === undefined) return 'without nodeId and runId';
    const key = nameOf(input.runId) ?? input.nodeId;
    const mayBegin = input.type !== 'agent:complete' && input.type !== 'agent:paused' && input.type !== 'agent:aborted';
    if (this.#ended.has(key) && input.type !== 'agent:start') return this.#late(input.type);
    const complaint = complaintOf(input);
    if (complaint !== undefined) return complaint;
    const agent = this.#invocations.get(key) ?? (mayBegin ? this.#subAgent(key, input.nodeId) : undefined);
    if (agent === undefined) return this.#late(input.type);
    switch (input.type) {
      case 'agent:start':
        agent.startTurn();
        agent.sessionId = nameOf(input.sessionId);
        agent.fault = undefined;
        if (input.prompt !== undefined) this.#lose('withheld', 'agent:start prompt', 'A prompt is the flow’s own.');
        return undefined;
      case 'agent:text:delta':
      case 'agent:thinking:delta':
        agent.delta(kindOf(input.type), input.content);
        return undefined;
      case 'agent:text':
      case 'agent:thinking':
        agent.whole(kindOf(input.type), input.content);
        return undefined;
      case 'agent:tool': {
        const { toolInput, toolOutput, error } = input;
        const toolName = nameOf(input.toolName);
        agent.tool({ toolName, input: toolInput, output: toolOutput, error, durationMs: numberOf(input.durationMs) });
        return undefined;
      }
      case 'agent:error':
        return this.#agentError(agent, input);
      case 'agent:complete':
        return this.#agentComplete(key, agent, input);
      case 'agent:paused':
        agent.endTurn(sessionMeta(agent.sessionId ?? nameOf(input.sessionId)));
        return undefined;
      case 'agent:aborted':
        agent.endTurn({ ...sessionMeta(agent.sessionId), ...defined({ rawFinishReason: nameOf(input.reason) }) });
        return undefined;
    }
  }

  /** Flows try again, go on without the node, or recover: only the flow's own end says that it was fatal. */
  #agentError(agent: Invocation, { errorType, message, details }: Input<'agent:error'>): undefined {
    agent.closeWords();
    const code = nameOf(errorType);
    const data = details === undefined ? undefined : capJson(details);
    agent.fault = { message: friendlyText(message), ...defined({ code, data }) };
    const { agentId, stepId } = agent;
    this.say({ type: 'notice', level: 'error', ...agent.fault, agentId, ...defined({ stepId }) });
  }

  #agentComplete(key: string, agent: Invocation, input: Input<'agent:complete'>): undefined {
    const usage = toUsage(input);
    if (usage !== undefined) addUsage(this.#usage, usage);
    const { durationMs, numTurns } = input;
    const said = defined({
      sessionId: agent.sessionId,
      durationMs: numberOf(durationMs),
      numTurns: numberOf(numTurns),
    });
    const isNew = Object.keys(said).length > 0;
    agent.step();
    agent.endTurn({
      finishReason: 'stop',
      ...defined({ usage }),
      ...(isNew && { providerMetadata: { [dialect]: said } }),
    });
    agent.fault = undefined;
    if (!agent.isSubAgent) return;
    agent.settleCalls();
    const result = input.structuredOutput ?? input.result;
    this.#endInvocation(key, agent, { outcome: 'complete' }, result === undefined ? undefined : toJson(result));
  }

  #command({ command }: Input<'command:received'>): string | undefined {
    if (!isFields(command)) return 'without a command';
    if (command.type === 'abort') {
      const reason = nameOf(command.reason);
      if (reason !== undefined && this.#stop.reason === undefined) this.#stop = { ...this.#stop, reason };
    }
    if (command.type !== 'send' && command.type !== 'reply') {
      this.#raw({ type: 'command:received', command });
      return undefined;
    }
    const text = textOf(command.type === 'send' ? command.message : command.content);
    if (text === undefined) return 'without words';
    if (text === lastUserText(this.#run)) {
      this.#lose('withheld', 'command:received', 'It is the message that this run answers.');
      return undefined;
    }
    const agentId = this.#invocations.get(nameOf(command.runId) ?? '')?.agentId;
    const id = this.ids.next();
    this.say({ type: 'interjection', id, role: 'user', parts: [{ type: 'text', text }], ...defined({ agentId }) });
    return undefined;
  }

  #statePatch(patch: StatePatch): string | undefined {
    const isKnown = isFields(patch) && typeof patch.path === 'string' && (patch.op === 'set' || isFields(patch.value));
    const patched = isKnown ? toStatePatch(this.#state, patch) : undefined;
    if (patched === undefined) return 'with a patch that cannot be applied';
    this.#state = patched.state;
    if (patched.patch.length > 0) this.say({ type: 'state-delta', patch: patched.patch });
    return undefined;
  }

  #node(key: string, nodeId: string): Invocation | undefined {
    if (this.#ended.has(key)) return undefined;
    return this.#invocations.get(key) ?? this.#start(key, nodeId, 'node', undefined);
  }

  /** Nobody has announced it: a node speaks for several agents, each under an id of its own. */
  #subAgent(key: string, nodeId: string | undefined): Invocation {
    const nodes = [...this.#invocations].filter(([, { isSubAgent }]) => !isSubAgent);
    const above = nodes.findLast(([node, { name }]) => key.startsWith(node) || nodeId?.startsWith(`${name}.`));
    return this.#start(key, nameOf(nodeId) ?? key, 'agent', (above ?? nodes.at(-1))?.[1]);
  }

  #start(key: string, name: string, kind: 'node' | 'agent', parent: Invocation | undefined): Invocation {
    this.#agentCount += 1;
    const agentId = `${this.#run.runId}:agent-${this.#agentCount}`;
    const invocation = new Invocation(this, { agentId, name, isSubAgent: kind === 'agent', parent });
    this.#invocations.set(key, invocation);
    this.#ended.delete(key);
    const providerMetadata = { [dialect]: { nodeId: name, runId: key } };
    this.say({
      type: 'agent-start',
      agentId,
      name,
      kind,
      ...defined({ parentAgentId: parent?.agentId }),
      providerMetadata,
    });
    return invocation;
  }

  #endChildren(parent: Invocation, outcome: Outcome): void {
    for (const [key, invocation] of [...this.#invocations].toReversed()) {
      if (invocation.parent !== parent) continue;
      invocation.settleCalls();
      this.#endInvocation(key, invocation, outcome);
    }
  }

  #endInvocation(key: string, invocation: Invocation, outcome: Outcome, result?: Json): void {
    invocation.endTurn(sessionMeta(invocation.sessionId));
    this.#invocations.delete(key);
    this.#ended.add(key);
    this.say({ type: 'agent-end', agentId: invocation.agentId, ...outcome, ...defined({ result }) });
  }

  #wordsOf(node: NodeOutput): string | undefined {
    const { nodeText = false } = this.#options;
    if (nodeText === false) return undefined;
    if (nodeText !== true) return nodeText(node);
    const { output } = node;
    return nameOf(output) ?? (isFields(output) ? nameOf(output.text) : undefined);
  }

  #flowStatus(status: FlowStatusData['status']): void {
    // Nothing has been said of a flow that never started.
    if (this.#flowName === '' && status !== 'running') return;
    const data = { status, flowName: this.#flowName };
    this.say({ type: 'data', id: `${this.#run.runId}:flow-status`, name: 'flow-status', data });
  }

  #show(name: string, data: JsonObject): undefined {
    this.say({ type: 'data', id: this.ids.next(), name, data, transient: true });
  }

  #late(what: string): undefined {
    this.#lose('late', what, 'Its node had ended.');
  }

  #raw(value: unknown): void {
    this.say({ type: 'raw', dialect, value: capJson(value, undefined, this.onLoss) });
  }

  #lose(kind: 'late' | 'withheld', what: string, why: string): void {
    this.onLoss({ kind, what, why });
  }
}

/** What is missing in an agent's event. */
function complaintOf(input: AgentInput): string | undefined {
  switch (input.type) {
    case 'agent:text':
    case 'agent:text:delta':
    case 'agent:thinking':
    case 'agent:thinking:delta':
      return typeof input.content === 'string' ? undefined : 'without content';
    case 'agent:error':
      return typeof input.message === 'string' ? undefined : 'without a message';
    case 'agent:tool':
      return input.error === undefined || typeof input.error === 'string' ? undefined : 'with an error that is no text';
    default:
      return undefined;
  }
}

function kindOf(type: string): Words {
  return type.startsWith('agent:text') ? 'text' : 'reasoning';
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function ends({ from, to }: Input<'edge:fire'>): { from: Json; to: Json } {
  return { from: toJson(from), to: toJson(to) };
}

function sessionMeta(sessionId: string | undefined): { providerMetadata?: { [key: string]: { sessionId: string } } } {
  return sessionId === undefined ? {} : { providerMetadata: { [dialect]: { sessionId } } };
}
