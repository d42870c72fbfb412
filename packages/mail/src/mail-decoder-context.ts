import {
  capJson,
  createPartIds,
  type AgentEvent,
  type Emit,
  type EventOf,
  type OnLoss,
  type PartIds,
  type RunInput,
} from '@intertie/core';
import { textOf, type Fields } from './fields.ts';
import type { MAILProviderMetadata } from './mail-metadata.ts';

type Write = Emit<AgentEvent>;

/** What the parts of the decoder share: the ids of a run, its agents, its metadata, and the time of the event. */
export class MAILDecoderContext {
  readonly ids: PartIds;
  readonly onLoss: OnLoss;
  readonly meta: MAILProviderMetadata;
  /** When the event happened, for those that it becomes. */
  time: { at?: number } = {};
  #runId: string;
  #agents = new Map<string, string>();

  constructor(run: RunInput, meta: MAILProviderMetadata, onLoss: OnLoss) {
    this.#runId = run.runId;
    this.ids = createPartIds(run);
    this.meta = meta;
    this.onLoss = onLoss;
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
    emit({ type: 'agent-start', agentId, name, kind: 'agent', ...this.time });
    return agentId;
  }

  trace(agent: string, event: string, data: Fields): void {
    this.meta.currentAgent = agent;
    this.meta.agentTrace.push({ agent, timestamp: textOf(data.timestamp) ?? '', event });
  }

  partMeta(wireId?: string): { mail: { taskId: string; callId?: string } } {
    return { mail: { taskId: this.meta.taskId, ...(wireId !== undefined && wireId !== '' && { callId: wireId }) } };
  }

  text(text: string, said: Omit<EventOf<'text-start'>, 'type' | 'id'>, emit: Write): void {
    const id = this.ids.next();
    emit({ type: 'text-start', id, ...said, ...this.time });
    emit({ type: 'text-delta', id, delta: text });
    emit({ type: 'text-end', id, ...this.time });
  }

  notice(
    level: 'info' | 'warning' | 'error',
    code: string,
    message: string,
    agent: string | undefined,
    emit: Write,
  ): void {
    const agentId = agent === undefined ? undefined : this.agent(agent, emit);
    emit({ type: 'notice', level, message, code, ...(agentId !== undefined && { agentId }), ...this.time });
  }

  /** A known event that does not say what it must. */
  unread(event: string, data: Fields, why: string, emit: Write): void {
    this.raw({ event, data }, emit);
    this.notice('warning', 'mail-malformed', `A MAIL event "${event}" could not be read: ${why}`, undefined, emit);
  }

  raw(value: unknown, emit: Write): void {
    emit({ type: 'raw', dialect: 'mail', value: capJson(value), ...this.time });
  }
}
