import type { EventOf, MessageContent, MessagePart } from '@intertie/core';
import type { A2AArtifact, A2APart } from '../shared/a2a-types.ts';

/** Converts the parts of a message that A2A clients see: text, files and data. */
export function toArtifacts({ parts }: MessageContent): A2AArtifact[] {
  return parts.flatMap((part, index) => {
    const converted = part.internal ? undefined : toArtifactPart(part);
    if (!converted) return [];
    const name = part.type === 'file' ? part.filename : part.type === 'data' ? part.name : undefined;
    return [{ artifactId: part.id ?? `part-${index}`, ...(name !== undefined && { name }), parts: [converted] }];
  });
}

function toArtifactPart(part: MessagePart): A2APart | undefined {
  if (part.type === 'text') return { text: part.text };
  if (part.type === 'data') return { data: part.data };
  return part.type === 'file' ? toFilePart(part) : undefined;
}

type File = Extract<MessagePart, { type: 'file' }> | EventOf<'file'>;

/** Returns undefined for a reference to a provider's file, which no other party can load. */
export function toFilePart({ data, url, mimeType, filename }: File): A2APart | undefined {
  const fields = {
    ...(mimeType !== undefined && { mediaType: mimeType }),
    ...(filename !== undefined && { filename }),
  };
  if (data !== undefined) return { raw: data, ...fields };
  return url === undefined ? undefined : { url, ...fields };
}
