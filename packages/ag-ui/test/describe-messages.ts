import type { Message } from '@ag-ui/core';
import { toJson } from '@intertie/core';

/** Describes a client's messages in order: one line per text, reasoning, call and result. */
export function describeMessages(messages: readonly Message[]): string[] {
  return messages.flatMap((message): string[] => {
    switch (message.role) {
      case 'reasoning':
        return message.content === '' ? [] : [`reasoning=${message.content}`];
      case 'assistant': {
        const calls = (message.toolCalls ?? []).map(
          ({ id, function: { arguments: text } }) => `call:${id}=${canonical(text)}`,
        );
        return [...(message.content ? [`text=${message.content}`] : []), ...calls];
      }
      case 'tool':
        return [`result:${message.toolCallId}=${typeof message.content === 'string' ? message.content : 'parts'}`];
      default:
        return [];
    }
  });
}

type Content = { type: string; [key: string]: unknown };

/** Describes the steps of a `streamText` result in the same format. */
export function describeSteps(steps: ReadonlyArray<{ content: readonly unknown[] }>): string[] {
  return steps.flatMap(({ content }) => {
    const lines: string[] = [];
    const results: string[] = [];
    for (const part of content as Content[]) {
      if (part.type === 'text' && part.text !== '') lines.push(`text=${String(part.text)}`);
      if (part.type === 'reasoning') lines.push(`reasoning=${String(part.text)}`);
      if (part.type === 'tool-call') lines.push(`call:${String(part.toolCallId)}=${canonical(part.input)}`);
      if (part.type === 'tool-result' || part.type === 'tool-error') {
        const line = `result:${String(part.toolCallId)}=${part.type === 'tool-error' ? toErrorText(part.error) : toOutputText(part.output)}`;
        if (part.providerExecuted) lines.push(line);
        else results.push(line);
      }
    }
    return [...lines, ...results];
  });
}

function toOutputText(output: unknown): string {
  if (output === undefined || output === null) return '';
  return typeof output === 'string' ? output : JSON.stringify(toJson(output));
}

function toErrorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Normalizes arguments, which are text on the wire and may be invalid JSON. */
function canonical(input: unknown): string {
  if (typeof input !== 'string') return JSON.stringify(input);
  try {
    return JSON.stringify(JSON.parse(input));
  } catch {
    return input;
  }
}
