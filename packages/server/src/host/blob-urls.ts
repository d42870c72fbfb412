import { readBlobUrl, type CanonicalMessage, type MessagePart } from '@intertie/core';

/** Path that serves a stored file. */
export function blobPath(sha256: string): string {
  return `/api/blobs/${sha256}`;
}

/** Replaces the store's `blob:<sha256>` URLs of a message by paths that a browser can fetch. */
export function withBlobUrls(message: CanonicalMessage): CanonicalMessage {
  const parts = message.content.parts.map((part): MessagePart => {
    const sha256 = part.type === 'file' && part.url !== undefined ? readBlobUrl(part.url) : undefined;
    return sha256 === undefined ? part : ({ ...part, url: blobPath(sha256) } as MessagePart);
  });
  return { ...message, content: { ...message.content, parts } };
}
