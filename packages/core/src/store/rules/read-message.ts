import { copyNearestJson, copyJson } from '../../json/copy-json.ts';
import type { MessageInput } from '../store.ts';
import { MessageFormatError } from '../../json/message-format-error.ts';
import { checkContent, copyMessage } from '../../message/message-json.ts';
import type { CanonicalMessage, MessageContent } from '../../event/message.ts';
import { StoreError } from '../store-error.ts';
import { checkStoreId } from '../store-id.ts';

/** Checks and copies the message of a request. Every store holds exactly its JSON value and shares nothing with the caller. */
export function readMessage(input: MessageInput): CanonicalMessage {
  const message = withStoreErrors(() => copyMessage(input));
  checkStoreId('The id of a message', message.id);
  checkStoreId('threadId', message.threadId);
  if (message.resourceId !== undefined) checkStoreId('resourceId', message.resourceId);
  if (message.clientId !== undefined) checkStoreId('clientId', message.clientId);
  if (message.runId !== undefined) checkStoreId('runId', message.runId);
  return message;
}

/** Checks and copies the content that a run ends with. */
export function readContent(content: MessageContent): MessageContent {
  const copy = toNearestJson(content);
  withStoreErrors(() => checkContent(copy));
  return copy;
}

/**
 * Copies a value that a run produced as JSON. A value that JSON cannot represent is converted to the nearest one: it must cost
 * neither the rest of the content nor the end of the run.
 */
export function toNearestJson<Value>(value: Value): Value {
  return copyNearestJson(value) as Value;
}

/** Copies a value of a request as JSON. Throws if JSON cannot represent it. */
export function readJson<Value>(value: Value, path: string): Value {
  return withStoreErrors(() => copyJson(value, path)) as Value;
}

function withStoreErrors<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof MessageFormatError) throw new StoreError('invalid', error.message, { path: error.path });
    throw error;
  }
}
