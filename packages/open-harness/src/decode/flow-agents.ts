import type { Json, Outcome, RunInput, Usage } from '@intertie/core';
import { toJson } from '@intertie/core';
import { capJson, defined, asNonEmptyText, asNumber } from '@intertie/core/internal';
import { addUsage, toUsage } from './agent-usage.ts';
import { formatErrorText } from './format-error-text.ts';
import { Invocation, type RunContext, type TextKind } from './invocation.ts';
import { protocolName } from './protocol-name.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';

type Input<Type extends RuntimeEvent['type']> = Extract<RuntimeEvent, { type: Type }>;
type AgentInput = Extract<RuntimeEvent, { type: `agent:${string}` }>;

/** Decodes the agent events of a flow. Tracks the running invocations of nodes and their sub-agents. */
export class FlowAgents {
  /** Total usage of all agents so far. */
  readonly usage: Usage[] = [];
  #flow: RunContext & { readonly run: RunInput };
  /** Running invocations by wire id, in start order. */
  #invocations = new Map<string, Invocation>();
  /** Wire ids of ended invocations. */
  #ended = new Set<string>();
  #count = 0;

  constructor(flow: RunContext & { readonly run: RunInput }) {
    this.#flow = flow;
  }

  find(wireId: unknown): Invocation | undefined {
    return this.#invocations.get(asNonEmptyText(wireId) ?? '');
  }

  startNode(key: string, nodeId: string): void {
    const before = this.#invocations.get(key);
    if (before !== undefined) this.end(key, before, { outcome: 'complete' });
    this.#start(key, nodeId, 'node', undefined);
  }

  /** Ends all invocations with the outcome of the flow, the last started first. */
  endAll(outcome: Outcome): void {
    const own: Outcome = outcome.outcome === 'paused' ? { outcome: 'paused', waitingFor: [] } : outcome;
    for (const [key, invocation] of [...this.#invocations].toReversed()) {
      if (outcome.outcome === 'complete') invocation.failOpenCalls();
      this.end(key, invocation, own);
    }
  }

  reportLate(what: string): undefined {
    this.#flow.onLoss({ kind: 'late', what, why: 'The event arrived after the end of its node.' });
  }

  /** Decodes an agent event. Returns a description of the problem if the event is malformed. */
  decode(input: AgentInput): string | undefined {
    if (asNonEmptyText(input.nodeId) === undefined && asNonEmptyText(input.runId) === undefined)
      return 'without nodeId and runId';
    const key = asNonEmptyText(input.runId) ?? input.nodeId;
    const mayBegin = input.type !== 'agent:complete' && input.type !== 'agent:paused' && input.type !== 'agent:aborted';
    if (this.#ended.has(key) && input.type !== 'agent:start') return this.reportLate(input.type);
    const problem = findProblem(input);
    if (problem !== undefined) return problem;
    const agent = this.#invocations.get(key) ?? (mayBegin ? this.#startSubAgent(key, input.nodeId) : undefined);
    if (agent === undefined) return this.reportLate(input.type);
    switch (input.type) {
      case 'agent:start':
        agent.restartStep();
        agent.sessionId = asNonEmptyText(input.sessionId);
        agent.fault = undefined;
        if (input.prompt !== undefined)
          this.#flow.onLoss({ kind: 'withheld', what: 'agent:start prompt', why: 'Prompts are internal to the flow.' });
        return undefined;
      case 'agent:text:delta':
      case 'agent:thinking:delta':
        agent.appendText(toTextKind(input.type), input.content);
        return undefined;
      case 'agent:text':
      case 'agent:thinking':
        agent.completeText(toTextKind(input.type), input.content);
        return undefined;
      case 'agent:tool': {
        const { toolInput, toolOutput, error } = input;
        const toolName = asNonEmptyText(input.toolName);
        agent.emitToolUse({
          toolName,
          input: toolInput,
          output: toolOutput,
          error,
          durationMs: asNumber(input.durationMs),
        });
        return undefined;
      }
      case 'agent:error':
        return this.#agentError(agent, input);
      case 'agent:complete':
        return this.#agentComplete(key, agent, input);
      case 'agent:paused':
        agent.endStep(toSessionMetadata(agent.sessionId ?? asNonEmptyText(input.sessionId)));
        return undefined;
      case 'agent:aborted':
        agent.endStep({
          ...toSessionMetadata(agent.sessionId),
          ...defined({ rawFinishReason: asNonEmptyText(input.reason) }),
        });
        return undefined;
    }
  }

  /** Emits a notice. Flows retry, skip the node, or recover: only the end of the flow shows whether the error was fatal. */
  #agentError(agent: Invocation, { errorType, message, details }: Input<'agent:error'>): undefined {
    agent.closeText();
    const code = asNonEmptyText(errorType);
    const data = details === undefined ? undefined : capJson(details);
    agent.fault = { message: formatErrorText(message), ...defined({ code, data }) };
    const { agentId, stepId } = agent;
    this.#flow.emit({ type: 'notice', level: 'error', ...agent.fault, agentId, ...defined({ stepId }) });
  }

  #agentComplete(key: string, agent: Invocation, input: Input<'agent:complete'>): undefined {
    const usage = toUsage(input);
    if (usage !== undefined) addUsage(this.usage, usage);
    const { durationMs, numTurns } = input;
    const metadata = defined({
      sessionId: agent.sessionId,
      durationMs: asNumber(durationMs),
      numTurns: asNumber(numTurns),
    });
    const isNew = Object.keys(metadata).length > 0;
    agent.ensureStep();
    agent.endStep({
      finishReason: 'stop',
      ...defined({ usage }),
      ...(isNew && { providerMetadata: { [protocolName]: metadata } }),
    });
    agent.fault = undefined;
    if (!agent.isSubAgent) return;
    agent.failOpenCalls();
    const result = input.structuredOutput ?? input.result;
    this.end(key, agent, { outcome: 'complete' }, result === undefined ? undefined : toJson(result));
  }

