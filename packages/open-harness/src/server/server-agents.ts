import type { Fault, Json, Outcome } from '@intertie/core';
import { toJson } from '@intertie/core';
import { defined, asNonEmptyText } from '@intertie/core/internal';
import { Invocation, type RunContext } from '../decode/invocation.ts';
import { protocolName } from '../decode/protocol-name.ts';

/** Tracks the phases and agents of a session. The wire identifies both only by name. */
export class ServerAgents {
  /** Failure of the first failed phase. */
  fault: Fault | undefined;
  #session: RunContext;
  #runId: string;
  #count = 0;
  #phases = new Map<string, Invocation>();
  #agents = new Map<string, Invocation>();

  constructor(session: RunContext, runId: string) {
    this.#session = session;
    this.#runId = runId;
  }

  enter(phase: string | undefined): string | undefined {
    if (phase === undefined) return 'without a phase';
    const before = this.#phases.get(phase);
    if (before !== undefined) this.#endInvocation(before, { outcome: 'complete' });
    this.#phases.set(phase, this.#startInvocation(phase, 'node', undefined));
    return undefined;
  }

  exit(phase: string | undefined, reason: unknown): string | undefined {
    const node = this.#phases.get(phase ?? '');
    if (node === undefined || phase === undefined) return 'for a phase that was not entered';
    for (const [name, agent] of this.#agents) {
      if (agent.parent !== node) continue;
      this.#agents.delete(name);
      this.#endInvocation(agent, { outcome: 'complete' });
    }
    this.#phases.delete(phase);
    const fault: Fault = { message: `The phase "${phase}" failed.`, code: 'phase-error' };
    if (reason === 'error') this.fault ??= fault;
    this.#endInvocation(node, reason === 'error' ? { outcome: 'error', error: fault } : { outcome: 'complete' });
    return undefined;
  }

  start(name: string | undefined, phase: string | undefined): string | undefined {
    if (name === undefined) return 'without an agent';
    const running = this.#agents.get(name);
    if (running !== undefined) {
      // Later events cannot be attributed to one of them.
      const message = `Several agents named "${name}" run at the same time. The server does not distinguish them, so they are shown as one.`;
      this.#session.emit({ type: 'notice', level: 'warning', message, code: 'same-name', agentId: running.agentId });
      return undefined;
    }
    const agent = this.#startInvocation(name, 'agent', this.#phases.get(phase ?? ''));
    this.#agents.set(name, agent);
    agent.restartStep();
    return undefined;
  }

  complete(name: string | undefined, payload: { output?: unknown; durationMs?: unknown }): string | undefined {
    const agent = this.#agents.get(name ?? '');
    if (agent === undefined || name === undefined) return 'for an agent that has not started';
    this.#agents.delete(name);
    const { output, durationMs } = payload;
    const meta = typeof durationMs === 'number' && { providerMetadata: { [protocolName]: { durationMs } } };
    agent.endStep({ finishReason: 'stop', ...meta });
    const result = output === undefined ? undefined : toJson(output, this.#session.onLoss);
    this.#endInvocation(agent, { outcome: 'complete' }, result);
    return undefined;
  }

  /** Returns a running agent. Starts one whose `agent:started` is missing. */
  getOrStart(wireName: unknown): Invocation {
    const name = asNonEmptyText(wireName) ?? 'agent';
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const agent = this.#startInvocation(name, 'agent', [...this.#phases.values()].at(-1));
    this.#agents.set(name, agent);
    return agent;
  }

  /** Ends all agents and phases with the outcome of the session, the last phase first. */
  endAll(outcome: Outcome): void {
    const own: Outcome = outcome.outcome === 'paused' ? { outcome: 'paused', waitingFor: [] } : outcome;
    const all = [...this.#agents.values(), ...[...this.#phases.values()].toReversed()];
    for (const agent of all) this.#endInvocation(agent, own);
    this.#agents.clear();
    this.#phases.clear();
  }

  #startInvocation(name: string, kind: 'node' | 'agent', parent: Invocation | undefined): Invocation {
    this.#count += 1;
    const agentId = `${this.#runId}:agent-${this.#count}`;
    this.#session.emit({ type: 'agent-start', agentId, name, kind, ...defined({ parentAgentId: parent?.agentId }) });
    return new Invocation(this.#session, { agentId, name, isSubAgent: kind === 'agent', parent });
  }

  #endInvocation(agent: Invocation, outcome: Outcome, result?: Json): void {
    agent.endStep();
    this.#session.emit({ type: 'agent-end', agentId: agent.agentId, ...outcome, ...defined({ result }) });
  }
}
