import type { Emit, EventOf, Meta } from '@intertie/core';
import { mergeMeta } from '@intertie/core/internal';
import { partMeta } from './encode-ui-parts.ts';
import { withSlot } from '../../shared/intertie-metadata.ts';
import type { UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import type { UISteps } from './ui-steps.ts';
import { validateUIMessageChunk } from '../chunk/validate-ui-message-chunk.ts';

type Write = Emit<UIMessageChunk>;

/** Writes texts and reasoning. What comes later says whether its part is open. */
export class UIWords {
  #version: UIMessageVersion;
  #steps: UISteps;
  /** What is open, with its metadata: the client replaces what it has, so the whole is sent each time. */
  #open = new Map<string, { kind: 'text' | 'reasoning'; meta: Meta | undefined }>();

  constructor(version: UIMessageVersion, steps: UISteps) {
    this.#version = version;
    this.#steps = steps;
  }

  start(event: EventOf<'text-start' | 'reasoning-start'>, emit: Write): void {
    this.#steps.enter(event.stepId, 'words', emit);
    this.#steps.hold(event.id, event.stepId);
    const meta = partMeta(event);
    this.#open.set(event.id, { kind: event.type === 'text-start' ? 'text' : 'reasoning', meta });
    emit({ type: event.type, id: event.id, ...(meta && { providerMetadata: meta }) });
  }

  delta({ type, id, delta, providerMetadata }: EventOf<'text-delta' | 'reasoning-delta'>, emit: Write): boolean {
    const part = this.#open.get(id);
    if (part === undefined) return false;
    if (providerMetadata === undefined) emit({ type, id, delta });
    else {
      part.meta = mergeMeta(part.meta, providerMetadata);
      emit({ type, id, delta, providerMetadata: part.meta });
    }
    return true;
  }

  end(event: EventOf<'text-end' | 'reasoning-end'>, emit: Write): boolean {
    const part = this.#open.get(event.id);
    if (part === undefined) return false;
    this.#open.delete(event.id);
    this.#steps.release(event.id);
    emit(this.#ending(event, part.meta));
    return true;
  }

  /** A late word on a part. The client only takes it while the part is open. */
  addMetadata(id: string, providerMetadata: Meta, emit: Write): boolean {
    const part = this.#open.get(id);
    if (part === undefined) return false;
    part.meta = mergeMeta(part.meta, providerMetadata);
    emit({ type: `${part.kind}-delta`, id, delta: '', providerMetadata: part.meta });
    return true;
  }

  /** The run is over, and so is what it has left open. */
  close(emit: Write): void {
    for (const [id, { kind }] of this.#open) emit({ type: `${kind}-end`, id });
    this.#open.clear();
  }

  #ending(event: EventOf<'text-end' | 'reasoning-end'>, before: Meta | undefined): UIMessageChunk {
    const { type, id, providerMetadata } = event;
    const citations = event.type === 'text-end' ? event.citations : undefined;
    let meta = providerMetadata && mergeMeta(before, providerMetadata);
    if (citations && this.#version === 7) {
      const chunk = { type, id, citations, ...(meta && { providerMetadata: meta }) } as UIMessageChunk;
      if (validateUIMessageChunk(chunk, 7) === undefined) return chunk;
    }
    if (citations) meta = withSlot(meta ?? before, { citations });
    return { type, id, ...(meta && { providerMetadata: meta }) };
  }
}
