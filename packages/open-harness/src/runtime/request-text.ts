import type { CanonicalMessage, RunInput } from '@intertie/core';
import type { FilePart } from '@intertie/core/internal';

/** Joins the text parts of a message as paragraphs. */
function getMessageText({ content }: CanonicalMessage): string {
  return content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}

/** Returns the text that the run answers: the last message, if it is a user's. */
export function getLastUserText(run: RunInput): string | undefined {
  const last = run.history.at(-1);
  return last?.role === 'user' ? getMessageText(last) : undefined;
}

/** Creates the default input of a flow, with `{{ flow.input.message }}`, files and the earlier messages. */
export function createFlowInput(run: RunInput): { message: string; files: FilePart[]; history: FlowInputMessage[] } {
  const last = run.history.at(-1);
  const files = last?.role === 'user' ? last.content.parts.filter((part) => part.type === 'file') : [];
  const earlier = last?.role === 'user' ? run.history.slice(0, -1) : run.history;
  return {
    message: getLastUserText(run) ?? '',
    files,
    history: earlier.map((message) => ({ role: message.role, content: getMessageText(message) })),
  };
}

export type FlowInputMessage = { role: CanonicalMessage['role']; content: string };

/** Shown to the user, and reported as a loss. */
export const undeliveredText =
  'The flow ended before any of its nodes read the message, so the message was not delivered. Send it again.';
