import type { Fault, Json, Outcome } from '@intertie/core';
import { toJson, defined, asNonEmptyText } from '@intertie/core/internal';
import { Invocation, type Surroundings } from '../decode/invocation.ts';
import { dialect } from '../decode/dialect-name.ts';

/** The phases of a session, and who is at work in them. The wire knows both by their names alone. */
export class ServerAgents {
  /** Of the first phase that has failed. */
  fault: Fault | undefined;
  #session: Surroundings;
  #runId: string;
  #count = 0;
  #phases = new Map<string, Invocation>();
  #agents = new Map<string, Invocation>();

  constructor(session: Surroundings, runId: string) {
    this.#session = session;
    this.#runId = runId;
  }

  enter(phase: string | undefined): string | undefined {
    if (phase === undefined) return 'without a phase';
    const before = this.#phases.get(phase);
    if (before !== undefined) this.#end(before, { outcome: 'complete' });
    this.#phases.set(phase, this.#begin(phase, 'node', undefined));
    return undefined;
  }

  exit(phase: string | undefined, reason: unknown): string | undefined {
    const node = this.#phases.get(phase ?? '');
    if (node === undefined || phase === undefined) return 'of a phase that was not entered';
    for (const [name, agent] of this.#agents) {
      if (agent.parent !== node) continue;
      this.#agents.delete(name);
      this.#end(agent, { outcome: 'complete' });
    }
    this.#phases.delete(phase);
    const fault: Fault = { message: `The phase "${phase}" failed.`, code: 'phase-error' };
    if (reason === 'error') this.fault ??= fault;
    this.#end(node, reason === 'error' ? { outcome: 'error', error: fault } : { outcome: 'complete' });
    return undefined;
  }

  start(name: string | undefined, phase: string | undefined): string | undefined {
    if (name === undefined) return 'without an agent';
    const atWork = this.#agents.get(name);
    if (atWork !== undefined) {
      // From here on nobody can say which of them speaks.
      const message = `"${name}" is at work several times at once, and the server does not tell them apart: they speak with one voice.`;
      this.#session.say({ type: 'notice', level: 'warning', message, code: 'same-name', agentId: atWork.agentId });
      return undefined;
    }
    const agent = this.#begin(name, 'agent', this.#phases.get(phase ?? ''));
    this.#agents.set(name, agent);
    agent.startTurn();
    return undefined;
  }

  complete(name: string | undefined, given: { output?: unknown; durationMs?: unknown }): string | undefined {
    const agent = this.#agents.get(name ?? '');
    if (agent === undefined || name === undefined) return 'of an agent that had not started';
    this.#agents.delete(name);
    const { output, durationMs } = given;
    const meta = typeof durationMs === 'number' && { providerMetadata: { [dialect]: { durationMs } } };
    agent.endTurn({ finishReason: 'stop', ...meta });
    const result = output === undefined ? undefined : toJson(output, this.#session.onLoss);
    this.#end(agent, { outcome: 'complete' }, result);
    return undefined;
  }

  /** Whoever speaks unannounced has started. */
  at(wireName: unknown): Invocation {
    const name = asNonEmptyText(wireName) ?? 'agent';
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const agent = this.#begin(name, 'agent', [...this.#phases.values()].at(-1));
    this.#agents.set(name, agent);
    return agent;
  }

  /** With the session, and as it did; the last phase first. */
  endAll(outcome: Outcome): void {
    const own: Outcome = outcome.outcome === 'paused' ? { outcome: 'paused', waitingFor: [] } : outcome;
    const all = [...this.#agents.values(), ...[...this.#phases.values()].toReversed()];
    for (const agent of all) this.#end(agent, own);
    this.#agents.clear();
    this.#phases.clear();
  }

  #begin(name: string, kind: 'node' | 'agent', parent: Invocation | undefined): Invocation {
    this.#count += 1;
    const agentId = `${this.#runId}:agent-${this.#count}`;
    this.#session.say({ type: 'agent-start', agentId, name, kind, ...defined({ parentAgentId: parent?.agentId }) });
    return new Invocation(this.#session, { agentId, name, isSubAgent: kind === 'agent', parent });
  }

  #end(agent: Invocation, outcome: Outcome, result?: Json): void {
    agent.endTurn();
    this.#session.say({ type: 'agent-end', agentId: agent.agentId, ...outcome, ...defined({ result }) });
  }
}
