import { readBlobUrl, toBlobUrl, type MessageContent, type MessagePart } from '@intertie/core';
import type { Blobs, Scope } from '@intertie/core/store';

/** Larger files become blobs, because every page of a message list reads the inline ones. */
const inlineBytes = 32 * 1024;

/** Moves large files of the content into blobs and replaces their data by blob URLs. */
export async function moveFiles(blobs: Blobs, scope: Scope, content: MessageContent): Promise<MessageContent> {
  if (!hasLargeFiles(content)) return content;
  return { ...content, parts: await moveParts(blobs, scope, content.parts) };
}

export function hasLargeFiles({ parts }: { parts: readonly MessagePart[] }): boolean {
  return parts.some(
    (part) =>
      (part.type === 'file' && part.data !== undefined && isLarge(part.data)) ||
      (part.type === 'interjection' && hasLargeFiles(part)),
  );
}

function moveParts(blobs: Blobs, scope: Scope, parts: readonly MessagePart[]): Promise<MessagePart[]> {
  return Promise.all(parts.map((part) => movePart(blobs, scope, part)));
}

async function movePart(blobs: Blobs, scope: Scope, part: MessagePart): Promise<MessagePart> {
  if (part.type === 'interjection' && hasLargeFiles(part)) {
    return { ...part, parts: await moveParts(blobs, scope, part.parts) };
  }
  if (part.type !== 'file' || part.data === undefined || !isLarge(part.data)) return part;
  const { data, ...rest } = part;
  const { sha256 } = await blobs.put(scope, {
    data: Buffer.from(data, 'base64'),
    ...(part.mimeType !== undefined && { mediaType: part.mimeType }),
  });
  return { ...rest, url: toBlobUrl(sha256) };
}

/** Base64 encodes three bytes as four characters. */
function isLarge(base64: string): boolean {
  return base64.length > Math.ceil(inlineBytes / 3) * 4;
}

/** Hashes of the blobs that message parts refer to. */
export function findBlobHashes(parts: readonly MessagePart[]): readonly string[] {
  return parts.some(({ type }) => type === 'file' || type === 'interjection')
    ? parts.flatMap(findPartBlobHashes)
    : none;
}

/** Shared, because nearly all messages refer to no blob. */
const none: readonly string[] = [];

function findPartBlobHashes(part: MessagePart): readonly string[] {
  if (part.type === 'interjection') return findBlobHashes(part.parts);
  const sha256 = part.type === 'file' && part.url !== undefined ? readBlobUrl(part.url) : undefined;
  return sha256 === undefined ? none : [sha256];
}
