import type { AgentDefinition } from '../agents/agent-definition.ts';
import { mailSwarm } from '../agents/mail-swarm.ts';
import { model } from '../agents/model.ts';

type Environment = { readonly [name: string]: string | undefined };

const suggestions = ['What can you do?', 'Explain resumable streams in three sentences'];

/** Creates agents for the API keys and addresses in the environment. Provider packages are loaded only if needed. */
export async function environmentAgents(env: Environment): Promise<{ [name: string]: AgentDefinition }> {
  const agents: { [name: string]: AgentDefinition } = {};
  const { ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL, AI_GATEWAY_API_KEY, MAIL_BASE_URL } = env;
  if (ANTHROPIC_API_KEY) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    const id = env['ANTHROPIC_MODEL'] ?? 'claude-sonnet-4-5';
    const provider = createAnthropic({ apiKey: ANTHROPIC_API_KEY });
    agents['claude'] = model(provider(id), { description: `${id} of Anthropic.`, suggestions });
  }
  if (OPENAI_API_KEY || OPENAI_BASE_URL) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const baseURL = OPENAI_BASE_URL ?? 'https://api.openai.com/v1';
    const apiKey = OPENAI_API_KEY ? { apiKey: OPENAI_API_KEY } : {};
    const id =
      env['OPENAI_MODEL'] ?? (OPENAI_BASE_URL ? await firstModel(baseURL, OPENAI_API_KEY) : undefined) ?? 'gpt-5-mini';
    const provider = createOpenAICompatible({ name: 'openai', baseURL, ...apiKey });
    agents['openai'] = model(provider(id), { description: `${id} at ${new URL(baseURL).host}.`, suggestions });
  }
  if (AI_GATEWAY_API_KEY) {
    const id = env['AI_GATEWAY_MODEL'] ?? 'openai/gpt-5-mini';
    agents['gateway'] = model(id, { description: `${id} through the AI Gateway.`, suggestions });
  }
  if (MAIL_BASE_URL) {
    const { host } = new URL(MAIL_BASE_URL);
    agents['mail'] = mailSwarm({
      baseUrl: MAIL_BASE_URL,
      authToken: env['MAIL_API_KEY'],
      description: `The MAIL swarm at ${host}.`,
    });
  }
  return agents;
}

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
