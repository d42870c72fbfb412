import { copyJson } from '../copy-json.ts';
import type { MessageInput } from '../memory-store.ts';
import { MessageFormatError } from '../message-format-error.ts';
import { checkContent, decodeMessage, encodeMessage } from '../message-json.ts';
import type { CanonicalMessage, MessageContent } from '../message.ts';
import { StoreError } from '../store-error.ts';
import { checkStoreId } from '../store-id.ts';

/** A message on its way in, as every store would keep it: what its JSON says, and nothing that the caller still holds. */
export function readMessage(input: MessageInput): CanonicalMessage {
  const message = orInvalid(() => decodeMessage(encodeMessage(input)));
  checkStoreId('The id of a message', message.id);
  checkStoreId('threadId', message.threadId);
  return message;
}

export function readContent(content: MessageContent): MessageContent {
  return orInvalid(() => {
    const copy = copyJson(content, 'content');
    checkContent(copy);
    return copy as MessageContent;
  });
}

/** A value on its way in, as its JSON. */
export function readJson<Value>(value: Value, path: string): Value {
  return orInvalid(() => copyJson(value, path)) as Value;
}

function orInvalid<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof MessageFormatError) throw new StoreError('invalid', error.message, { path: error.path });
    throw error;
  }
}
