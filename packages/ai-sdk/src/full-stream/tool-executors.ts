import type { RunInput } from '@intertie/core';
import type { Executor } from '@intertie/core/internal';
import { isFields } from '../shared/read-fields.ts';

/** A tool set as `streamText` takes it, or simply who runs each tool, by name. */
export type ToolExecutors = { readonly [toolName: string]: Executor | { readonly execute?: unknown } };

/** Who runs a call of that name, as far as it is known before the provider has said more. */
export type ExecutorLookup = (toolName: string, providerExecuted: unknown) => Executor | undefined;

/**
 * A tool with `execute` runs here, one without waits for the client, and so do those that the client brought along.
 * A provider's own tool without `execute` may run on either side: only the call says so.
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
 * Whether a tool generates images. OpenAI and Azure send partial images as results, and `streamText` drops the mark that tells
 * them from the final one.
 */
export function isImageTool(toolName: string, tools: ToolExecutors | undefined): boolean {
  const tool: unknown = tools !== undefined && Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  const id = isFields(tool) && typeof tool.id === 'string' ? tool.id : toolName;
  return /(?:^|\.)image_generation$/.test(id);
}
