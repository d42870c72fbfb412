import type { MessagePart, QuestionPart } from '../event/message.ts';
import { itemsOf, VersionedList, type ListVersion } from './versioned-list.ts';

/** The parts of a message that is being folded: where each is, and which of them may be changed as they are. */
export class FoldedParts {
  #list: VersionedList<MessagePart>;
  /** Where a part is, by its id or tool call id. */
  #places: Map<string, number> = new Map();
  /** Where a question is: a part of its own, or the call that it is about. Its ids are a name space of their own. */
  #askedAt: Map<string, number> = new Map();
  /** How many snapshots had been taken when each part was made or copied: as many as now means that nobody else knows it. */
  #madeAt: number[] = [];
  #taken = 0;

  constructor(parts: readonly MessagePart[]) {
    this.#list = new VersionedList([...parts]);
    this.#index();
  }

  take(): ListVersion<MessagePart> {
    this.#taken++;
    return this.#list.take();
  }

  /** Those that are there, to be read. */
  items(): MessagePart[] {
    return itemsOf(this.#list.take());
  }

  reset(parts: MessagePart[]): void {
    this.#list.reset(parts);
    this.#index();
  }

  /** A part to be changed as it is. */
  mine(id: string): MessagePart | undefined {
    return this.#mineAt(this.#places.get(id));
  }

  /** The part that a question is in, to be changed as it is. */
  asking(questionId: string): MessagePart | undefined {
    return this.#mineAt(this.#askedAt.get(questionId));
  }

  /** Whether the id was free. */
  add(id: string, part: MessagePart): boolean {
    if (this.#places.has(id)) return false;
    this.#places.set(id, this.#list.length);
    this.#push(part);
    return true;
  }

  isAsked(questionId: string): boolean {
    return this.#askedAt.has(questionId);
  }

  addQuestion(part: QuestionPart): void {
    this.#askedAt.set(part.questionId, this.#list.length);
    this.#push(part);
  }

  /** The question is in the part of the call. */
  askAbout(toolCallId: string, questionId: string): void {
    this.#askedAt.set(questionId, this.#places.get(toolCallId)!);
  }

  #push(part: MessagePart): void {
    this.#madeAt.push(this.#taken);
    this.#list.push(part);
  }

  #mineAt(place: number | undefined): MessagePart | undefined {
    if (place === undefined) return undefined;
    const part = this.#list.at(place)!;
    if (this.#madeAt[place] === this.#taken) return part;
    const copy = { ...part };
    this.#madeAt[place] = this.#taken;
    this.#list.set(place, copy);
    return copy;
  }

  #index(): void {
    this.#places = new Map();
    this.#askedAt = new Map();
    this.#madeAt = [];
    for (let place = 0; place < this.#list.length; place++) {
      const part = this.#list.at(place)!;
      const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
      if (id !== undefined && !this.#places.has(id)) this.#places.set(id, place);
      const asked = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
      if (asked) this.#askedAt.set(asked.questionId, place);
      // Whoever gave us this part still knows it.
      this.#madeAt.push(-1);
    }
  }
}
