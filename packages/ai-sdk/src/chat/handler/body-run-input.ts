import type { RunRequest } from '@intertie/core';
import { toJson } from '@intertie/core/internal';
import { defined, isFields, asNonEmptyText, asText, type Fields } from '../../shared/read-fields.ts';

/** The client's tools, what it wants known, and the shared state, as far as a chat's body has them beside its messages. */
export function bodyRunInput(body: Fields): Pick<RunRequest, 'tools' | 'context' | 'state'> {
  const { state } = body;
  const tools = fieldsIn(body.tools).flatMap(({ name, description, inputSchema }) => {
    const tool = asNonEmptyText(name);
    if (tool === undefined) return [];
    const schema = inputSchema === undefined ? undefined : toJson(inputSchema);
    return [{ name: tool, ...defined({ description: asText(description), inputSchema: schema }) }];
  });
  const context = fieldsIn(body.context).flatMap(({ description, value }) =>
    typeof description === 'string' && typeof value === 'string' ? [{ description, value }] : [],
  );
  return {
    ...(tools.length > 0 && { tools }),
    ...(context.length > 0 && { context }),
    ...(state !== undefined && { state: toJson(state) }),
  };
}

function fieldsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}
