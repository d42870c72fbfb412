import type { EventOf, JsonObject, Loss, Meta, OnLoss } from '@intertie/core';
import { mergeMeta, type Attribution } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { tag, type AGUIAgents } from './encode-agents.ts';
import type { Form } from './encode-tools.ts';
import { encryptedValueOf } from '../shared/encrypted-value.ts';
import { slot } from '../shared/intertie-metadata.ts';
import type { MessageGroups } from './message-groups.ts';
import { saidSlot } from './part-metadata.ts';
import { defined } from '../shared/read-fields.ts';
import type { Withheld } from './withheld-events.ts';

type Write = (event: AGUIEvent) => void;
type Part = {
  kind: 'text' | 'reasoning';
  form: Form;
  owner: string | undefined;
  said: Attribution;
  meta: Meta | undefined;
  isSaid: boolean;
  name?: string;
};

export interface AGUIWordsOptions {
  sendReasoning: boolean;
  /** Whether somebody will ask for the last text. */
  notesText: boolean;
  groups: MessageGroups;
  agents: AGUIAgents;
  withheld: Withheld;
  onLoss: OnLoss;
}

/** Texts and reasoning. */
export class AGUIWords {
  #options: AGUIWordsOptions;
  #open = new Map<string, Part>();
  #closed = new Map<string, Meta | undefined>();
  #last: { stepId: string | undefined; text: string } = { stepId: undefined, text: '' };

  constructor(options: AGUIWordsOptions) {
    this.#options = options;
  }

  /** Whether something is being said, which chunks of something else would cut off. */
  get isStreaming(): boolean {
    return this.#open.size > 0;
  }

  /** The text of the last turn that said something. */
  get lastText(): string {
    return this.#last.text;
  }

  /** Of the message that the run goes on with. */
  learn(id: string, meta: Meta | undefined): void {
    this.#closed.set(id, meta);
  }

  start(event: EventOf<'text-start' | 'reasoning-start'>, asked: Form, write: Write): void {
    const { type, at: _, origin: __, id, ...said } = event;
    const { groups, agents, withheld, sendReasoning } = this.#options;
    const kind = type === 'text-start' ? 'text' : 'reasoning';
    if (kind === 'text') groups.text(id, said);
    else groups.interrupt(said);
    if (kind === 'reasoning' && !sendReasoning) return withheld.withhold(type, id, 'Reasoning is off.');
    if (!withheld.admit(event, id)) return;
    agents.enterPhase('generating', event.stepId, write);
    const owner = agents.owner(event.agentId);
    const form = kind === 'text' ? asked : 'triads';
    const name = kind === 'text' ? agents.voice(event.agentId) : undefined;
    const meta = said.providerMetadata;
    const part: Part = { kind, form, owner, said, meta, isSaid: false, ...defined({ name }) };
    this.#open.set(id, part);
    if (form === 'triads') openPart(id, part, saidSlot(said, owner), write);
  }

  delta({ type, id, delta, providerMetadata }: EventOf<'text-delta' | 'reasoning-delta'>, write: Write): void {
    const part = this.#open.get(id);
    if (part === undefined) return this.#options.withheld.missing(type, id);
    if (providerMetadata) part.meta = mergeMeta(part.meta, providerMetadata);
    if (delta !== '') this.#writeDelta(id, part, delta, write);
  }

  end(event: EventOf<'text-end' | 'reasoning-end'>, write: Write): void {
    const { id: messageId } = event;
    const part = this.#open.get(messageId);
    if (part === undefined) return this.#options.withheld.missing(event.type, messageId);
    this.#open.delete(messageId);
    part.meta = mergeMeta(part.meta, event.providerMetadata);
    this.#closed.set(messageId, part.meta);
    const citations = event.type === 'text-end' ? event.citations : undefined;
    const hasMore = part.meta !== part.said.providerMetadata || citations !== undefined;
    const kept = hasMore ? slot({ ...saidSlot(part.said, part.owner, part.meta), ...defined({ citations }) }) : {};
    if (part.kind === 'text') {
      if (part.form === 'triads') write({ type: 'TEXT_MESSAGE_END', messageId, ...kept });
      else if (!part.isSaid || kept.metadata) this.#options.onLoss(chunkLoss(messageId, part.isSaid));
      if (part.form === 'triads' || part.isSaid) encrypted(messageId, part.meta, write);
      return;
    }
    write({ type: 'REASONING_MESSAGE_END', messageId, ...kept });
    encrypted(messageId, part.meta, write);
    write({ type: 'REASONING_END', messageId });
  }

  closeAll(write: Write): void {
    for (const [id, { kind }] of this.#open) this.end({ type: `${kind}-end`, id }, write);
  }

  /** What is being said, opened again for a client that joins now. */
  reopen(write: Write): void {
    for (const [id, part] of this.#open) {
      part.form = 'triads';
      openPart(id, part, {}, write);
    }
  }

  /** A late word on what is still being said. False: it is not. */
  amend(id: string, meta: Meta): boolean {
    const part = this.#open.get(id);
    if (part) part.meta = mergeMeta(part.meta, meta);
    return part !== undefined;
  }

  /** A late word on what was said: what a provider has encrypted. */
  metadata(id: string, meta: Meta, write: Write): void {
    const merged = mergeMeta(this.#closed.get(id), meta);
    this.#closed.set(id, merged);
    encrypted(id, merged, write);
  }

  #writeDelta(messageId: string, part: Part, delta: string, write: Write): void {
    const { kind, form, owner, said, name, isSaid } = part;
    part.isSaid = true;
    if (kind === 'reasoning') return write({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta });
    if (this.#options.notesText) this.#note(said.stepId, delta);
    if (form === 'triads') return write({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
    const opening = isSaid ? undefined : { ...defined({ name }), ...slot(saidSlot(said, owner)) };
    write({ type: 'TEXT_MESSAGE_CHUNK', messageId, role: 'assistant', delta, ...tag(owner), ...opening });
  }

  #note(stepId: string | undefined, delta: string): void {
    if (this.#last.stepId !== stepId) this.#last = { stepId, text: '' };
    this.#last.text += delta;
  }
}

function openPart(messageId: string, { kind, owner, name }: Part, kept: JsonObject, write: Write): void {
  const more = { ...tag(owner), ...slot(kept) };
  if (kind === 'text') {
    return write({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...defined({ name }), ...more });
  }
  write({ type: 'REASONING_START', messageId, ...tag(owner) });
  write({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...more });
}

function encrypted(entityId: string, meta: Meta | undefined, write: Write): void {
  const encryptedValue = encryptedValueOf(meta);
  if (encryptedValue === undefined) return;
  write({ type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId, encryptedValue });
}

function chunkLoss(id: string, isSaid: boolean): Loss {
  if (!isSaid) return { kind: 'unsupported', what: 'text', why: 'Chunks cannot say a text without words.', id };
  return { kind: 'unsupported', what: 'metadata of a text', why: 'Chunks have no end that could say it.', id };
}
