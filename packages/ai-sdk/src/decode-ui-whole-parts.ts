import type { FileBody, JsonObject, MessagePart, OnLoss, SourceBody } from '@intertie/core';
import { fromDataUrl } from './file-body.ts';
import { keptOf, takeSlot } from './intertie-slot.ts';
import { defined, metaOf, textOf } from './read-fields.ts';
import type {
  UIFileChunk,
  UIReasoningFileChunk,
  UISourceDocumentChunk,
  UISourceUrlChunk,
  UISteeringMessageChunk,
} from './ui-message-chunk.ts';

/** A source, with what the slot of its metadata adds. */
export function sourceBody(chunk: UISourceUrlChunk | UISourceDocumentChunk, slot: JsonObject): SourceBody {
  if (chunk.type === 'source-url') {
    const { url, title } = chunk;
    const more = defined({ title, mediaType: textOf(slot.mediaType), filename: textOf(slot.filename) });
    return { sourceType: 'url', url, ...more };
  }
  const { mediaType, title, filename } = chunk;
  return { sourceType: 'document', mediaType, title, ...defined({ filename, url: textOf(slot.url) }) };
}

/** A file, with what the slot of its metadata adds. */
export function fileBody(chunk: UIFileChunk | UIReasoningFileChunk, slot: JsonObject): FileBody {
  const mimeType = slot.untyped === true ? undefined : chunk.mediaType;
  const reasoning = chunk.type === 'reasoning-file' || slot.reasoning === true ? (true as const) : undefined;
  return { ...defined({ mimeType, filename: textOf(slot.filename), reasoning }), ...fileAt(chunk.url) };
}

/** What a user said in the middle of it. */
export function steeringParts({ parts }: UISteeringMessageChunk, onLoss: OnLoss): MessagePart[] {
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
