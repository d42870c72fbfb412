import type { RunRequest } from '@intertie/core';
import { toJson } from '@intertie/core';
import { defined, isFields, asNonEmptyText, asText, type Fields } from '../../shared/read-fields.ts';

/** Reads the client tools, context and shared state from the body of a chat request. Invalid entries are ignored. */
export function readBodyInput(body: Fields): Pick<RunRequest, 'tools' | 'context' | 'state'> {
  const { state } = body;
  const tools = listTools(body.tools).flatMap(({ name, description, inputSchema }) => {
    const tool = asNonEmptyText(name);
    if (tool === undefined) return [];
    const schema = inputSchema === undefined ? undefined : toJson(inputSchema);
    return [{ name: tool, ...defined({ description: asText(description), inputSchema: schema }) }];
  });
  const context = filterFields(body.context).flatMap(({ description, value }) =>
    typeof description === 'string' && typeof value === 'string' ? [{ description, value }] : [],
  );
  return {
    ...(tools.length > 0 && { tools }),
    ...(context.length > 0 && { context }),
    ...(state !== undefined && { state: toJson(state) }),
  };
}

/** Lists tools: an array, or the object by name that `AssistantChatTransport` sends, with schemas as `parameters`. */
function listTools(tools: unknown): Fields[] {
  if (!isFields(tools)) return filterFields(tools);
  return Object.entries(tools).flatMap(([name, tool]) =>
    isFields(tool) ? [{ name, description: tool.description, inputSchema: tool.parameters }] : [],
  );
}

function filterFields(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}
