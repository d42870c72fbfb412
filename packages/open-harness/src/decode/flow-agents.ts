import type { Json, Outcome, RunInput, Usage } from '@intertie/core';
import { capJson, toJson, defined, asNonEmptyText, asNumber } from '@intertie/core/internal';
import { addUsage, toUsage } from './agent-usage.ts';
import { friendlyText } from './friendly-text.ts';
import { Invocation, type Surroundings, type Words } from './invocation.ts';
import { dialect } from './dialect-name.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';

type Input<Type extends RuntimeEvent['type']> = Extract<RuntimeEvent, { type: Type }>;
type AgentInput = Extract<RuntimeEvent, { type: `agent:${string}` }>;

/** Who is at work in a flow, and what they say. */
export class FlowAgents {
  /** Of all of them, so far. */
  readonly usage: Usage[] = [];
  #flow: Surroundings & { readonly run: RunInput };
  /** At work, by the wire's id of the invocation, in the order in which they started. */
  #invocations = new Map<string, Invocation>();
  /** Wire ids of invocations that are over. */
  #ended = new Set<string>();
  #count = 0;

  constructor(flow: Surroundings & { readonly run: RunInput }) {
    this.#flow = flow;
  }

  at(wireId: unknown): Invocation | undefined {
    return this.#invocations.get(asNonEmptyText(wireId) ?? '');
  }

  startNode(key: string, nodeId: string): void {
    const before = this.#invocations.get(key);
    if (before !== undefined) this.end(key, before, { outcome: 'complete' });
    this.#start(key, nodeId, 'node', undefined);
  }

  /** With the flow, and as it did; the last that started first. */
  endAll(outcome: Outcome): void {
    const own: Outcome = outcome.outcome === 'paused' ? { outcome: 'paused', waitingFor: [] } : outcome;
    for (const [key, invocation] of [...this.#invocations].toReversed()) {
      if (outcome.outcome === 'complete') invocation.settleCalls();
      this.end(key, invocation, own);
    }
  }

  late(what: string): undefined {
    this.#flow.onLoss({ kind: 'late', what, why: 'Its node had ended.' });
  }

  /** What an agent says; or what is wrong with it. */
  take(input: AgentInput): string | undefined {
    if (asNonEmptyText(input.nodeId) === undefined && asNonEmptyText(input.runId) === undefined)
      return 'without nodeId and runId';
    const key = asNonEmptyText(input.runId) ?? input.nodeId;
    const mayBegin = input.type !== 'agent:complete' && input.type !== 'agent:paused' && input.type !== 'agent:aborted';
    if (this.#ended.has(key) && input.type !== 'agent:start') return this.late(input.type);
    const complaint = complaintOf(input);
    if (complaint !== undefined) return complaint;
    const agent = this.#invocations.get(key) ?? (mayBegin ? this.#subAgent(key, input.nodeId) : undefined);
    if (agent === undefined) return this.late(input.type);
    switch (input.type) {
      case 'agent:start':
        agent.startTurn();
        agent.sessionId = asNonEmptyText(input.sessionId);
        agent.fault = undefined;
        if (input.prompt !== undefined)
          this.#flow.onLoss({ kind: 'withheld', what: 'agent:start prompt', why: 'A prompt is the flow’s own.' });
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
        const toolName = asNonEmptyText(input.toolName);
        agent.tool({ toolName, input: toolInput, output: toolOutput, error, durationMs: asNumber(input.durationMs) });
        return undefined;
      }
      case 'agent:error':
        return this.#agentError(agent, input);
      case 'agent:complete':
        return this.#agentComplete(key, agent, input);
      case 'agent:paused':
        agent.endTurn(sessionMeta(agent.sessionId ?? asNonEmptyText(input.sessionId)));
        return undefined;
      case 'agent:aborted':
        agent.endTurn({
          ...sessionMeta(agent.sessionId),
          ...defined({ rawFinishReason: asNonEmptyText(input.reason) }),
        });
        return undefined;
    }
  }

  /** Flows try again, go on without the node, or recover: only the flow's own end says that it was fatal. */
  #agentError(agent: Invocation, { errorType, message, details }: Input<'agent:error'>): undefined {
    agent.closeWords();
    const code = asNonEmptyText(errorType);
    const data = details === undefined ? undefined : capJson(details);
    agent.fault = { message: friendlyText(message), ...defined({ code, data }) };
    const { agentId, stepId } = agent;
    this.#flow.say({ type: 'notice', level: 'error', ...agent.fault, agentId, ...defined({ stepId }) });
  }

  #agentComplete(key: string, agent: Invocation, input: Input<'agent:complete'>): undefined {
    const usage = toUsage(input);
    if (usage !== undefined) addUsage(this.usage, usage);
    const { durationMs, numTurns } = input;
    const said = defined({
      sessionId: agent.sessionId,
      durationMs: asNumber(durationMs),
      numTurns: asNumber(numTurns),
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
    this.end(key, agent, { outcome: 'complete' }, result === undefined ? undefined : toJson(result));
  }

  /** A node that is at work, announced or not. */
  node(key: string, nodeId: string): Invocation | undefined {
    if (this.#ended.has(key)) return undefined;
    return this.#invocations.get(key) ?? this.#start(key, nodeId, 'node', undefined);
  }

  /** Nobody has announced it: a node speaks for several agents, each under an id of its own. */
  #subAgent(key: string, nodeId: string | undefined): Invocation {
    const nodes = [...this.#invocations].filter(([, { isSubAgent }]) => !isSubAgent);
    const above = nodes.findLast(([node, { name }]) => key.startsWith(node) || nodeId?.startsWith(`${name}.`));
    return this.#start(key, asNonEmptyText(nodeId) ?? key, 'agent', (above ?? nodes.at(-1))?.[1]);
  }

  #start(key: string, name: string, kind: 'node' | 'agent', parent: Invocation | undefined): Invocation {
    this.#count += 1;
    const agentId = `${this.#flow.run.runId}:agent-${this.#count}`;
    const invocation = new Invocation(this.#flow, { agentId, name, isSubAgent: kind === 'agent', parent });
    this.#invocations.set(key, invocation);
    this.#ended.delete(key);
    const providerMetadata = { [dialect]: { nodeId: name, runId: key } };
    this.#flow.say({
      type: 'agent-start',
      agentId,
      name,
      kind,
      ...defined({ parentAgentId: parent?.agentId }),
      providerMetadata,
    });
    return invocation;
  }

  endChildren(parent: Invocation, outcome: Outcome): void {
    for (const [key, invocation] of [...this.#invocations].toReversed()) {
      if (invocation.parent !== parent) continue;
      invocation.settleCalls();
      this.end(key, invocation, outcome);
    }
  }

  end(key: string, invocation: Invocation, outcome: Outcome, result?: Json): void {
    invocation.endTurn(sessionMeta(invocation.sessionId));
    this.#invocations.delete(key);
    this.#ended.add(key);
    this.#flow.say({ type: 'agent-end', agentId: invocation.agentId, ...outcome, ...defined({ result }) });
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

function sessionMeta(sessionId: string | undefined): { providerMetadata?: { [key: string]: { sessionId: string } } } {
  return sessionId === undefined ? {} : { providerMetadata: { [dialect]: { sessionId } } };
}
