import { readBlobUrl, toBlobUrl, type AgentEvent, type MessagePart } from '@intertie/core';

/** Where a page reads a file that the store keeps as a blob. */
export type BlobUrl = (sha256: string) => string;

/** The event with files that a page can read: what the store calls them is nothing to a browser. */
export function showBlobs(event: AgentEvent, blobUrl: BlobUrl): AgentEvent {
  switch (event.type) {
    case 'file': {
      const url = shownUrl(event.url, blobUrl);
      return url === undefined ? event : ({ ...event, url } as AgentEvent);
    }
    case 'interjection':
      return { ...event, parts: shownParts(event.parts, blobUrl) };
    case 'message-snapshot':
      return { ...event, content: { ...event.content, parts: shownParts(event.content.parts, blobUrl) } };
    default:
      return event;
  }
}

/** The way back: the parts of a message with files as the store calls them. */
export function takeBlobs(parts: readonly MessagePart[], blobUrl: BlobUrl): MessagePart[] {
  return parts.map((part): MessagePart => {
    if (part.type !== 'file' || part.url === undefined) return part;
    const sha256 = /[0-9a-f]{64}/.exec(part.url)?.[0];
    return sha256 !== undefined && blobUrl(sha256) === part.url ? { ...part, url: toBlobUrl(sha256) } : part;
  });
}

function shownParts(parts: readonly MessagePart[], blobUrl: BlobUrl): MessagePart[] {
  return parts.map((part): MessagePart => {
    if (part.type === 'interjection') return { ...part, parts: shownParts(part.parts, blobUrl) };
    const url = part.type === 'file' ? shownUrl(part.url, blobUrl) : undefined;
    return url === undefined ? part : ({ ...part, url } as MessagePart);
  });
}

function shownUrl(url: string | undefined, blobUrl: BlobUrl): string | undefined {
  const sha256 = url === undefined ? undefined : readBlobUrl(url);
  return sha256 === undefined ? undefined : blobUrl(sha256);
}
