import { readBlobUrl, type AgentEvent, type CanonicalMessage, type MessagePart, type Store } from '@intertie/core';
import { encodeBase64 } from '@intertie/core/internal';

/** Where a client finds a file that the store keeps, by its hash. */
export type FileUrl = (sha256: string) => string;

/**
 * Messages with their files as a client can have them: under a URL, or else with their bytes. A client cannot look into the
 * store.
 */
export function tellFiles(
  messages: readonly CanonicalMessage[],
  store: Pick<Store, 'blobs' | 'scope'>,
  fileUrl?: FileUrl,
): Promise<CanonicalMessage[]> {
  return Promise.all(
    messages.map(async (message) => {
      if (!message.content.parts.some(isKept)) return message;
      const parts = await tellParts(message.content.parts, store, fileUrl);
      return { ...message, content: { ...message.content, parts } };
    }),
  );
}

/** The same for the events of a run that is being written. */
export async function tellEventFiles(
  events: readonly AgentEvent[],
  store: Pick<Store, 'blobs' | 'scope'>,
  fileUrl?: FileUrl,
): Promise<readonly AgentEvent[]> {
  if (!events.some((event) => hasFiles(event))) return events;
  return Promise.all(events.map((event) => tellEvent(event, store, fileUrl)));
}

function hasFiles({ type }: AgentEvent): boolean {
  return type === 'file' || type === 'interjection' || type === 'message-snapshot';
}

async function tellEvent(
  event: AgentEvent,
  store: Pick<Store, 'blobs' | 'scope'>,
  fileUrl: FileUrl | undefined,
): Promise<AgentEvent> {
  switch (event.type) {
    case 'file':
      return tellFile(event, store, fileUrl);
    case 'interjection':
      return { ...event, parts: await tellParts(event.parts, store, fileUrl) };
    case 'message-snapshot':
      return { ...event, content: { ...event.content, parts: await tellParts(event.content.parts, store, fileUrl) } };
    default:
      return event;
  }
}

function tellParts(
  parts: readonly MessagePart[],
  store: Pick<Store, 'blobs' | 'scope'>,
  fileUrl: FileUrl | undefined,
): Promise<MessagePart[]> {
  return Promise.all(
    parts.map(async (part): Promise<MessagePart> => {
      if (part.type === 'interjection') return { ...part, parts: await tellParts(part.parts, store, fileUrl) };
      return part.type === 'file' ? tellFile(part, store, fileUrl) : part;
    }),
  );
}

async function tellFile<File extends { url?: string }>(
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

function isKept(part: MessagePart): boolean {
  if (part.type === 'interjection') return part.parts.some(isKept);
  return part.type === 'file' && part.url !== undefined && readBlobUrl(part.url) !== undefined;
}
