import { fromModelMessages, fromUIMessages } from '@intertie/ai-sdk';
import type { CanonicalMessage, Loss, Store } from '@intertie/core';
import type { ModelMessage, UIMessage } from 'ai';
import type { AgentDefinition } from '../execution/agent-definition.ts';
import { toStoredMessage } from '../history/store-reasoning.ts';

export type ImportRequest = {
  threadId: string;
  /** Complete AI SDK conversation, oldest message first. */
  messages: ReadonlyArray<UIMessage> | ReadonlyArray<ModelMessage>;
  title?: string;
  resourceId?: string;
};

/** The saved messages, and the losses of the conversion. */
export type ImportReport = { messages: CanonicalMessage[]; losses: Loss[] };

const batchSize = 200;

/** Saves a conversation to the store. Importing the same conversation twice changes nothing. */
export async function importMessages(
  store: Store,
  request: ImportRequest,
  { name: agent, storeReasoning }: Pick<AgentDefinition, 'name' | 'storeReasoning'>,
): Promise<ImportReport> {
  const { threadId, messages, title, resourceId } = request;
  const losses: Loss[] = [];
  const options = { threadId, createdAt: new Date(), onLoss: (loss: Loss) => void losses.push(loss) };
  const isUI = messages.some((message) => 'parts' in message);
  const read = isUI ? fromUIMessages(messages, options) : fromModelMessages(messages, options);
  const owner = resourceId === undefined ? {} : { resourceId };
  await store.saveThread({
    thread: { id: threadId, metadata: { agent }, ...owner, ...(title !== undefined && { title }) },
  });
  const saved: CanonicalMessage[] = [];
  for (let at = 0; at < read.length; at += batchSize) {
    const batch = read.slice(at, at + batchSize).map((message, index) => {
      const { status = 'complete' } = message;
      const parentId = read[at + index - 1]?.id ?? null;
      // No process continues a run that was streaming in another system.
      return Object.assign({}, toStoredMessage(message, storeReasoning), owner, {
        parentId,
        status: status === 'streaming' ? 'complete' : status,
      });
    });
    saved.push(...(await store.saveMessages({ messages: batch })).messages);
  }
  return { messages: saved, losses };
}
