import type { Emit, EventOf, Meta } from '@intertie/core';
import { mergeMeta } from '@intertie/core/internal';
import { getPartMetadata } from './encode-ui-parts.ts';
import { withIntertie } from '../../shared/intertie-metadata.ts';
import type { UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import type { UIStepEncoder } from './encode-ui-steps.ts';
import { validateUIMessageChunk } from '../chunk/validate-ui-message-chunk.ts';

type Write = Emit<UIMessageChunk>;

/** Encodes text and reasoning parts. Updates return false if their part is not open. */
export class UITextPartEncoder {
  #version: UIMessageVersion;
  #steps: UIStepEncoder;
  /** Open parts with their merged metadata: the client replaces metadata, so all of it is sent each time. */
  #openParts = new Map<string, { kind: 'text' | 'reasoning'; meta: Meta | undefined }>();

  constructor(version: UIMessageVersion, steps: UIStepEncoder) {
    this.#version = version;
    this.#steps = steps;
  }

  encodeStart(event: EventOf<'text-start' | 'reasoning-start'>, emit: Write): void {
    this.#steps.enterStep(event.stepId, 'text', emit);
    this.#steps.openPart(event.id, event.stepId);
    const meta = getPartMetadata(event);
    this.#openParts.set(event.id, { kind: event.type === 'text-start' ? 'text' : 'reasoning', meta });
    emit({ type: event.type, id: event.id, ...(meta && { providerMetadata: meta }) });
  }

  encodeDelta({ type, id, delta, providerMetadata }: EventOf<'text-delta' | 'reasoning-delta'>, emit: Write): boolean {
    const part = this.#openParts.get(id);
    if (part === undefined) return false;
    if (providerMetadata === undefined) emit({ type, id, delta });
    else {
      part.meta = mergeMeta(part.meta, providerMetadata);
      emit({ type, id, delta, providerMetadata: part.meta });
    }
    return true;
  }

  encodeEnd(event: EventOf<'text-end' | 'reasoning-end'>, emit: Write): boolean {
    const part = this.#openParts.get(event.id);
    if (part === undefined) return false;
    this.#openParts.delete(event.id);
    this.#steps.closePart(event.id);
    emit(this.#toEndChunk(event, part.meta));
    return true;
  }

  /** Sends late metadata with an empty delta. The client only accepts it while the part is open. */
  addMetadata(id: string, providerMetadata: Meta, emit: Write): boolean {
    const part = this.#openParts.get(id);
    if (part === undefined) return false;
    part.meta = mergeMeta(part.meta, providerMetadata);
    emit({ type: `${part.kind}-delta`, id, delta: '', providerMetadata: part.meta });
    return true;
  }

  /** Ends the parts that the run left open. */
  closeAll(emit: Write): void {
    for (const [id, { kind }] of this.#openParts) emit({ type: `${kind}-end`, id });
    this.#openParts.clear();
  }

  #toEndChunk(event: EventOf<'text-end' | 'reasoning-end'>, before: Meta | undefined): UIMessageChunk {
    const { type, id, providerMetadata } = event;
    const citations = event.type === 'text-end' ? event.citations : undefined;
    let meta = providerMetadata && mergeMeta(before, providerMetadata);
    if (citations && this.#version === 7) {
      const chunk = { type, id, citations, ...(meta && { providerMetadata: meta }) } as UIMessageChunk;
      if (validateUIMessageChunk(chunk, 7) === undefined) return chunk;
    }
    if (citations) meta = withIntertie(meta ?? before, { citations });
    return { type, id, ...(meta && { providerMetadata: meta }) };
  }
}
