import type { Json } from '@intertie/core';
import type { FilePart } from '@intertie/core/internal';
import type { UIMessageVersion } from '../ui-message-stream/chunk/ui-message-chunk.ts';

/** Where the file of a model message is. Undefined: at a relative URL, and nobody but the page knows where that leads. */
export function modelFileData(part: FilePart, version: UIMessageVersion): Json | URL | undefined {
  return part.data ?? (part.url === undefined ? referenceData(part.reference, version) : absolute(part.url));
}

/** 7 has a shape for it; in 6 providers know their own ids by their prefix. */
function referenceData(reference: FilePart['reference'], version: UIMessageVersion): Json | undefined {
  if (reference === undefined || version === 6) return reference?.ref;
  return { type: 'reference', reference: { [reference.provider ?? 'unknown']: reference.ref } };
}

function absolute(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
