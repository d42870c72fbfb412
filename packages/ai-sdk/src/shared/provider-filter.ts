import type { Meta, OnLoss } from '@intertie/core';

/** Providers that read metadata under other names than their own. */
const aliases: { readonly [segment: string]: readonly string[] } = {
  azure: ['openai'],
  vertex: ['google'],
  google: ['vertex'],
  'amazon-bedrock': ['bedrock', 'anthropic'],
};

/** A gateway passes everything on; which provider is behind it is not known here. */
const openTo: ReadonlySet<string> = new Set(['gateway', 'vercel']);

/** Keys that are ours: they are never sent, and leaving them out loses nothing. */
const ownKeys: ReadonlySet<string> = new Set(['ai-sdk']);

/** How an API takes tool calls: also those that the provider ran itself, only plain ones, or none. */
export type CallStyle = 'provider' | 'plain' | 'text';

/** Which content goes to the provider that is asked next. */
export interface ProviderFilter {
  /** The metadata that the provider understands. */
  filterMetadata: (meta: Meta | undefined) => Meta | undefined;
  /** Whether another provider has signed it: reasoning that this one would refuse. */
  isSignedByOther: (meta: Meta | undefined) => boolean;
  /** How a call that a provider ran itself is sent. `keys` name that provider; without any it is not known. */
  getCallStyle: (keys: readonly string[]) => CallStyle;
  /** Whether the API has tool calls at all. */
  supportsCalls: boolean;
  /** Whether an assistant's message may hold files. */
  supportsAssistantFiles: boolean;
  /** Whether two messages of the user may follow each other. */
  supportsRepeatedUser: boolean;
}

/** APIs without tools of their own, though another API of the same provider may have some. */
const plainApi =
  /^(?:openai|azure|xai|mistral|groq|deepseek|cohere|alibaba|moonshotai)\.(?:chat|completion)$|^amazon-bedrock$|^perplexity/;

/**
 * `provider` is what the model says of itself, as `anthropic.messages`; metadata is kept under the parts of that name, and
 * under those names in camel case. Without a provider everything passes.
 */
export function createProviderFilter(provider: string | undefined, onLoss: OnLoss): ProviderFilter {
  const names = provider?.split('.') ?? [];
  if (provider === undefined || names.some((name) => openTo.has(name))) {
    return {
      filterMetadata: (meta) => meta,
      isSignedByOther: () => false,
      getCallStyle: () => 'provider',
      supportsCalls: true,
      supportsAssistantFiles: true,
      supportsRepeatedUser: true,
    };
  }
  // Claude on Vertex or Bedrock reads Anthropic's metadata, not that of the cloud's own models.
  const aliased = names.includes('anthropic') ? [] : names.flatMap((name) => aliases[name] ?? []);
  const keys = new Set([...names.flatMap((name) => [name, toCamelCase(name)]), ...aliased]);
  const reported = new Set<string>();
  const isOwn = (key: string): boolean => keys.has(key);
  // Azure reads OpenAI's metadata, but refers to items that only OpenAI has stored.
  // Google's two APIs do not take each other's calls.
  const ranHere = (key: string): boolean => {
    if (names.at(-1) === 'interactions') return key === 'interactions';
    return isOwn(key) && !(names[0] === 'azure' && key === 'openai');
  };
  const supportsCalls = names.at(-1) !== 'completion' && names[0] !== 'perplexity';
  return {
    filterMetadata(meta) {
      if (meta === undefined) return undefined;
      const entries = Object.entries(meta);
      for (const [key] of entries) {
        if (isOwn(key) || ownKeys.has(key) || reported.has(key)) continue;
        reported.add(key);
        const why = `It means nothing to ${provider}, and some providers refuse what they do not know.`;
        onLoss({ kind: 'withheld', what: `metadata of ${key}`, why });
      }
      const own = entries.filter(([key]) => isOwn(key));
      return own.length > 0 ? Object.fromEntries(own) : undefined;
    },
    isSignedByOther(meta) {
      const signed = Object.keys(meta ?? {});
      return signed.length > 0 && !signed.some(isOwn);
    },
    getCallStyle(made) {
      if (!supportsCalls) return 'text';
      const isForeign = made.length > 0 ? !made.some(ranHere) : names.at(-1) === 'chat';
      return isForeign || plainApi.test(provider) ? 'plain' : 'provider';
    },
    supportsCalls,
    supportsAssistantFiles: names[0] !== 'mistral',
    supportsRepeatedUser: names[0] !== 'amazon-bedrock' && names[0] !== 'perplexity',
  };
}

function toCamelCase(name: string): string {
  return name.replaceAll(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
}
