import { asSchema, type ToolSet } from 'ai';
import type { Json } from '@intertie/core';
import { toJson } from '@intertie/core';

/** Block for `swarms.json` that lets agents call the tools of a program. */
export type SwarmActions = {
  breakpoint_tools: string[];
  actions: Array<{ name: string; description: string; parameters: Json; function: string }>;
};

/** Must be importable, but is never called: the task pauses instead. */
const neverCalled = 'python::builtins:print';

/**
 * Converts AI SDK tools to the block for `swarms.json` that makes them breakpoint tools, since MAIL does not accept tools over
 * HTTP. Add the name of each action to the `actions` of the agents that may call it.
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
