import type { MessagePart, QuestionPart } from '../event/message.ts';
import { readItems, VersionedList, type ListVersion } from './versioned-list.ts';

/**
 * Parts of a message that is being folded, indexed by part id and by question id. A part that a snapshot may share is copied
 * before its first change.
 */
export class FoldedParts {
  #list: VersionedList<MessagePart>;
  /** Index of a part by its id or tool call id. */
  #indexById: Map<string, number> = new Map();
  /** Index of the question part, or of the call it asks about, by question id. Question ids are a separate namespace. */
  #indexByQuestion: Map<string, number> = new Map();
  /** Value of `#snapshots` when each part was created or copied. If it is the current value, no snapshot shares the part. */
  #copiedAt: number[] = [];
  #snapshots = 0;

  constructor(parts: readonly MessagePart[]) {
    this.#list = new VersionedList([...parts]);
    this.#buildIndex();
  }

  snapshot(): ListVersion<MessagePart> {
    this.#snapshots++;
    return this.#list.snapshot();
  }

  /** Current parts, for reading. */
  items(): MessagePart[] {
    return readItems(this.#list.snapshot());
  }

  get length(): number {
    return this.#list.length;
  }

  reset(parts: MessagePart[]): void {
    this.#list.reset(parts);
    this.#buildIndex();
  }

  /** Returns the part to be changed in place. */
  getWritable(id: string): MessagePart | undefined {
    return this.#getWritableAt(this.#indexById.get(id));
  }

  /** Returns the part that holds the question, to be changed in place. */
  getWritableByQuestion(questionId: string): MessagePart | undefined {
    return this.#getWritableAt(this.#indexByQuestion.get(questionId));
  }

  /** Adds a part. Returns false if the id is already used. */
  add(id: string, part: MessagePart): boolean {
    if (this.#indexById.has(id)) return false;
    this.#indexById.set(id, this.#list.length);
    this.#push(part);
    return true;
  }

  hasQuestion(questionId: string): boolean {
    return this.#indexByQuestion.has(questionId);
  }

  addQuestion(part: QuestionPart): void {
    this.#indexByQuestion.set(part.questionId, this.#list.length);
    this.#push(part);
  }

  /** Records that the part of the call holds the question. */
  linkQuestion(toolCallId: string, questionId: string): void {
    this.#indexByQuestion.set(questionId, this.#indexById.get(toolCallId)!);
  }

  #push(part: MessagePart): void {
    this.#copiedAt.push(this.#snapshots);
    this.#list.push(part);
  }

  #getWritableAt(index: number | undefined): MessagePart | undefined {
    if (index === undefined) return undefined;
    const part = this.#list.at(index)!;
    if (this.#copiedAt[index] === this.#snapshots) return part;
    const copy = { ...part };
    this.#copiedAt[index] = this.#snapshots;
    this.#list.set(index, copy);
    return copy;
  }

  #buildIndex(): void {
    this.#indexById = new Map();
    this.#indexByQuestion = new Map();
    this.#copiedAt = [];
    for (let index = 0; index < this.#list.length; index++) {
      const part = this.#list.at(index)!;
      const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
      if (id !== undefined && !this.#indexById.has(id)) this.#indexById.set(id, index);
      const asked = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
      if (asked) this.#indexByQuestion.set(asked.questionId, index);
      // The caller may still hold this part.
      this.#copiedAt.push(-1);
    }
  }
}
