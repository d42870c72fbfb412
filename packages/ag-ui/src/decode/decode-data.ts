import { validateEvent, type AgentEvent, type Emit } from '@intertie/core';
import type { Op } from '@intertie/core/internal';
import { withoutLayout } from '../messages/agent-messages.ts';
import { fromCustomName, verbatimMeta } from '../shared/custom-name.ts';
import { readMetadata, type AgentDecoder } from './decode-agents.ts';
import type { AttributionDecoder } from './decode-attribution.ts';
import { customNames } from '../shared/intertie-metadata.ts';
import type { MessageIds } from '../shared/message-ids.ts';
import { isFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

type Write = Emit<AgentEvent>;

/** Decodes activities as data, and custom events as transient data or as the canonical event that they stand for. */
export class DataDecoder {
  #ids: MessageIds;
  #attribution: AttributionDecoder;
  #agents: AgentDecoder;
  #activities = new Map<string, { id: string; isValue: boolean }>();
  /** Questions that were decoded, which RUN_FINISHED repeats as interrupts. */
  readonly asked: ReadonlySet<string>;
  #asked = new Set<string>();

  constructor(ids: MessageIds, attribution: AttributionDecoder, agents: AgentDecoder) {
    this.#ids = ids;
    this.#attribution = attribution;
    this.#agents = agents;
    this.asked = this.#asked;
  }

  activity(event: Fields, emit: Write): boolean {
    const messageId = asNonEmptyText(event.messageId);
    if (messageId === undefined || !isFields(event.content)) return false;
    const known = this.#activities.get(messageId);
    if (known && event.replace === false) return true;
    const isValue = readMetadata(event).isValue === true;
    const id = known?.id ?? this.#ids.open(messageId);
    this.#activities.set(messageId, { id, isValue });
    const data = this.#attribution.toJson(isValue ? event.content.value : event.content);
    const name = asText(event.activityType) ?? 'activity';
    emit({ type: 'data', id, name, data, ...this.#attribution.read(event, emit) });
    return true;
  }

  activityDelta(event: Fields, emit: Write): boolean {
    const activity = this.#activities.get(String(event.messageId));
    if (activity === undefined || !Array.isArray(event.patch)) return false;
    const patch = this.#attribution.toJson(event.patch) as unknown as Op[];
    emit({ type: 'data-delta', id: activity.id, patch: activity.isValue ? patch.map(unwrapPatchPath) : patch });
    return true;
  }

  custom(event: Fields, emit: Write): boolean {
    const name = asText(event.name);
    if (name === undefined) return false;
    const extra = readMetadata(event);
    const id = asNonEmptyText(extra.id);
    const own = id === undefined ? ownEvent(name, event.value) : undefined;
    if (own) {
      if (own.type === 'question') this.#asked.add(own.questionId);
      if ('agentId' in own && own.agentId !== undefined)
        this.#agents.ensureAgent(own.agentId, own.agentId, 'voice', emit);
      emit(own);
      return true;
    }
    const data = this.#attribution.toJson(event.value);
    const attribution = this.#attribution.read(event, emit);
    const named = {
      name: fromCustomName(name),
      ...(id === undefined && verbatimMeta(name, attribution.providerMetadata)),
    };
    emit({ type: 'data', id: id ?? this.#ids.next(), data, transient: true, ...attribution, ...named });
    return true;
  }
}

/** Returns the canonical event that our encoder sent as CUSTOM. */
function ownEvent(name: string, value: unknown): AgentEvent | undefined {
  const type = Object.entries(customNames).find(([, own]) => own === name)?.[0];
  if (type === undefined || !isFields(value)) return undefined;
  const event = { ...value, type } as unknown as AgentEvent;
  if (validateEvent(event) !== undefined) return undefined;
  // The messages of an agent behind the Intertie agent, which only that one uses.
  if (event.type === 'metadata' && event.id === undefined) return { ...event, metadata: withoutLayout(event.metadata) };
  return event;
}

function unwrapPatchPath(op: Op): Op {
  const path = op.path.replace(/^\/value/, '');
  return 'from' in op ? { ...op, from: op.from.replace(/^\/value/, ''), path } : { ...op, path };
}
