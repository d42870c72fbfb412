import type { ModelMessage, ToolSet } from 'ai';

/**
 * Applies each tool's `toModelOutput` to results of earlier runs, such as an image instead of its description. `streamText`
 * only does this for calls of the current run; for a history it is up to the caller.
 */
export async function applyModelOutputs(messages: ModelMessage[], tools: ToolSet): Promise<ModelMessage[]> {
  if (!Object.values(tools).some(({ toModelOutput }) => toModelOutput)) return messages;
  const inputs = new Map<string, unknown>();
  return Promise.all(
    messages.map(async (message): Promise<ModelMessage> => {
      if (message.role === 'assistant' && typeof message.content !== 'string') {
        for (const part of message.content) if (part.type === 'tool-call') inputs.set(part.toolCallId, part.input);
      }
      if (message.role !== 'tool') return message;
      const content = message.content.map(async (part) => {
        if (part.type !== 'tool-result' || (part.output.type !== 'json' && part.output.type !== 'text')) return part;
        const { toolCallId, toolName } = part;
        const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
        if (!tool?.toModelOutput) return part;
        const input = inputs.get(toolCallId) as never;
        return { ...part, output: await tool.toModelOutput({ toolCallId, input, output: part.output.value as never }) };
      });
      return { ...message, content: await Promise.all(content) };
    }),
  );
}
