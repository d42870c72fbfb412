import { validateEvent, type AgentEvent, type Emit } from '@intertie/core';
import type { Op } from '@intertie/core/internal';
import { fromCustomName, verbatimMeta } from '../shared/custom-name.ts';
import { slotOf, type AGUIAgentReader } from './decode-agents.ts';
import type { AGUISaidReader } from './decode-attribution.ts';
import { customNames } from '../shared/intertie-metadata.ts';
import type { MessageIds } from '../shared/message-ids.ts';
import { isFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

type Write = Emit<AgentEvent>;

/** Activities are data that is kept and patched, custom events data that passes by, or events that AG-UI has none for. */
export class AGUIDataReader {
  #ids: MessageIds;
  #reader: AGUISaidReader;
  #agents: AGUIAgentReader;
  #activities = new Map<string, { id: string; isValue: boolean }>();
  /** The questions that were asked before the run's end told them again. */
  readonly asked: ReadonlySet<string>;
  #asked = new Set<string>();

  constructor(ids: MessageIds, reader: AGUISaidReader, agents: AGUIAgentReader) {
    this.#ids = ids;
    this.#reader = reader;
    this.#agents = agents;
    this.asked = this.#asked;
  }

  activity(event: Fields, emit: Write): boolean {
    const messageId = asNonEmptyText(event.messageId);
    if (messageId === undefined || !isFields(event.content)) return false;
    const known = this.#activities.get(messageId);
    if (known && event.replace === false) return true;
    const isValue = slotOf(event).isValue === true;
    const id = known?.id ?? this.#ids.open(messageId);
    this.#activities.set(messageId, { id, isValue });
    const data = this.#reader.json(isValue ? event.content.value : event.content);
    const name = asText(event.activityType) ?? 'activity';
    emit({ type: 'data', id, name, data, ...this.#reader.said(event, emit) });
    return true;
  }

  activityDelta(event: Fields, emit: Write): boolean {
    const activity = this.#activities.get(String(event.messageId));
    if (activity === undefined || !Array.isArray(event.patch)) return false;
    const patch = this.#reader.json(event.patch) as unknown as Op[];
    emit({ type: 'data-delta', id: activity.id, patch: activity.isValue ? patch.map(outsideValue) : patch });
    return true;
  }

  custom(event: Fields, emit: Write): boolean {
    const name = asText(event.name);
    if (name === undefined) return false;
    const kept = slotOf(event);
    const id = asNonEmptyText(kept.id);
    const own = id === undefined ? ownEvent(name, event.value) : undefined;
    if (own) {
      if (own.type === 'question') this.#asked.add(own.questionId);
      if ('agentId' in own && own.agentId !== undefined) this.#agents.ensure(own.agentId, own.agentId, 'voice', emit);
      emit(own);
      return true;
    }
    const data = this.#reader.json(event.value);
    const said = this.#reader.said(event, emit);
    const named = { name: fromCustomName(name), ...(id === undefined && verbatimMeta(name, said.providerMetadata)) };
    emit({ type: 'data', id: id ?? this.#ids.next(), data, transient: true, ...said, ...named });
    return true;
  }
}

/** A canonical event that our own encoder had no other event for. */
function ownEvent(name: string, value: unknown): AgentEvent | undefined {
  const type = Object.entries(customNames).find(([, own]) => own === name)?.[0];
  if (type === undefined || !isFields(value)) return undefined;
  const event = { ...value, type };
  return validateEvent(event) === undefined ? (event as unknown as AgentEvent) : undefined;
}

function outsideValue(op: Op): Op {
  const path = op.path.replace(/^\/value/, '');
  return 'from' in op ? { ...op, from: op.from.replace(/^\/value/, ''), path } : { ...op, path };
}
