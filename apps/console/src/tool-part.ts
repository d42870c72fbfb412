import type { DynamicToolUIPart, ToolUIPart, UIMessage } from 'ai';

export type ToolPart = ToolUIPart | DynamicToolUIPart;

// Not imported from `ai`: `@ai-sdk/react` has its own version of it, so the page would contain both.

export function isToolPart(part: UIMessage['parts'][number]): part is ToolPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-');
}

export function getToolName(part: ToolPart): string {
  return part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
}
