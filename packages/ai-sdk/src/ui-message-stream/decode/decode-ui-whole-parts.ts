import type { AgentEvent, Emit, JsonObject, MessagePart, OnLoss } from '@intertie/core';
import { toJson } from '@intertie/core';
import type { FileBody, Attribution, SourceBody } from '@intertie/core/internal';
import { parseDataUrl } from '../../shared/file-body.ts';
import { parseIdentity, splitMetadata } from '../../shared/intertie-metadata.ts';
import { toProviderDataName } from '../../shared/provider-data.ts';
import { defined, parseMetadata, asNonEmptyText, asText } from '../../shared/read-fields.ts';
import type {
  UICustomChunk,
  UIDataChunk,
  UIFileChunk,
  UIReasoningFileChunk,
  UISourceDocumentChunk,
  UISourceUrlChunk,
  UISteeringMessageChunk,
} from '../chunk/ui-message-chunk.ts';
import type { UIDecoderContext } from './ui-decoder-context.ts';

type Write = Emit<AgentEvent>;

/** Decodes parts that consist of one chunk: sources, files, data and steering messages. */
export class UIWholePartDecoder {
  #context: UIDecoderContext;
  /** Part ids by chunk type and wire id. */
  #data = new Map<string, string>();

  constructor(context: UIDecoderContext) {
    this.#context = context;
  }

  decodeSource(chunk: UISourceUrlChunk | UISourceDocumentChunk, emit: Write): void {
    const { intertie, attribution } = this.#readMetadata(chunk, emit);
    const id = this.#context.claimId(chunk.sourceId);
    emit({ type: 'source', id, ...toSourceBody(chunk, intertie), ...attribution });
  }

  decodeFile(chunk: UIFileChunk | UIReasoningFileChunk, emit: Write): void {
    const { intertie, attribution } = this.#readMetadata(chunk, emit);
    const id = this.#context.claimId(asNonEmptyText(intertie.id));
    emit({ type: 'file', id, ...toFileBody(chunk, intertie), ...attribution });
  }

  decodeCustom(chunk: UICustomChunk, emit: Write): void {
    const { intertie, attribution } = this.#readMetadata(chunk, emit);
    const id = this.#context.claimId(asNonEmptyText(intertie.id));
    emit({ type: 'data', id, name: toProviderDataName(chunk.kind), data: null, ...attribution });
  }

  decodeSteering(chunk: UISteeringMessageChunk, emit: Write): void {
    const parts = toSteeringParts(chunk, this.#context.onLoss);
    const { stepId } = this.#context.getAttribution(undefined, emit);
    emit({ type: 'interjection', id: this.#context.claimId(chunk.id), role: 'user', parts, ...defined({ stepId }) });
  }

  decodeData(chunk: UIDataChunk, emit: Write): void {
    const key = `${chunk.type}:${chunk.id ?? ''}`;
    const known = chunk.id === undefined ? undefined : this.#data.get(key);
    const id = known ?? this.#context.claimId(chunk.id);
    if (known === undefined && chunk.id !== undefined) this.#data.set(key, id);
    const isAttributed = known === undefined || chunk.providerMetadata !== undefined;
    emit({
      type: 'data',
      id,
      name: chunk.type.slice('data-'.length),
      data: toJson(chunk.data ?? null, this.#context.onLoss),
      ...(chunk.transient && { transient: true }),
      ...(isAttributed && this.#readMetadata(chunk, emit).attribution),
    });
  }

  #readMetadata(
    { providerMetadata }: { providerMetadata?: unknown },
    emit: Write,
  ): { intertie: JsonObject; attribution: Attribution } {
    const meta = parseMetadata(providerMetadata, this.#context.onLoss);
    return { intertie: splitMetadata(meta).intertie, attribution: this.#context.getAttribution(meta, emit) };
  }
}

/** Builds a source from its chunk and our metadata. */
function toSourceBody(chunk: UISourceUrlChunk | UISourceDocumentChunk, intertie: JsonObject): SourceBody {
  if (chunk.type === 'source-url') {
    const { url, title } = chunk;
    const fields = defined({ title, mediaType: asText(intertie.mediaType), filename: asText(intertie.filename) });
    return { sourceType: 'url', url, ...fields };
  }
  const { mediaType, title, filename } = chunk;
  return { sourceType: 'document', mediaType, title, ...defined({ filename, url: asText(intertie.url) }) };
}

/** Builds a file from its chunk and our metadata. */
function toFileBody(chunk: UIFileChunk | UIReasoningFileChunk, intertie: JsonObject): FileBody {
  const mimeType = intertie.untyped === true ? undefined : chunk.mediaType;
  const reasoning = chunk.type === 'reasoning-file' || intertie.reasoning === true ? (true as const) : undefined;
  return { ...defined({ mimeType, filename: asText(intertie.filename), reasoning }), ...toFileLocation(chunk.url) };
}

/** Converts the parts of a steering message. */
function toSteeringParts({ parts }: UISteeringMessageChunk, onLoss: OnLoss): MessagePart[] {
  return parts.map((part): MessagePart => {
    const { intertie, meta } = splitMetadata(parseMetadata(part.providerMetadata, onLoss));
    const identity = { ...parseIdentity(intertie), ...(meta && { providerMetadata: meta }) };
    if (part.type === 'text') return { type: 'text', text: part.text, ...identity };
    const { mediaType: mimeType, filename, url, providerReference = {} } = part;
    // The references of several providers name the same file, so the first one is enough.
    const [provider] = Object.keys(providerReference);
    const body =
      provider === undefined
        ? toFileLocation(url)
        : { reference: { provider, ref: providerReference[provider] as string } };
    return { type: 'file', mimeType, ...defined({ filename }), ...identity, ...body };
  });
}

/** Returns the bytes of a `data:` URL, or the URL itself. */
function toFileLocation(url: string): { data: string } | { url: string } {
  const bytes = url.startsWith('data:') ? parseDataUrl(url) : undefined;
  return bytes ? { data: bytes.data } : { url };
}
