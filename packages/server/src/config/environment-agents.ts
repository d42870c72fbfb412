import type { AgentDefinition, AgentKind, Environment } from '@intertie/core';

/** Creates agents for the API keys and addresses in the environment. */
export async function findEnvironmentAgents(
  kinds: readonly AgentKind[],
  env: Environment,
  onMissing?: (error: Error) => void,
): Promise<{ [name: string]: AgentDefinition }> {
  const found = await Promise.all(kinds.map(async ({ environment }) => environment?.createAgents(env, onMissing)));
  return Object.assign({}, ...found) as { [name: string]: AgentDefinition };
}
