import type { UIMessage } from 'ai';

export type Part = UIMessage['parts'][number];

/** Intertie's metadata of a part, for which the AI SDK has no field. */
export type PartMetadata = {
  agentId?: string;
  internal?: true;
  to?: string[];
  executor?: string;
  question?: true;
  answer?: { approved?: boolean; reason?: string };
  filename?: string;
};

/** Intertie's metadata of a message. */
export type MessageMetadata = { runId?: string; status?: string; createdAt?: string };

/** Returns the metadata of a part, empty if it has none. */
export function getPartMetadata(part: Part): PartMetadata {
  // Data parts contain it in their data.
  if (part.type === 'data-interjection' || part.type === 'data-file') return part.data as PartMetadata;
  const { callProviderMetadata, providerMetadata } = part as {
    callProviderMetadata?: { intertie?: PartMetadata };
    providerMetadata?: { intertie?: PartMetadata };
  };
  return callProviderMetadata?.intertie ?? providerMetadata?.intertie ?? {};
}

/** Returns how a call or question was answered, empty if the stream does not contain it. */
export function getAnswerMetadata(part: Part): NonNullable<PartMetadata['answer']> {
  const { resultProviderMetadata } = part as { resultProviderMetadata?: { intertie?: PartMetadata } };
  return resultProviderMetadata?.intertie?.answer ?? {};
}

/** Returns the metadata of a message, empty if it has none. */
export function getMessageMetadata(message: UIMessage): MessageMetadata {
  return (message.metadata as { intertie?: MessageMetadata } | undefined)?.intertie ?? {};
}

const questionPrefix = 'intertie:question:';

/** Extracts the question id from a tool call id: a question without a tool call is encoded as a tool part of its own. */
export function parseQuestionId(toolCallId: string): string | undefined {
  return toolCallId.startsWith(questionPrefix) ? toolCallId.slice(questionPrefix.length) : undefined;
}
