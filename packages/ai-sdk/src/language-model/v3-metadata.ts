import type { LanguageModelV3StreamPart, SharedV3ProviderMetadata } from '@ai-sdk/provider';
import type { Meta } from '@intertie/core';

/** The field of a V3 part, where there is anything to say. */
export function toV3Metadata(meta: Meta | undefined): { providerMetadata?: SharedV3ProviderMetadata } {
  return meta ? { providerMetadata: meta } : {};
}

type DescribedPart = Extract<LanguageModelV3StreamPart, { providerMetadata?: SharedV3ProviderMetadata }>;

/** A part that was made for this, with its metadata where there is any. */
export function addMetadata(part: DescribedPart, meta: Meta | undefined): DescribedPart {
  if (meta) part.providerMetadata = meta;
  return part;
}
