import type { AgentEvent, Emit, JsonObject, MessagePart, Meta, OnLoss } from '@intertie/core';
import { toJson, type FileBody, type Attribution, type SourceBody } from '@intertie/core/internal';
import { fromDataUrl } from '../../shared/file-body.ts';
import { keptOf, takeSlot } from '../../shared/intertie-metadata.ts';
import { providerDataName } from '../../shared/provider-data.ts';
import { defined, metaOf, asNonEmptyText, asText } from '../../shared/read-fields.ts';
import type {
  UICustomChunk,
  UIDataChunk,
  UIFileChunk,
  UIReasoningFileChunk,
  UISourceDocumentChunk,
  UISourceUrlChunk,
  UISteeringMessageChunk,
} from '../chunk/ui-message-chunk.ts';

type Write = Emit<AgentEvent>;

/** What parts that come whole need of the decoder around them. */
export interface WholePartsContext {
  onLoss: OnLoss;
  /** An id for a part: the wire's if the thread has none like it. */
  take(wireId: string | undefined): string;
  /** Who says it and in which step, and the metadata that is not ours. */
  said(meta: Meta | undefined, emit: Write): Attribution;
}

/** Decodes what comes in one chunk: sources, files, data, and what a user said in the middle of it. */
export class DecodedWholeParts {
  #context: WholePartsContext;
  /** By the wire's type and id. */
  #data = new Map<string, string>();

  constructor(context: WholePartsContext) {
    this.#context = context;
  }

  source(chunk: UISourceUrlChunk | UISourceDocumentChunk, emit: Write): void {
    const meta = this.#meta(chunk.providerMetadata);
    const id = this.#context.take(chunk.sourceId);
    emit({ type: 'source', id, ...sourceBody(chunk, takeSlot(meta).slot), ...this.#context.said(meta, emit) });
  }

  file(chunk: UIFileChunk | UIReasoningFileChunk, emit: Write): void {
    const meta = this.#meta(chunk.providerMetadata);
    const { slot } = takeSlot(meta);
    const said = this.#context.said(meta, emit);
    emit({ type: 'file', id: this.#context.take(asNonEmptyText(slot.id)), ...fileBody(chunk, slot), ...said });
  }

  custom(chunk: UICustomChunk, emit: Write): void {
    const meta = this.#meta(chunk.providerMetadata);
    const id = this.#context.take(asNonEmptyText(takeSlot(meta).slot.id));
    emit({ type: 'data', id, name: providerDataName(chunk.kind), data: null, ...this.#context.said(meta, emit) });
  }

  steering(chunk: UISteeringMessageChunk, emit: Write): void {
    const parts = steeringParts(chunk, this.#context.onLoss);
    const { stepId } = this.#context.said(undefined, emit);
    emit({ type: 'interjection', id: this.#context.take(chunk.id), role: 'user', parts, ...defined({ stepId }) });
  }

  data(chunk: UIDataChunk, emit: Write): void {
    const key = `${chunk.type}:${chunk.id ?? ''}`;
    const known = chunk.id === undefined ? undefined : this.#data.get(key);
    const id = known ?? this.#context.take(chunk.id);
    if (known === undefined && chunk.id !== undefined) this.#data.set(key, id);
    const said =
      known === undefined || chunk.providerMetadata ? this.#context.said(this.#meta(chunk.providerMetadata), emit) : {};
    emit({
      type: 'data',
      id,
      name: chunk.type.slice('data-'.length),
      data: toJson(chunk.data ?? null, this.#context.onLoss),
      ...(chunk.transient && { transient: true }),
      ...said,
    });
  }

  #meta(value: unknown): Meta | undefined {
    return metaOf(value, this.#context.onLoss);
  }
}

/** A source, with what the slot of its metadata adds. */
function sourceBody(chunk: UISourceUrlChunk | UISourceDocumentChunk, slot: JsonObject): SourceBody {
  if (chunk.type === 'source-url') {
    const { url, title } = chunk;
    const more = defined({ title, mediaType: asText(slot.mediaType), filename: asText(slot.filename) });
    return { sourceType: 'url', url, ...more };
  }
  const { mediaType, title, filename } = chunk;
  return { sourceType: 'document', mediaType, title, ...defined({ filename, url: asText(slot.url) }) };
}

/** A file, with what the slot of its metadata adds. */
function fileBody(chunk: UIFileChunk | UIReasoningFileChunk, slot: JsonObject): FileBody {
  const mimeType = slot.untyped === true ? undefined : chunk.mediaType;
  const reasoning = chunk.type === 'reasoning-file' || slot.reasoning === true ? (true as const) : undefined;
  return { ...defined({ mimeType, filename: asText(slot.filename), reasoning }), ...fileAt(chunk.url) };
}

/** What a user said in the middle of it. */
function steeringParts({ parts }: UISteeringMessageChunk, onLoss: OnLoss): MessagePart[] {
  return parts.map((part): MessagePart => {
    const { slot, meta } = takeSlot(metaOf(part.providerMetadata, onLoss));
    const kept = { ...keptOf(slot), ...(meta && { providerMetadata: meta }) };
    if (part.type === 'text') return { type: 'text', text: part.text, ...kept };
    const { mediaType: mimeType, filename, url, providerReference = {} } = part;
    // Of several providers' references the first is taken: they are the same file.
    const [provider] = Object.keys(providerReference);
    const body =
      provider === undefined ? fileAt(url) : { reference: { provider, ref: providerReference[provider] as string } };
    return { type: 'file', mimeType, ...defined({ filename }), ...kept, ...body };
  });
}

/** The bytes of a `data:` URL, or where they are. */
function fileAt(url: string): { data: string } | { url: string } {
  const bytes = url.startsWith('data:') ? fromDataUrl(url) : undefined;
  return bytes ? { data: bytes.data } : { url };
}
