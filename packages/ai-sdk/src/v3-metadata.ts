import type { SharedV3ProviderMetadata } from '@ai-sdk/provider';
import type { Meta } from '@intertie/core';

/** The field of a V3 part, where there is anything to say. */
export function v3Metadata(meta: Meta | undefined): { providerMetadata?: SharedV3ProviderMetadata } {
  return meta ? { providerMetadata: meta } : {};
}
