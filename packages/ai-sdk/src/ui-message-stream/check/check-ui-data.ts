import type { ReportViolation } from './check-ui-metadata.ts';
import type { Fields } from '../../shared/read-fields.ts';
import { asText } from '../../shared/read-fields.ts';
import type { UIDataChunk } from '../chunk/ui-message-chunk.ts';

/** Checks data chunks against the data parts of the reducer's message. */
export class UIDataChecker {
  readonly #violation: ReportViolation;
  /** State by type and id. */
  readonly #data = new Map<string, 'kept' | 'transient'>();
  /** Name by id. */
  readonly #names = new Map<string, string>();

  constructor(violation: ReportViolation) {
    this.#violation = violation;
  }

  /** Adds a part of the message that the reader has. */
  addBaseline(part: Fields): void {
    const type = asText(part.type) ?? '';
    if (!type.startsWith('data-') || typeof part.id !== 'string') return;
    this.#data.set(`${type} ${part.id}`, 'kept');
    this.#names.set(part.id, type.slice('data-'.length));
  }

  checkData(chunk: UIDataChunk): void {
    if (chunk.id === undefined) return;
    const name = chunk.type.slice('data-'.length);
    const key = `${chunk.type} ${chunk.id}`;
    const before = this.#data.get(key);
    const named = this.#names.get(chunk.id);
    if (before === 'kept' && chunk.transient) {
      const message = `The data "${chunk.id}" is part of the message; a transient chunk does not change it.`;
      this.#violation('S8-data', message, 'transient');
    }
    if (named !== undefined && named !== name) {
      this.#violation('S8-data', `The data "${chunk.id}" was "${named}" before; the client now has two parts.`, 'type');
    }
    this.#names.set(chunk.id, name);
    if (before !== 'kept') this.#data.set(key, chunk.transient ? 'transient' : 'kept');
  }

  clear(): void {
    this.#data.clear();
    this.#names.clear();
  }
}
