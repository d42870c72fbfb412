import type { EventOf, Meta, OnLoss } from '@intertie/core';
import type { SourceBody } from '@intertie/core/internal';
import { toDataUrl, unknownMediaType } from '../../shared/file-body.ts';
import { toIdentity, withIntertie } from '../../shared/intertie-metadata.ts';
import { defined } from '../../shared/read-fields.ts';
import { toExtensionId } from '../chunk/ui-extension.ts';
import type {
  UIMessageChunk,
  UIMessageVersion,
  UISourceDocumentChunk,
  UISourceUrlChunk,
  UISteeringPart,
} from '../chunk/ui-message-chunk.ts';

type PartEvent = EventOf<'text-start' | 'reasoning-start' | 'interjection' | 'file' | 'source' | 'data'>;

/** Returns the metadata of a part with its identity and `extra` in our fields. */
export function getPartMetadata(
  event: PartEvent,
  extra: { [key: string]: string | boolean | undefined } = {},
): Meta | undefined {
  const intertie = toIdentity(event);
  for (const [key, value] of Object.entries(extra)) if (value !== undefined) intertie[key] = value;
  return withIntertie(event.providerMetadata, intertie);
}

function pickMetadata({ providerMetadata }: PartEvent): { providerMetadata?: Meta } {
  return providerMetadata ? { providerMetadata } : {};
}

/** Encodes a file. A file without a URL, known only to its provider, is sent as data. */
export function encodeFile(event: EventOf<'file'>, version: UIMessageVersion): UIMessageChunk {
  const { id, mimeType, filename, reasoning, reference } = event;
  if (reference !== undefined) {
    const data = {
      ...defined({ mimeType, filename, reasoning }),
      reference,
      ...toIdentity({ ...event, id: undefined }),
    };
    return { type: 'data-file', id: toExtensionId('file', id), data, ...pickMetadata(event) };
  }
  const isReasoningFile = version === 7 && reasoning === true;
  // The chunk requires a media type. `untyped` marks one that we filled in.
  const untyped = mimeType === undefined ? true : undefined;
  const extra = { filename, untyped, ...(!isReasoningFile && { reasoning }) };
  return {
    type: isReasoningFile ? 'reasoning-file' : 'file',
    url: event.data === undefined ? event.url : toDataUrl({ data: event.data, mimeType: mimeType ?? unknownMediaType }),
    mediaType: mimeType ?? unknownMediaType,
    ...defined({ providerMetadata: getPartMetadata(event, extra) }),
  };
}

export function encodeSource(event: EventOf<'source'>, onLoss: OnLoss): UIMessageChunk {
  return toUISource(event, event.id, (extra) => getPartMetadata(event, extra), onLoss);
}

type UISource = UISourceUrlChunk | UISourceDocumentChunk;

/** Converts a source, whose chunk and message part have the same fields. `metaWith` adds to our metadata fields. */
export function toUISource(
  { sourceType, url, title, mediaType, filename }: Partial<SourceBody>,
  sourceId: string,
  metaWith: (extra: { [key: string]: string }) => Meta | undefined,
  onLoss: OnLoss,
): UISource {
  const isUrl = sourceType === undefined ? url !== undefined : sourceType === 'url';
  if (isUrl && url !== undefined) {
    const providerMetadata = metaWith(defined({ mediaType, filename }));
    return { type: 'source-url', sourceId, url, ...defined({ title, providerMetadata }) };
  }
  if (isUrl || mediaType === undefined || title === undefined) {
    const why = 'A UI source needs a URL, or a media type and a title. Missing fields were filled in.';
    onLoss({ kind: 'repaired', what: 'source', why, id: sourceId });
  }
  return {
    type: 'source-document',
    sourceId,
    mediaType: mediaType ?? unknownMediaType,
    title: title ?? filename ?? '',
    ...defined({ filename, providerMetadata: metaWith(defined({ url })) }),
  };
}

/** Encodes an interjection: as a steering message in 7 if a user wrote it, otherwise as data. */
export function encodeInterjection(event: EventOf<'interjection'>, version: UIMessageVersion): UIMessageChunk {
  const { id, role, name, parts } = event;
  const steering = version === 7 && role === 'user' && name === undefined ? toSteeringParts(event) : undefined;
  if (steering) return { type: 'steering-message', id, parts: steering };
  return {
    type: 'data-interjection',
    id: toExtensionId('interjection', id),
    data: { role, ...defined({ name }), parts, ...toIdentity({ ...event, id: undefined }) },
    ...pickMetadata(event),
  };
}

/** Undefined if a steering message cannot hold the whole interjection. */
function toSteeringParts({ agentId, stepId, to, internal, providerMetadata, parts }: EventOf<'interjection'>) {
  if ([agentId, stepId, to, internal, providerMetadata].some((value) => value !== undefined)) return undefined;
  const steering: UISteeringPart[] = [];
  for (const part of parts) {
    if (part.type === 'text' && part.citations === undefined) {
      const meta = withIntertie(part.providerMetadata, toIdentity(part));
      steering.push({ type: 'text', text: part.text, ...defined({ providerMetadata: meta }) });
    } else if (part.type === 'file' && part.reference === undefined && part.reasoning === undefined && part.mimeType) {
      const { mimeType: mediaType, filename, data, url } = part;
      const meta = withIntertie(part.providerMetadata, toIdentity(part));
      steering.push({
        type: 'file',
        mediaType,
        url: data === undefined ? url : toDataUrl({ data, mimeType: mediaType }),
        ...defined({ filename, providerMetadata: meta }),
      });
    } else return undefined;
  }
  return steering;
}
