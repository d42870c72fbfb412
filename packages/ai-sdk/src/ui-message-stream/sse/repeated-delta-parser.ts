import type { UIPartDeltaChunk } from '../chunk/ui-message-chunk.ts';

/**
 * Parses a delta of the same part as the last one without `JSON.parse`. Most events of a stream are such deltas, whose JSON
 * differs only in the text; if that has no escapes, slicing it out costs a fraction of parsing.
 */
export class RepeatedDeltaParser {
  #prefix = '';
  #last: UIPartDeltaChunk | undefined;

  /** Undefined if the JSON has to be parsed. */
  parse(json: string): UIPartDeltaChunk | undefined {
    if (this.#last === undefined || !json.startsWith(this.#prefix) || !json.endsWith('"}')) return undefined;
    const delta = json.slice(this.#prefix.length, -2);
    // A quote ends the string, a backslash starts an escape, and control characters are invalid JSON.
    // oxlint-disable-next-line no-control-regex -- matches characters that must not occur
    if (/["\\\u0000-\u001f]/.test(delta)) return undefined;
    return { type: this.#last.type, id: this.#last.id, delta };
  }

  /** Stores a parsed delta as the pattern for the next one. */
  remember(chunk: UIPartDeltaChunk, json: string): void {
    const { type, id } = chunk;
    this.#prefix = `{"type":"${type}","id":${JSON.stringify(id)},"delta":"`;
    this.#last = json.startsWith(this.#prefix) ? { type, id, delta: '' } : undefined;
  }
}
