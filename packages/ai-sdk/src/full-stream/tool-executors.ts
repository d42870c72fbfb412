import type { RunInput } from '@intertie/core';
import type { Executor } from '@intertie/core/internal';
import { isFields } from '../shared/read-fields.ts';

/** Tool set as passed to `streamText`, or the executor of each tool by name. */
export type ToolExecutors = { readonly [toolName: string]: Executor | { readonly execute?: unknown } };

/** Returns the executor of a call. Undefined until the provider reports it. */
export type ExecutorLookup = (toolName: string, providerExecuted: unknown) => Executor | undefined;

/**
 * Creates the lookup for a tool set. A tool with `execute` runs here; one without, or one that the client sent, waits for the
 * client. A provider-defined tool without `execute` can run on either side: only its call shows which.
 */
export function createExecutorLookup(run: RunInput, tools: ToolExecutors | undefined): ExecutorLookup {
  const client = new Set(run.tools.map(({ name }) => name));
  return (toolName, providerExecuted) => {
    if (providerExecuted === true) return 'provider';
    const tool: unknown = tools !== undefined && Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
    if (tool === 'provider' || tool === 'runtime' || tool === 'client') return tool;
    if (!isFields(tool)) return client.has(toolName) ? 'client' : undefined;
    if (typeof tool.execute === 'function') return 'runtime';
    return tool.type === 'provider' && providerExecuted === undefined ? undefined : 'client';
  };
}

/**
 * Whether a tool generates images. OpenAI and Azure send partial images as results, and `streamText` drops the flag that
 * distinguishes them from the final one.
 */
export function isImageTool(toolName: string, tools: ToolExecutors | undefined): boolean {
  const tool: unknown = tools !== undefined && Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  const id = isFields(tool) && typeof tool.id === 'string' ? tool.id : toolName;
  return /(?:^|\.)image_generation$/.test(id);
}
