import type { UIMessage } from 'ai';

export type Part = UIMessage['parts'][number];

/** What Intertie says of a part beside what the AI SDK has a field for. */
export type PartSlot = {
  agentId?: string;
  internal?: true;
  to?: string[];
  executor?: string;
  question?: true;
  answer?: { approved?: boolean; reason?: string };
  filename?: string;
};

/** What it says of a message. */
export type MessageSlot = { runId?: string; status?: string; createdAt?: string };

/** Of a part; empty where nothing is said. */
export function slotOf(part: Part): PartSlot {
  // What travels as data carries it inside.
  if (part.type === 'data-interjection' || part.type === 'data-file') return part.data as PartSlot;
  const { callProviderMetadata, providerMetadata } = part as {
    callProviderMetadata?: { intertie?: PartSlot };
    providerMetadata?: { intertie?: PartSlot };
  };
  return callProviderMetadata?.intertie ?? providerMetadata?.intertie ?? {};
}

/** How a call or question was answered, where the stream has said so. */
export function answerSlotOf(part: Part): NonNullable<PartSlot['answer']> {
  const { resultProviderMetadata } = part as { resultProviderMetadata?: { intertie?: PartSlot } };
  return resultProviderMetadata?.intertie?.answer ?? {};
}

/** Of a message; empty where nothing is said. */
export function messageSlotOf(message: UIMessage): MessageSlot {
  return (message.metadata as { intertie?: MessageSlot } | undefined)?.intertie ?? {};
}

const questionPrefix = 'intertie:question:';

/** The question that a tool part stands for: one about no call travels as a call of its own. */
export function questionIdOf(toolCallId: string): string | undefined {
  return toolCallId.startsWith(questionPrefix) ? toolCallId.slice(questionPrefix.length) : undefined;
}
