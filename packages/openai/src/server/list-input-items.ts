import type { CanonicalMessage, DurableAgent, JsonObject, MessagePart, RunRecord } from '@intertie/core';
import { createResponsesEncoder } from '../encode/encode-responses.ts';
import { unfoldAnswer } from './follow-response.ts';
import { OpenAIRequestError } from './openai-error.ts';
import type { Flavour } from '../shared/response-event.ts';

/** Lists the items that a run had as input: the messages of its branch, and the answers to the run that it continues. */
export async function listInputItems(
  { store }: DurableAgent,
  { threadId, messageId, agent }: RunRecord,
  { query, flavour }: { query: URLSearchParams; flavour: Flavour },
): Promise<JsonObject> {
  const branch = await store.listMessages({ threadId, leafId: messageId });
  const items = branch
    .filter(({ id }) => id !== messageId)
    .flatMap((message) =>
      message.role === 'assistant' ? toOutputItems(message, agent, flavour) : [toInputItem(message)],
    );
  // Newest first by default, as OpenAI does.
  const ordered = query.get('order') === 'asc' ? items : items.toReversed();
  const limit = readLimit(query.get('limit'));
  const after = query.get('after');
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const data = ordered.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  };
}

function readLimit(text: string | null): number {
  const limit = text === null ? 20 : Number(text);
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= 100) return limit;
  throw new OpenAIRequestError(`\`limit\` is ${text}. Use 1 to 100.`, { param: 'limit' });
}

function toOutputItems(message: CanonicalMessage, model: string, flavour: Flavour): JsonObject[] {
  const encoder = createResponsesEncoder({ response: { id: 'history', model, createdAt: 0 }, flavour });
  for (const event of unfoldAnswer(message)) encoder.feed(event, () => undefined);
  return encoder.response.output;
}

function toInputItem({ id, role, content }: CanonicalMessage): JsonObject {
  const parts = content.parts.flatMap(toInputPart);
  return { id: `msg_${id}`, type: 'message', role, status: 'completed', content: parts };
}

function toInputPart(part: MessagePart): JsonObject[] {
  if (part.type === 'text') return [{ type: 'input_text', text: part.text }];
  if (part.type !== 'file') return [];
  const { mimeType = 'application/octet-stream', filename = null, data, url = null } = part;
  const link = data === undefined ? url : `data:${mimeType};base64,${data}`;
  if (mimeType.startsWith('image/')) return [{ type: 'input_image', detail: 'auto', image_url: link, file_id: null }];
  return [{ type: 'input_file', filename, file_url: link, file_id: null }];
}
