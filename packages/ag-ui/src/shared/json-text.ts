import type { Json } from '@intertie/core';

/** How the JSON text of a value differs from `JSON.stringify`: `true` if it is written as Python does, else the text itself. */
export type JsonText = true | string;

/** Describes the text that a value was parsed from. Returns undefined if `JSON.stringify` writes the same text. */
export function describeJsonText(value: Json, text: string): JsonText | undefined {
  if (writeText(value) === text) return undefined;
  return writePythonJson(value) === text ? true : text;
}

/** Writes a value as the text that it was parsed from. */
export function restoreJsonText(value: Json, form: JsonText): string {
  return form === true ? writePythonJson(value) : form;
}

function writeText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Writes JSON like `json.dumps`: a space after each separator, and only ASCII. */
function writePythonJson(value: Json): string {
  // Line breaks inside strings are escaped, so the others are formatting.
  const spaced = JSON.stringify(value, null, 1).replaceAll(/,\n */g, ', ').replaceAll(/\n */g, '');
  // oxlint-disable-next-line no-control-regex -- the range is ASCII
  return spaced.replaceAll(/[^\x00-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
