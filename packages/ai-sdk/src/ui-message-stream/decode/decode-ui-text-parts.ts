import type { AgentEvent, Emit, Json, Meta } from '@intertie/core';
import { toJson } from '@intertie/core';
import type { Attribution } from '@intertie/core/internal';
import { splitMetadata } from '../../shared/intertie-metadata.ts';
import { defined, parseMetadata } from '../../shared/read-fields.ts';
import type { UIPartDeltaChunk, UIPartStartChunk, UITextEndChunk7 } from '../chunk/ui-message-chunk.ts';
import type { UIDecoderContext } from './ui-decoder-context.ts';

type Write = Emit<AgentEvent>;
type Kind = 'text' | 'reasoning';
type Open = { id: string; kind: Kind; stepId?: string };
type EndChunk = UITextEndChunk7 | (Omit<UITextEndChunk7, 'type' | 'citations'> & { type: 'reasoning-end' });

/** Decodes text and reasoning parts. The wire identifies an open part by kind and id. */
export class UITextPartDecoder {
  #context: UIDecoderContext;
  #open = new Map<string, Open>();

  constructor(context: UIDecoderContext) {
    this.#context = context;
  }

  /** Ends the parts that a step left open. */
  endStep(stepId: string, emit: Write): void {
    for (const [key, open] of this.#open) if (open.stepId === stepId) this.#endPart(key, open, emit);
  }

  decodeStart(chunk: UIPartStartChunk, emit: Write): void {
    const kind = chunk.type === 'text-start' ? 'text' : 'reasoning';
    const attribution = this.#context.getAttribution(parseMetadata(chunk.providerMetadata, this.#context.onLoss), emit);
    // A repeated start of an open id begins a new part at the client, and the first one stays unchanged.
    const before = this.#open.get(`${kind}:${chunk.id}`);
    if (before) this.#endPart(`${kind}:${chunk.id}`, before, emit);
    this.#startPart(kind, chunk.id, attribution, emit);
  }

  #startPart(kind: Kind, wireId: string, attribution: Attribution, emit: Write): Open {
    const id = this.#context.toPartId(wireId);
    const open: Open = { id, kind, ...defined({ stepId: attribution.stepId }) };
    this.#open.set(`${kind}:${wireId}`, open);
    this.#context.addOpenPart(attribution.stepId);
    emit({ type: `${kind}-start`, id, ...attribution });
    return open;
  }

  decodeDelta(chunk: UIPartDeltaChunk, emit: Write): void {
    const part =
      chunk.type === 'text-delta'
        ? this.#getOrStartPart('text', chunk.id, emit)
        : this.#getOrStartPart('reasoning', chunk.id, emit);
    if (chunk.providerMetadata === undefined) return emit({ type: chunk.type, id: part.id, delta: chunk.delta });
    const { meta } = splitMetadata(parseMetadata(chunk.providerMetadata, this.#context.onLoss));
    emit({ type: chunk.type, id: part.id, delta: chunk.delta, ...(meta && { providerMetadata: meta }) });
  }

  decodeEnd(chunk: EndChunk, emit: Write): void {
    const kind = chunk.type === 'text-end' ? 'text' : 'reasoning';
    const part = this.#getOrStartPart(kind, chunk.id, emit);
    const { intertie, meta } = splitMetadata(parseMetadata(chunk.providerMetadata, this.#context.onLoss));
    const wireCitations = chunk.type === 'text-end' ? chunk.citations : undefined;
    const citations: Json = wireCitations ? toJson(wireCitations, this.#context.onLoss) : (intertie.citations ?? null);
    this.#endPart(`${kind}:${chunk.id}`, part, emit, {
      ...(Array.isArray(citations) && { citations }),
      ...(meta && { providerMetadata: meta }),
    });
  }

  /** Returns the open part. If its start is missing, opens one rather than dropping the content. */
  #getOrStartPart(kind: Kind, wireId: string, emit: Write): Open {
    const open = this.#open.get(`${kind}:${wireId}`);
    if (open !== undefined) return open;
    const why = `No ${kind} with that id was open, so one was opened.`;
    this.#context.onLoss({ kind: 'repaired', what: `${kind} delta`, why, id: wireId });
    return this.#startPart(kind, wireId, this.#context.getAttribution(undefined, emit), emit);
  }

  #endPart(
    key: string,
    { id, kind, stepId }: Open,
    emit: Write,
    attribution: { citations?: Json[]; providerMetadata?: Meta } = {},
  ): void {
    this.#open.delete(key);
    const { citations, ...metadata } = attribution;
    if (kind === 'text') emit({ type: 'text-end', id, ...(citations && { citations }), ...metadata });
    else emit({ type: 'reasoning-end', id, ...metadata });
    this.#context.removeOpenPart(stepId, emit);
  }
}
