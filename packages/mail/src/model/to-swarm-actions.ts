import { asSchema, type ToolSet } from 'ai';
import type { Json } from '@intertie/core';
import { toJson } from '@intertie/core/internal';

/** What a swarm's author adds to `swarms.json`, so that an agent can call the tools of a program. */
export type SwarmActions = {
  breakpoint_tools: string[];
  actions: Array<{ name: string; description: string; parameters: Json; function: string }>;
};

/** Must name something that can be imported, and is never called: the task pauses instead. */
const neverCalled = 'python::builtins:print';

/**
 * Tools of the AI SDK as the block that makes them breakpoint tools. MAIL cannot be told of tools over HTTP. The name of each
 * action must also be added to the `actions` of the agents that may call it.
 */
export async function toSwarmActions(tools: ToolSet): Promise<SwarmActions> {
  const actions = Object.entries(tools).map(async ([name, { description, inputSchema }]) => ({
    name,
    description: typeof description === 'string' ? description : name,
    parameters: toJson(await asSchema(inputSchema).jsonSchema),
    function: neverCalled,
  }));
  return { breakpoint_tools: Object.keys(tools), actions: await Promise.all(actions) };
}
