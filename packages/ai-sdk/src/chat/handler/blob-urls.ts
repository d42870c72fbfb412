import { readBlobUrl, toBlobUrl, type AgentEvent, type MessagePart } from '@intertie/core';

/** Maps the hash of a stored blob to the URL where a browser can read it. */
export type BlobUrl = (sha256: string) => string;

/** Replaces the store's blob URLs in an event with URLs that a browser can read. */
export function toBrowserUrls(event: AgentEvent, blobUrl: BlobUrl): AgentEvent {
  switch (event.type) {
    case 'file': {
      const url = findBrowserUrl(event.url, blobUrl);
      return url === undefined ? event : ({ ...event, url } as AgentEvent);
    }
    case 'interjection':
      return { ...event, parts: toBrowserParts(event.parts, blobUrl) };
    case 'message-snapshot':
      return { ...event, content: { ...event.content, parts: toBrowserParts(event.content.parts, blobUrl) } };
    default:
      return event;
  }
}

/** Inverse of `toBrowserUrls`, for the parts of a message that a client sends back. */
export function toStoreUrls(parts: readonly MessagePart[], blobUrl: BlobUrl): MessagePart[] {
  return parts.map((part): MessagePart => {
    if (part.type !== 'file' || part.url === undefined) return part;
    const sha256 = /[0-9a-f]{64}/.exec(part.url)?.[0];
    return sha256 !== undefined && blobUrl(sha256) === part.url ? { ...part, url: toBlobUrl(sha256) } : part;
  });
}

function toBrowserParts(parts: readonly MessagePart[], blobUrl: BlobUrl): MessagePart[] {
  return parts.map((part): MessagePart => {
    if (part.type === 'interjection') return { ...part, parts: toBrowserParts(part.parts, blobUrl) };
    const url = part.type === 'file' ? findBrowserUrl(part.url, blobUrl) : undefined;
    return url === undefined ? part : ({ ...part, url } as MessagePart);
  });
}

function findBrowserUrl(url: string | undefined, blobUrl: BlobUrl): string | undefined {
  const sha256 = url === undefined ? undefined : readBlobUrl(url);
  return sha256 === undefined ? undefined : blobUrl(sha256);
}
