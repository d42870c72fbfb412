import { encodeBase64, readBlobUrl, type CanonicalMessage, type MessagePart, type Store } from '@intertie/core';

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
      if (!message.content.parts.some((part) => hashOf(part) !== undefined)) return message;
      const parts = await Promise.all(message.content.parts.map((part) => tellFile(part, store, fileUrl)));
      return { ...message, content: { ...message.content, parts } };
    }),
  );
}

async function tellFile(
  part: MessagePart,
  { blobs, scope }: Pick<Store, 'blobs' | 'scope'>,
  fileUrl: FileUrl | undefined,
): Promise<MessagePart> {
  const sha256 = hashOf(part);
  if (part.type !== 'file' || sha256 === undefined) return part;
  if (fileUrl) return { ...part, url: fileUrl(sha256) } as MessagePart;
  const bytes = await blobs.get(scope, sha256);
  if (!bytes) return part;
  const { url: _, ...rest } = part;
  return { ...rest, data: encodeBase64(new Uint8Array(await new Response(bytes).arrayBuffer())) } as MessagePart;
}

function hashOf(part: MessagePart): string | undefined {
  return part.type === 'file' && part.url !== undefined ? readBlobUrl(part.url) : undefined;
}
