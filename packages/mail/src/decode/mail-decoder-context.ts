import type { AgentEvent, Emit, EventOf, OnLoss, RunInput } from '@intertie/core';
import { capJson, createPartIds, type PartIds } from '@intertie/core/internal';
import { asText, type Fields } from '../shared/fields.ts';
import type { MAILProviderMetadata } from '../shared/mail-metadata.ts';

type Write = Emit<AgentEvent>;

/**
 * What the parts of the decoder share: the ids of a run, its agents, its metadata, and the time of the event. Here and there
 * events of a kind have the same fields in the same order, with or without a value: whoever reads them is faster for it.
 */
export class MAILDecoderContext {
  readonly ids: PartIds;
  readonly onLoss: OnLoss;
  readonly meta: MAILProviderMetadata;
  /** Time of the current event of the server. */
  at: number | undefined;
  #runId: string;
  #agents = new Map<string, string>();

  constructor(run: RunInput, meta: MAILProviderMetadata, onLoss: OnLoss) {
    this.#runId = run.runId;
    this.ids = createPartIds(run);
    this.meta = meta;
    this.onLoss = onLoss;
  }

  /** Sets `at` to the timestamp of an event of the server. */
  stamp(timestamp: string | undefined): void {
    const at = Date.parse(timestamp ?? '');
    this.at = Number.isNaN(at) ? undefined : at;
  }

  get agentIds(): Iterable<string> {
    return this.#agents.values();
  }

  /** The id of an agent, which is introduced when it is first heard of. */
  agent(name: string, emit: Write): string {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const agentId = `${this.#runId}:${name}`;
    this.#agents.set(name, agentId);
    emit({ type: 'agent-start', agentId, name, kind: 'agent', at: this.at });
    return agentId;
  }

  trace(agent: string, event: string, data: Fields): void {
    this.meta.currentAgent = agent;
    this.meta.agentTrace.push({ agent, timestamp: asText(data.timestamp) ?? '', event });
  }

  partMeta(wireId?: string): { mail: { taskId: string; callId?: string } } {
    const { taskId } = this.meta;
    return { mail: wireId === undefined || wireId === '' ? { taskId } : { taskId, callId: wireId } };
  }

  /** A text that is told as a whole. */
  text(start: EventOf<'text-start' | 'reasoning-start'>, delta: string, emit: Write): void {
    const { id, at } = start;
    emit(start);
    if (start.type === 'text-start') {
      emit({ type: 'text-delta', id, delta });
      emit({ type: 'text-end', id, at });
    } else {
      emit({ type: 'reasoning-delta', id, delta });
      emit({ type: 'reasoning-end', id, at });
    }
  }

  notice(
    level: 'info' | 'warning' | 'error',
    code: string,
    message: string,
    agent: string | undefined,
    emit: Write,
  ): void {
    const agentId = agent === undefined ? undefined : this.agent(agent, emit);
    emit({ type: 'notice', level, message, code, agentId, at: this.at });
  }

  /** A known event that does not say what it must. */
  unread(event: string, data: Fields, why: string, emit: Write): void {
    this.raw({ event, data }, emit);
    this.notice('warning', 'mail-malformed', `A MAIL event "${event}" could not be read: ${why}`, undefined, emit);
  }

  raw(value: unknown, emit: Write): void {
    emit({ type: 'raw', dialect: 'mail', value: capJson(value), at: this.at });
  }
}
