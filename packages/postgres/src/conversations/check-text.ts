import { StoreError, type CanonicalMessage } from '@intertie/core';

const unspeakable = /\0|\p{Surrogate}/u;

/** Refuses what no text column holds. JSON keeps such characters, as escapes. */
export function checkText(what: string, text: string | undefined): void {
  if (text !== undefined && unspeakable.test(text)) {
    throw new StoreError('invalid', `${what} holds a NUL or half of a surrogate pair. Leave that character out.`);
  }
}

export function checkTexts(message: CanonicalMessage): void {
  checkText('resourceId', message.resourceId);
  checkText('clientId', message.clientId);
  checkText('parentId', message.parentId);
  checkText('runId', message.runId);
}
