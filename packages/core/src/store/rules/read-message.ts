import { copyNearestJson, copyJson } from '../../json/copy-json.ts';
import type { MessageInput } from '../store.ts';
import { MessageFormatError } from '../../json/message-format-error.ts';
import { checkContent, copyMessage } from '../../message/message-json.ts';
import type { CanonicalMessage, MessageContent } from '../../event/message.ts';
import { StoreError } from '../store-error.ts';
import { checkStoreId } from '../store-id.ts';

/** A message on its way in, as every store would keep it: what its JSON says, and nothing that the caller still holds. */
export function readMessage(input: MessageInput): CanonicalMessage {
  const message = orInvalid(() => copyMessage(input));
  checkStoreId('The id of a message', message.id);
  checkStoreId('threadId', message.threadId);
  if (message.resourceId !== undefined) checkStoreId('resourceId', message.resourceId);
  if (message.clientId !== undefined) checkStoreId('clientId', message.clientId);
  if (message.runId !== undefined) checkStoreId('runId', message.runId);
  return message;
}

/** The content that a run ends with. */
export function readContent(content: MessageContent): MessageContent {
  const kept = toNearestJson(content);
  orInvalid(() => checkContent(kept));
  return kept;
}

/**
 * What a run has made, as its JSON. One value that JSON cannot say costs neither the rest of it nor the run its end, so
 * it is kept as near as possible.
 */
export function toNearestJson<Value>(value: Value): Value {
  return copyNearestJson(value) as Value;
}

/** A value on its way in, as its JSON. What JSON cannot say is refused. */
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
