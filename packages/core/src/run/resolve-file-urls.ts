import type { AgentEvent } from '../event/event.ts';
import type { CanonicalMessage, MessagePart } from '../event/message.ts';
import { encodeBase64 } from '../json/base64.ts';
import { readBlobUrl } from '../store/blob-url.ts';
import type { Store } from '../store/store.ts';

/** Maps the hash of a stored file to a URL for the client. */
export type FileUrl = (sha256: string) => string;

/** Replaces blob URLs in messages by URLs that a client can load, or else by the bytes. */
export function resolveFileUrls(
  messages: readonly CanonicalMessage[],
  store: Pick<Store, 'blobs' | 'scope'>,
  fileUrl?: FileUrl,
): Promise<CanonicalMessage[]> {
  return Promise.all(
    messages.map(async (message) => {
      if (!message.content.parts.some(hasBlobUrl)) return message;
      const parts = await resolveParts(message.content.parts, store, fileUrl);
      return { ...message, content: { ...message.content, parts } };
    }),
  );
}

/** Does the same for the events of a live run. */
export async function resolveEventFileUrls(
  events: readonly AgentEvent[],
  store: Pick<Store, 'blobs' | 'scope'>,
  fileUrl?: FileUrl,
): Promise<readonly AgentEvent[]> {
  if (!events.some((event) => hasFiles(event))) return events;
  return Promise.all(events.map((event) => resolveEvent(event, store, fileUrl)));
}

function hasFiles({ type }: AgentEvent): boolean {
  return type === 'file' || type === 'interjection' || type === 'message-snapshot';
}

async function resolveEvent(
  event: AgentEvent,
  store: Pick<Store, 'blobs' | 'scope'>,
  fileUrl: FileUrl | undefined,
): Promise<AgentEvent> {
  switch (event.type) {
    case 'file':
      return resolveFile(event, store, fileUrl);
    case 'interjection':
      return { ...event, parts: await resolveParts(event.parts, store, fileUrl) };
    case 'message-snapshot':
      return {
        ...event,
        content: { ...event.content, parts: await resolveParts(event.content.parts, store, fileUrl) },
      };
    default:
      return event;
  }
}

function resolveParts(
  parts: readonly MessagePart[],
  store: Pick<Store, 'blobs' | 'scope'>,
  fileUrl: FileUrl | undefined,
): Promise<MessagePart[]> {
  return Promise.all(
    parts.map(async (part): Promise<MessagePart> => {
      if (part.type === 'interjection') return { ...part, parts: await resolveParts(part.parts, store, fileUrl) };
      return part.type === 'file' ? resolveFile(part, store, fileUrl) : part;
    }),
  );
}

async function resolveFile<File extends { url?: string }>(
  file: File,
  { blobs, scope }: Pick<Store, 'blobs' | 'scope'>,
  fileUrl: FileUrl | undefined,
): Promise<File> {
  const sha256 = file.url === undefined ? undefined : readBlobUrl(file.url);
  if (sha256 === undefined) return file;
  if (fileUrl) return { ...file, url: fileUrl(sha256) };
  const bytes = await blobs.get(scope, sha256);
  if (!bytes) return file;
  const { url: _, ...rest } = file;
  return { ...rest, data: encodeBase64(new Uint8Array(await new Response(bytes).arrayBuffer())) } as unknown as File;
}

function hasBlobUrl(part: MessagePart): boolean {
  if (part.type === 'interjection') return part.parts.some(hasBlobUrl);
  return part.type === 'file' && part.url !== undefined && readBlobUrl(part.url) !== undefined;
}
