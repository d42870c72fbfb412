import { isFields } from '../json/fields.ts';
import type { JsonObject } from '../json/json.ts';
import { MessageFormatError } from '../json/message-format-error.ts';

/** Content format that this version writes. */
export const messageFormat = 2;

/** Pure functions by format number, each from content of that format to content of the next. */
export type MessageUpgrades = { readonly [format: number]: (content: JsonObject) => JsonObject };

/** Empty because format 2 is the first one that Intertie wrote. */
export const messageUpgrades: MessageUpgrades = {};

/** Upgrades content of an older format step by step to the current one. Throws `MessageFormatError`. */
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
        `The message has format ${format}, which has no known upgrade. Pass one as \`upgrades[${format}]\`.`,
      );
    }
    upgraded = upgrade(upgraded);
    const reached = readFormat(upgraded);
    if (reached !== format + 1) {
      throw new MessageFormatError(
        'older-format',
        'content.format',
        `The upgrade from format ${format} returned format ${reached}. \`upgrades[${format}]\` must return ${format + 1}.`,
      );
    }
    format = reached;
  }
  return upgraded;
}

function readFormat(content: unknown): number {
  const format = isFields(content) && Object.hasOwn(content, 'format') ? content['format'] : undefined;
  if (!Number.isInteger(format) || (format as number) < 0) {
    const text = `content.format must be a format number (the current one is ${messageFormat}).`;
    throw new MessageFormatError('invalid', 'content.format', text);
  }
  return format as number;
}
