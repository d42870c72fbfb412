import { isFields } from '../json/fields.ts';
import type { JsonObject } from '../json/json.ts';
import { MessageFormatError } from '../json/message-format-error.ts';

/** The format of content that this version writes. */
export const messageFormat = 2;

/** By format number: a pure function from content of that format to content of the next. */
export type MessageUpgrades = { readonly [format: number]: (content: JsonObject) => JsonObject };

/** Format 2 is the first that Intertie has written, so nothing older needs an upgrade yet. */
export const messageUpgrades: MessageUpgrades = {};

/** Content of any format up to ours, brought to ours step by step. */
export function upgradeContent(content: JsonObject, upgrades: MessageUpgrades): JsonObject {
  let format = readFormat(content);
  if (format > messageFormat) {
    throw new MessageFormatError(
      'newer-format',
      'content.format',
      `The message has format ${format}, and this version of Intertie reads up to ${messageFormat}. Upgrade Intertie.`,
    );
  }
  let upgraded = content;
  while (format < messageFormat) {
    const upgrade = Object.hasOwn(upgrades, format) ? upgrades[format] : undefined;
    if (!upgrade) {
      throw new MessageFormatError(
        'older-format',
        'content.format',
        `The message has format ${format}, and no upgrade from it is known. Give one as \`upgrades[${format}]\`.`,
      );
    }
    upgraded = upgrade(upgraded);
    const reached = readFormat(upgraded);
    if (reached !== format + 1) {
      throw new MessageFormatError(
        'older-format',
        'content.format',
        `The upgrade from format ${format} made format ${reached}. Let \`upgrades[${format}]\` make ${format + 1}.`,
      );
    }
    format = reached;
  }
  return upgraded;
}

function readFormat(content: unknown): number {
  const format = isFields(content) && Object.hasOwn(content, 'format') ? content['format'] : undefined;
  if (!Number.isInteger(format) || (format as number) < 0) {
    const text = `content.format has to be the number of a format (${messageFormat} is the current one).`;
    throw new MessageFormatError('invalid', 'content.format', text);
  }
  return format as number;
}
