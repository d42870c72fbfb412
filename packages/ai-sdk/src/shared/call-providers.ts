import type { MessageContent, Meta } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';

/** Metadata keys that do not name a provider. */
const neutralKeys: ReadonlySet<string> = new Set(['ai-sdk', 'intertie', 'gateway', 'vercel']);

/** Segments of a model's provider that name its API. */
const apiNames: ReadonlySet<string> = new Set(['chat', 'completion', 'responses', 'messages', 'generative-ai']);

/**
 * Finds which provider ran a call: the one that the decoder recorded for its step, else the metadata keys of the call, of its
 * step, or of its message. Anthropic marks neither the call nor the result of a web search; xAI marks nothing.
 */
export class CallProviders {
  #content: MessageContent;
  /** Keys per step, with those of the whole message under `undefined`. Collected on first use: most calls have their own. */
  #keys: Map<string | undefined, Set<string>> | undefined;

  constructor(content: MessageContent) {
    this.#content = content;
  }

  /** Lists the metadata keys of the provider that ran a call. Empty if the message names no provider. */
  getKeys({ providerMetadata, resultMetadata, stepId, toolCallId }: ToolPart): string[] {
    const recorded = getRecordedProvider(stepId, this.#content);
    const named = recorded === undefined ? [] : parseProviderNames(recorded);
    if (named.length > 0) return named;
    const own = listProviderKeys(providerMetadata, resultMetadata);
    if (own.length > 0) return own;
    this.#keys ??= collectKeys(this.#content);
    const step = stepId === undefined ? undefined : this.#keys.get(stepId);
    const keys = step ?? this.#keys.get(undefined);
    if (keys) return [...keys];
    // Id prefixes of Anthropic's server tools. Messages stored by the client have no steps to look at.
    return /^(?:srvtoolu|mcptoolu)_/.test(toolCallId) ? ['anthropic'] : [];
  }
}

/** Returns the provider that the decoder recorded for a step, for example `anthropic.messages`. */
export function getRecordedProvider(stepId: string | undefined, { steps }: MessageContent): string | undefined {
  const own = stepId === undefined ? undefined : steps?.[stepId]?.providerMetadata?.['ai-sdk'];
  return typeof own?.['provider'] === 'string' ? own['provider'] : undefined;
}

/** Splits a model's provider: `google.vertex.chat` has the names `google` and `vertex`. Claude on Vertex is Anthropic's. */
function parseProviderNames(provider: string): string[] {
  if (provider.endsWith('.interactions')) return ['interactions'];
  const names = provider.split('.').filter((name) => !apiNames.has(name) && !neutralKeys.has(name));
  return names.includes('anthropic') ? ['anthropic'] : names;
}

function collectKeys({ parts, steps = {}, providerMetadata }: MessageContent): Map<string | undefined, Set<string>> {
  const found = new Map<string | undefined, Set<string>>();
  const add = (stepId: string | undefined, keys: readonly string[]): void => {
    if (keys.length > 0) found.set(stepId, new Set([...(found.get(stepId) ?? []), ...keys]));
  };
  add(undefined, listProviderKeys(providerMetadata));
  const sources = [
    ...Object.entries(steps).map(([stepId, step]) => ({ stepId, providerMetadata: step.providerMetadata })),
    ...parts,
  ];
  for (const { stepId, providerMetadata: meta } of sources) {
    const keys = listProviderKeys(meta);
    add(undefined, keys);
    if (stepId !== undefined) add(stepId, keys);
  }
  return found;
}

function listProviderKeys(...metas: Array<Meta | undefined>): string[] {
  return metas.flatMap((meta) => Object.keys(meta ?? {}).filter((key) => !neutralKeys.has(key)));
}
