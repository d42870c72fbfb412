import { modelAgent } from '@intertie/ai-sdk';
import type { AgentDefinition, AgentEnvironment } from '@intertie/core';
import { importOptional, MissingPackageError } from '@intertie/core/internal';

const suggestions = ['What can you do?', 'Explain resumable streams in three sentences'];

/** Models of the providers whose API keys or addresses are in the environment. Their packages are optional. */
export const modelProviders: AgentEnvironment = {
  keys: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENAI_BASE_URL', 'AI_GATEWAY_API_KEY'],
  async createAgents(env, onMissing) {
    const agents: { [name: string]: AgentDefinition } = {};
    const { ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL, AI_GATEWAY_API_KEY } = env;
    /** Loads a provider package. Undefined if it is missing, so that the other agents can be used. */
    const load = async <Module>(name: string, key: string, loadModule: () => Promise<Module>) => {
      try {
        // With the server, because npx runs a server in the folder instead of its own copy, which does not see the package.
        const install = `intertie ${name}`;
        return await importOptional(loadModule, { name, title: `${key} is set, but ${name}`, install });
      } catch (error) {
        if (!(error instanceof MissingPackageError) || !onMissing) throw error;
        onMissing(error);
        return undefined;
      }
    };
    const anthropic =
      ANTHROPIC_API_KEY && (await load('@ai-sdk/anthropic', 'ANTHROPIC_API_KEY', () => import('@ai-sdk/anthropic')));
    if (anthropic) {
      const id = env['ANTHROPIC_MODEL'] ?? 'claude-sonnet-4-5';
      const provider = anthropic.createAnthropic({ apiKey: ANTHROPIC_API_KEY });
      agents['claude'] = modelAgent(provider(id), { description: `${id} of Anthropic.`, suggestions });
    }
    const openAI =
      (OPENAI_API_KEY || OPENAI_BASE_URL) &&
      (await load(
        '@ai-sdk/openai-compatible',
        OPENAI_API_KEY ? 'OPENAI_API_KEY' : 'OPENAI_BASE_URL',
        () => import('@ai-sdk/openai-compatible'),
      ));
    if (openAI) {
      const baseURL = OPENAI_BASE_URL ?? 'https://api.openai.com/v1';
      const apiKey = OPENAI_API_KEY ? { apiKey: OPENAI_API_KEY } : {};
      const listed = async () => (OPENAI_BASE_URL ? firstModel(baseURL, OPENAI_API_KEY) : undefined);
      const id = env['OPENAI_MODEL'] ?? (await listed()) ?? 'gpt-5-mini';
      const provider = openAI.createOpenAICompatible({ name: 'openai', baseURL, ...apiKey });
      agents['openai'] = modelAgent(provider(id), { description: `${id} at ${new URL(baseURL).host}.`, suggestions });
    }
    if (AI_GATEWAY_API_KEY) {
      const id = env['AI_GATEWAY_MODEL'] ?? 'openai/gpt-5-mini';
      agents['gateway'] = modelAgent(id, { description: `${id} through the AI Gateway.`, suggestions });
    }
    return agents;
  },
};

/** First model that an OpenAI-compatible server lists. A self-hosted server has its own models. */
async function firstModel(baseURL: string, apiKey: string | undefined): Promise<string | undefined> {
  try {
    const response = await fetch(`${baseURL.replace(/\/$/, '')}/models`, {
      headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      signal: AbortSignal.timeout(2_000),
    });
    const { data } = (await response.json()) as { data?: Array<{ id?: unknown }> };
    const id = data?.[0]?.id;
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}
