import type { EventOf, JsonObject, Loss, Meta, OnLoss } from '@intertie/core';
import { mergeMeta, type Attribution } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { ownerField, type AgentEncoder } from './encode-agents.ts';
import type { Form } from './encode-tools.ts';
import { toEncryptedValue } from '../shared/encrypted-value.ts';
import { toMetadata } from '../shared/intertie-metadata.ts';
import type { MessageGroups } from './message-groups.ts';
import { partMetadata } from './part-metadata.ts';
import { defined } from '../shared/read-fields.ts';
import type { WithheldParts } from './withheld-parts.ts';

type Write = (event: AGUIEvent) => void;
type Part = {
  kind: 'text' | 'reasoning';
  form: Form;
  owner: string | undefined;
  attribution: Attribution;
  meta: Meta | undefined;
  hasDelta: boolean;
  name?: string;
};

export interface TextPartEncoderOptions {
  sendReasoning: boolean;
  /** Whether `lastText` is needed. */
  recordsLastText: boolean;
  groups: MessageGroups;
  agents: AgentEncoder;
  withheld: WithheldParts;
  onLoss: OnLoss;
}

/** Encodes text and reasoning parts. */
export class TextPartEncoder {
  #options: TextPartEncoderOptions;
  #open = new Map<string, Part>();
  #closed = new Map<string, Meta | undefined>();
  #last: { stepId: string | undefined; text: string } = { stepId: undefined, text: '' };

  constructor(options: TextPartEncoderOptions) {
    this.#options = options;
  }

  /** Whether a part is open. Chunks of another part would end it. */
  get isStreaming(): boolean {
    return this.#open.size > 0;
  }

  /** Text of the last step that emitted any. */
  get lastText(): string {
    return this.#last.text;
  }

  /** Registers a part of the message that the run continues. */
  register(id: string, meta: Meta | undefined): void {
    this.#closed.set(id, meta);
  }

  start(event: EventOf<'text-start' | 'reasoning-start'>, preferredForm: Form, write: Write): void {
    const { type, at: _, origin: __, id, ...attribution } = event;
    const { groups, agents, withheld, sendReasoning } = this.#options;
    const kind = type === 'text-start' ? 'text' : 'reasoning';
    if (kind === 'text') groups.text(id, attribution);
    else groups.startNewMessage(attribution);
    if (kind === 'reasoning' && !sendReasoning) return withheld.withhold(type, id, 'Reasoning is off.');
    if (!withheld.admit(event, id)) return;
    agents.enterPhase('generating', event.stepId, write);
    const owner = agents.owner(event.agentId);
    const form = kind === 'text' ? preferredForm : 'triads';
    const name = kind === 'text' ? agents.getDisplayName(event.agentId) : undefined;
    const meta = attribution.providerMetadata;
    const part: Part = { kind, form, owner, attribution, meta, hasDelta: false, ...defined({ name }) };
    this.#open.set(id, part);
    if (form === 'triads') openPart(id, part, partMetadata(attribution, owner), write);
  }

  delta({ type, id, delta, providerMetadata }: EventOf<'text-delta' | 'reasoning-delta'>, write: Write): void {
    const part = this.#open.get(id);
    if (part === undefined) return this.#options.withheld.reportMissing(type, id);
    if (providerMetadata) part.meta = mergeMeta(part.meta, providerMetadata);
    if (delta !== '') this.#writeDelta(id, part, delta, write);
  }

  end(event: EventOf<'text-end' | 'reasoning-end'>, write: Write): void {
    const { id: messageId } = event;
    const part = this.#open.get(messageId);
    if (part === undefined) return this.#options.withheld.reportMissing(event.type, messageId);
    this.#open.delete(messageId);
    part.meta = mergeMeta(part.meta, event.providerMetadata);
    this.#closed.set(messageId, part.meta);
    const citations = event.type === 'text-end' ? event.citations : undefined;
    const hasMore = part.meta !== part.attribution.providerMetadata || citations !== undefined;
    const extra = hasMore
      ? toMetadata({ ...partMetadata(part.attribution, part.owner, part.meta), ...defined({ citations }) })
      : {};
    if (part.kind === 'text') {
      if (part.form === 'triads') write({ type: 'TEXT_MESSAGE_END', messageId, ...extra });
      else if (!part.hasDelta || extra.metadata) this.#options.onLoss(chunkLoss(messageId, part.hasDelta));
      if (part.form === 'triads' || part.hasDelta) writeEncrypted(messageId, part.meta, write);
      return;
    }
    write({ type: 'REASONING_MESSAGE_END', messageId, ...extra });
    writeEncrypted(messageId, part.meta, write);
    write({ type: 'REASONING_END', messageId });
  }

  closeAll(write: Write): void {
    for (const [id, { kind }] of this.#open) this.end({ type: `${kind}-end`, id }, write);
  }

  /** Opens open parts again, for a client that joins. */
  reopen(write: Write): void {
    for (const [id, part] of this.#open) {
      part.form = 'triads';
      openPart(id, part, {}, write);
    }
  }

  /** Merges metadata into an open part. Returns false if the part is not open. */
  mergeMetadata(id: string, meta: Meta): boolean {
    const part = this.#open.get(id);
    if (part) part.meta = mergeMeta(part.meta, meta);
    return part !== undefined;
  }

  /** Merges metadata into a closed part and writes its encrypted value. */
  metadata(id: string, meta: Meta, write: Write): void {
    const merged = mergeMeta(this.#closed.get(id), meta);
    this.#closed.set(id, merged);
    writeEncrypted(id, merged, write);
  }

  #writeDelta(messageId: string, part: Part, delta: string, write: Write): void {
    const { kind, form, owner, attribution, name, hasDelta } = part;
    part.hasDelta = true;
    if (kind === 'reasoning') return write({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta });
    if (this.#options.recordsLastText) this.#recordText(attribution.stepId, delta);
    if (form === 'triads') return write({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
    const firstFields = hasDelta
      ? undefined
      : { ...defined({ name }), ...toMetadata(partMetadata(attribution, owner)) };
    write({ type: 'TEXT_MESSAGE_CHUNK', messageId, role: 'assistant', delta, ...ownerField(owner), ...firstFields });
  }

  #recordText(stepId: string | undefined, delta: string): void {
    if (this.#last.stepId !== stepId) this.#last = { stepId, text: '' };
    this.#last.text += delta;
  }
}

function openPart(messageId: string, { kind, owner, name }: Part, extra: JsonObject, write: Write): void {
  const fields = { ...ownerField(owner), ...toMetadata(extra) };
  if (kind === 'text') {
    return write({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...defined({ name }), ...fields });
  }
  write({ type: 'REASONING_START', messageId, ...ownerField(owner) });
  write({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...fields });
}

function writeEncrypted(entityId: string, meta: Meta | undefined, write: Write): void {
  const encryptedValue = toEncryptedValue(meta);
  if (encryptedValue === undefined) return;
  write({ type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId, encryptedValue });
}

function chunkLoss(id: string, hasDelta: boolean): Loss {
  if (!hasDelta) return { kind: 'unsupported', what: 'text', why: 'Chunks cannot represent an empty text.', id };
  return { kind: 'unsupported', what: 'metadata of a text', why: 'Chunks have no end event that could carry it.', id };
}
