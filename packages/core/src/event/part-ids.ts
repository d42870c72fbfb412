import type { MessagePart } from './message.ts';
import type { RunInput } from './run-input.ts';

/**
 * The ids of one run's parts and tool calls. They share one name space, unique in the thread and never reused, while
 * wires say `"0"` in every run, nothing at all, or the same call id twice.
 */
export interface PartIds {
  /** A fresh id: `<runId>:<n>`. */
  next(): string;
  /** A call begins under this wire id. Always a new id: the wire's own if the thread has none like it, else `next()`. */
  open(wireId?: string): string;
  /** The call that the wire means: the last one opened under this wire id, else the one that a continuation goes on with. */
  of(wireId: string): string | undefined;
  /** For wires that open and refer with the same word: the open call of this wire id, or a new one. */
  toolCallId(wireId?: string): string;
}

export function createPartIds(run: RunInput): PartIds {
  return new RunPartIds(run);
}

class RunPartIds implements PartIds {
  #run: RunInput;
  #count = 0;
  // Only asked for by runs that mint something; reading a long history is not free.
  #reserved: Set<string> | undefined;
  #baselineCalls: Set<string> | undefined;
  #calls: Map<string, string> | undefined;

  constructor(run: RunInput) {
    this.#run = run;
  }

  next(): string {
    for (;;) {
      const id = `${this.#run.runId}:${this.#count}`;
      this.#count += 1;
      if (this.#reserve(id)) return id;
    }
  }

  open(wireId = ''): string {
    if (wireId === '') return this.next();
    const id = this.#reserve(wireId) ? wireId : this.next();
    (this.#calls ??= new Map()).set(wireId, id);
    return id;
  }

  of(wireId: string): string | undefined {
    const opened = this.#calls?.get(wireId);
    if (opened !== undefined) return opened;
    this.#baselineCalls ??= collectCallIds(this.#run.message?.parts ?? []);
    return this.#baselineCalls.has(wireId) ? wireId : undefined;
  }

  toolCallId(wireId = ''): string {
    return this.#calls?.get(wireId) ?? this.open(wireId);
  }

  #reserve(id: string): boolean {
    this.#reserved ??= collectIds(this.#run);
    if (this.#reserved.has(id)) return false;
    this.#reserved.add(id);
    return true;
  }
}

function collectIds(run: RunInput): Set<string> {
  const ids = new Set<string>();
  for (const message of run.history) addIds(message.content.parts, ids);
  if (run.message !== undefined) addIds(run.message.parts, ids);
  return ids;
}

function addIds(parts: MessagePart[], ids: Set<string>): void {
  for (const part of parts) {
    if (part.id !== undefined) ids.add(part.id);
    if (part.type === 'tool-invocation') ids.add(part.toolCallId);
    if (part.type === 'interjection') addIds(part.parts, ids);
  }
}

function collectCallIds(parts: MessagePart[]): Set<string> {
  return new Set(parts.flatMap((part) => (part.type === 'tool-invocation' ? [part.toolCallId] : [])));
}
