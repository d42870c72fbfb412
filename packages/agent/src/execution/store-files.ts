import { toBlobUrl, type EventOf } from '@intertie/core';
import { decodeBase64 } from '@intertie/core/internal';
import type { Blobs, Scope } from '@intertie/core/store';

/** As base64. Larger files are kept as blobs: every reader of the log would be sent them again. */
const maxInlineLength = Math.ceil((32 * 1024) / 3) * 4;

export function isLargeFile(event: EventOf<'file'>): boolean {
  return event.data !== undefined && event.data.length > maxInlineLength;
}

/** The event with its bytes in a blob that the run's message refers to. */
export async function keepFile(
  blobs: Blobs,
  scope: Scope,
  message: { threadId: string; messageId: string },
  event: EventOf<'file'>,
): Promise<EventOf<'file'>> {
  const { data, ...rest } = event;
  if (data === undefined) return event;
  const { sha256 } = await blobs.put(scope, {
    data: decodeBase64(data),
    ...(event.mimeType !== undefined && { mediaType: event.mimeType }),
  });
  await blobs.refer(scope, sha256, message);
  return { ...rest, url: toBlobUrl(sha256) } as EventOf<'file'>;
}