  /** Returns a running node, and starts it if its `node:start` is missing. Returns undefined for an ended one. */
  ensureNode(key: string, nodeId: string): Invocation | undefined {
    if (this.#ended.has(key)) return undefined;
    return this.#invocations.get(key) ?? this.#start(key, nodeId, 'node', undefined);
  }

  /** Starts a sub-agent, which has its own id and no start event. Its parent is found by prefix, else the last node. */
  #startSubAgent(key: string, nodeId: string | undefined): Invocation {
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
    const providerMetadata = { [protocolName]: { nodeId: name, runId: key } };
    this.#flow.emit({
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
      invocation.failOpenCalls();
      this.end(key, invocation, outcome);
    }
  }

  end(key: string, invocation: Invocation, outcome: Outcome, result?: Json): void {
    invocation.endStep(toSessionMetadata(invocation.sessionId));
    this.#invocations.delete(key);
    this.#ended.add(key);
    this.#flow.emit({ type: 'agent-end', agentId: invocation.agentId, ...outcome, ...defined({ result }) });
  }
}

/** Describes a missing or invalid field of an agent event. */
function findProblem(input: AgentInput): string | undefined {
  switch (input.type) {
    case 'agent:text':
    case 'agent:text:delta':
    case 'agent:thinking':
    case 'agent:thinking:delta':
      return typeof input.content === 'string' ? undefined : 'without content';
    case 'agent:error':
      return typeof input.message === 'string' ? undefined : 'without a message';
    case 'agent:tool':
      return input.error === undefined || typeof input.error === 'string'
        ? undefined
        : 'with an error that is not text';
    default:
      return undefined;
  }
}

function toTextKind(type: string): TextKind {
  return type.startsWith('agent:text') ? 'text' : 'reasoning';
}

function toSessionMetadata(sessionId: string | undefined): {
  providerMetadata?: { [key: string]: { sessionId: string } };
} {
  return sessionId === undefined ? {} : { providerMetadata: { [protocolName]: { sessionId } } };
}
