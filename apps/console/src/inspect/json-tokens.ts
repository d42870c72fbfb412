export type JsonToken = { kind: 'key' | 'string' | 'number' | 'word' | 'mark'; text: string };

const pattern = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)|(true|false|null)|([^"\d\w-]+|[\s\S])/giy;

/** A value as JSON over several lines, cut into what is coloured alike. */
export function jsonTokens(value: unknown): JsonToken[] {
  const text = JSON.stringify(value, undefined, 2) ?? String(value);
  const tokens: JsonToken[] = [];
  const add = (kind: JsonToken['kind'], part: string): void => {
    const last = tokens.at(-1);
    if (last?.kind === kind) last.text += part;
    else tokens.push({ kind, text: part });
  };
  for (const [, string, colon, number, word, mark] of text.matchAll(pattern)) {
    if (string !== undefined) {
      add(colon === undefined ? 'string' : 'key', string);
      if (colon !== undefined) add('mark', colon);
    } else if (number !== undefined) add('number', number);
    else if (word !== undefined) add('word', word);
    else if (mark !== undefined) add('mark', mark);
  }
  return tokens;
}
