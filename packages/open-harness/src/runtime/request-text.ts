import type { CanonicalMessage, FilePart, RunInput } from '@intertie/core';

/** All the text of a message, a paragraph per part. */
function getMessageText({ content }: CanonicalMessage): string {
  return content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}

/** What the run is to answer: the text of the message that ends the history, if it is a user's. */
export function getLastUserText(run: RunInput): string | undefined {
  const last = run.history.at(-1);
  return last?.role === 'user' ? getMessageText(last) : undefined;
}

/** What a flow is run with: `{{ flow.input.message }}` and what else the chat knows. */
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

/** For the user, and for the loss report. */
export const undeliveredText =
  'The flow ended before any of its nodes read the message, so the message was not delivered. Send it again.';
