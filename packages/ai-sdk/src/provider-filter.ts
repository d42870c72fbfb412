import type { Meta, OnLoss } from '@intertie/core';

/** Providers that read metadata under other names than their own. */
const aliases: { readonly [segment: string]: readonly string[] } = {
  azure: ['openai'],
  openai: ['azure'],
  vertex: ['google'],
  google: ['vertex'],
  'amazon-bedrock': ['bedrock', 'anthropic'],
};

/** A gateway passes everything on; which provider is behind it is not known here. */
const openTo: ReadonlySet<string> = new Set(['gateway', 'vercel']);

/** Which metadata goes to the provider that is asked next. */
export interface ProviderFilter {
  /** The metadata that the provider understands. */
  admit: (meta: Meta | undefined) => Meta | undefined;
  /** Whether another provider has signed it: reasoning that this one would refuse. */
  isForeign: (meta: Meta | undefined) => boolean;
}

/**
 * `provider` is what the model says of itself, as `anthropic.messages`; metadata is kept under the parts of that name, and
 * under those names in camel case. Without a provider everything passes.
 */
export function createProviderFilter(provider: string | undefined, onLoss: OnLoss): ProviderFilter {
  const names = provider?.split('.') ?? [];
  if (provider === undefined || names.some((name) => openTo.has(name))) {
    return { admit: (meta) => meta, isForeign: () => false };
  }
  const keys = new Set(names.flatMap((name) => [name, camelCase(name), aliases[name] ?? []].flat()));
  const reported = new Set<string>();
  const isOwn = (key: string): boolean => keys.has(key);
  return {
    admit(meta) {
      if (meta === undefined) return undefined;
      const entries = Object.entries(meta);
      for (const [key] of entries) {
        if (isOwn(key) || reported.has(key)) continue;
        reported.add(key);
        const why = `It means nothing to ${provider}, and some providers refuse what they do not know.`;
        onLoss({ kind: 'withheld', what: `metadata of ${key}`, why });
      }
      const own = entries.filter(([key]) => isOwn(key));
      return own.length > 0 ? Object.fromEntries(own) : undefined;
    },
    isForeign(meta) {
      const signed = Object.keys(meta ?? {});
      return signed.length > 0 && !signed.some(isOwn);
    },
  };
}

function camelCase(name: string): string {
  return name.replaceAll(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
}
