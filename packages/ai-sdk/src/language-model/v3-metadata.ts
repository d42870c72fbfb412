import type { LanguageModelV3StreamPart, SharedV3ProviderMetadata } from '@ai-sdk/provider';
import type { Meta } from '@intertie/core';

/** Returns the `providerMetadata` field of a V3 part, absent if there is no metadata. */
export function toV3Metadata(meta: Meta | undefined): { providerMetadata?: SharedV3ProviderMetadata } {
  return meta ? { providerMetadata: meta } : {};
}

type DescribedPart = Extract<LanguageModelV3StreamPart, { providerMetadata?: SharedV3ProviderMetadata }>;

/** Sets the metadata of a new part in place. */
export function addMetadata(part: DescribedPart, meta: Meta | undefined): DescribedPart {
  if (meta) part.providerMetadata = meta;
  return part;
}
