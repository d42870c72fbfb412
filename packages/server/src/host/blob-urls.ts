import { readBlobUrl, type CanonicalMessage, type MessagePart } from '@intertie/core';

/** Where the bytes of a stored file are read. */
export function blobPath(sha256: string): string {
  return `/api/blobs/${sha256}`;
}

/** The message with files that a browser can fetch: `blob:<sha256>` of the store is nothing to it. */
export function withBlobUrls(message: CanonicalMessage): CanonicalMessage {
  const parts = message.content.parts.map((part): MessagePart => {
    const sha256 = part.type === 'file' && part.url !== undefined ? readBlobUrl(part.url) : undefined;
    return sha256 === undefined ? part : ({ ...part, url: blobPath(sha256) } as MessagePart);
  });
  return { ...message, content: { ...message.content, parts } };
}
