import type { AgentEvent, Emit, EventOf, OnLoss, RunInput } from '@intertie/core';
import { createPartIds } from '@intertie/core';
import { capJson, type PartIds } from '@intertie/core/internal';
import { asText, type Fields } from '../shared/fields.ts';
import type { MAILProviderMetadata } from '../shared/mail-metadata.ts';

type EmitEvent = Emit<AgentEvent>;

/**
 * State shared by the parts of the decoder: ids, agents, metadata, and the time of the current event. Emitted events of one
 * type always have the same fields in the same order, even if undefined, so that consumers stay monomorphic.
 */
export class MAILDecoderContext {
  readonly ids: PartIds;
  readonly onLoss: OnLoss;
  readonly meta: MAILProviderMetadata;
  /** Time of the current event. */
  at: number | undefined;
  #runId: string;
  #agents = new Map<string, string>();

  constructor(run: RunInput, meta: MAILProviderMetadata, onLoss: OnLoss) {
    this.#runId = run.runId;
    this.ids = createPartIds(run);
    this.meta = meta;
    this.onLoss = onLoss;
  }

  setTimestamp(timestamp: string | undefined): void {
    const at = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
    this.at = Number.isNaN(at) ? undefined : at;
  }

  get agentIds(): Iterable<string> {
    return this.#agents.values();
  }

  /** Returns the id of an agent. Emits `agent-start` for an agent that is not known yet. */
  ensureAgent(name: string, emit: EmitEvent): string {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const agentId = `${this.#runId}:${name}`;
    this.#agents.set(name, agentId);
    emit({ type: 'agent-start', agentId, name, kind: 'agent', at: this.at });
    return agentId;
  }

  addTrace(agent: string, event: string, data: Fields): void {
    this.meta.currentAgent = agent;
    this.meta.agentTrace.push({ agent, timestamp: asText(data.timestamp) ?? '', event });
  }

  createPartMetadata(wireId?: string): { mail: { taskId: string; callId?: string } } {
    const { taskId } = this.meta;
    return { mail: wireId === undefined || wireId === '' ? { taskId } : { taskId, callId: wireId } };
  }

  /** Emits a complete text part with one delta. */
  emitText(start: EventOf<'text-start' | 'reasoning-start'>, delta: string, emit: EmitEvent): void {
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

  emitNotice(
    level: 'info' | 'warning' | 'error',
    code: string,
    message: string,
    agent: string | undefined,
    emit: EmitEvent,
  ): void {
    const agentId = agent === undefined ? undefined : this.ensureAgent(agent, emit);
    emit({ type: 'notice', level, message, code, agentId, at: this.at });
  }

  /** Emits a known event with missing fields as raw, with a warning. */
  emitUnreadable(event: string, data: Fields, why: string, emit: EmitEvent): void {
    this.emitRaw({ event, data }, emit);
    this.emitNotice('warning', 'mail-malformed', `A MAIL event "${event}" could not be read: ${why}`, undefined, emit);
  }

  emitRaw(value: unknown, emit: EmitEvent): void {
    emit({ type: 'raw', dialect: 'mail', value: capJson(value), at: this.at });
  }
}
