import type { Meta, OnLoss } from '@intertie/core';

/** Providers that read metadata under other names than their own. */
const aliases: { readonly [segment: string]: readonly string[] } = {
  azure: ['openai'],
  vertex: ['google'],
  google: ['vertex'],
  'amazon-bedrock': ['bedrock', 'anthropic'],
};

/** Gateways forward everything, to a provider that is not known here. */
const openTo: ReadonlySet<string> = new Set(['gateway', 'vercel']);

/** Our own keys. They are never sent, and omitting them is not a loss. */
const ownKeys: ReadonlySet<string> = new Set(['ai-sdk']);

/** Form in which an API accepts earlier tool calls: including provider-executed ones, only plain ones, or only as text. */
export type CallStyle = 'provider' | 'plain' | 'text';

/** Decides which content of the history is sent to the next provider. */
export interface ProviderFilter {
  /** Keeps the metadata that the provider reads, and reports the keys that it drops. */
  filterMetadata: (meta: Meta | undefined) => Meta | undefined;
  /** Whether only other providers signed the content, for example reasoning that this provider would reject. */
  isSignedByOther: (meta: Meta | undefined) => boolean;
  /** Chooses the form of a provider-executed call. `keys` name the provider that ran it; empty if unknown. */
  getCallStyle: (keys: readonly string[]) => CallStyle;
  /** Whether the API has tool calls. */
  supportsCalls: boolean;
  /** Whether an assistant message can contain files. */
  supportsAssistantFiles: boolean;
  /** Whether two user messages can follow each other. */
  supportsRepeatedUser: boolean;
}

/** APIs without provider-executed tools, though another API of the same provider can have some. */
const plainApi =
  /^(?:openai|azure|xai|mistral|groq|deepseek|cohere|alibaba|moonshotai)\.(?:chat|completion)$|^amazon-bedrock$|^perplexity/;

/**
 * Creates the filter for a provider as its model names it, for example `anthropic.messages`. Metadata keys are the segments of
 * that name, also in camel case. Without a provider everything passes.
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
  // Claude on Vertex or Bedrock reads Anthropic's metadata, not the cloud's.
  const aliased = names.includes('anthropic') ? [] : names.flatMap((name) => aliases[name] ?? []);
  const keys = new Set([...names.flatMap((name) => [name, toCamelCase(name)]), ...aliased]);
  const reported = new Set<string>();
  const isOwn = (key: string): boolean => keys.has(key);
  // Azure reads OpenAI's metadata, but the items that it references are stored only at OpenAI.
  // Google's two APIs do not accept each other's calls.
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
        const why = `${provider} does not read it, and some providers reject unknown metadata.`;
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
