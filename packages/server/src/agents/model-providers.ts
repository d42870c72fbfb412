import { modelAgent } from '@intertie/ai-sdk';
import type { AgentDefinition, AgentEnvironment } from '@intertie/core';

const suggestions = ['What can you do?', 'Explain resumable streams in three sentences'];

/** Models of the providers whose API keys or addresses are in the environment. Provider packages are loaded only if needed. */
export const modelProviders: AgentEnvironment = {
  keys: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENAI_BASE_URL', 'AI_GATEWAY_API_KEY'],
  async createAgents(env) {
    const agents: { [name: string]: AgentDefinition } = {};
    const { ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL, AI_GATEWAY_API_KEY } = env;
    if (ANTHROPIC_API_KEY) {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const id = env['ANTHROPIC_MODEL'] ?? 'claude-sonnet-4-5';
      const provider = createAnthropic({ apiKey: ANTHROPIC_API_KEY });
      agents['claude'] = modelAgent(provider(id), { description: `${id} of Anthropic.`, suggestions });
    }
    if (OPENAI_API_KEY || OPENAI_BASE_URL) {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const baseURL = OPENAI_BASE_URL ?? 'https://api.openai.com/v1';
      const apiKey = OPENAI_API_KEY ? { apiKey: OPENAI_API_KEY } : {};
      const listed = async () => (OPENAI_BASE_URL ? firstModel(baseURL, OPENAI_API_KEY) : undefined);
      const id = env['OPENAI_MODEL'] ?? (await listed()) ?? 'gpt-5-mini';
      const provider = createOpenAICompatible({ name: 'openai', baseURL, ...apiKey });
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
