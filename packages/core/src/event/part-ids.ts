import type { ResumePoint } from './agent-source.ts';
import type { MessagePart } from './message.ts';
import type { RunInput } from './run-input.ts';

/**
 * Ids of the parts and tool calls of one run. They share one namespace, are unique in the thread and never reused. Protocols, on
 * the other hand, send `"0"` in every run, no id at all, or the same call id twice.
 */
export interface PartIds {
  /** Returns a new id: `<runId>:<n>`, or `<runId>:<epoch>.<n>` after a takeover. */
  next(): string;
  /** Starts a call under a wire id. Returns a new id: the wire id if it is unused in the thread, else `next()`. */
  open(wireId?: string): string;
  /** Resolves a wire id: the last call that was opened under it, else a call of the message that the run continues. */
  of(wireId: string): string | undefined;
  /** Returns the call that is open under a wire id, or opens one. For protocols that do not mark the start of a call. */
  toolCallId(wireId?: string): string;
}

/** Creates the ids of one run. `from`: the point at which it is resumed, whose ids are reserved. */
export function createPartIds(run: RunInput, from?: Pick<ResumePoint, 'events' | 'message'>): PartIds {
  return new RunPartIds(run, from);
}

class RunPartIds implements PartIds {
  #run: RunInput;
  #from: Pick<ResumePoint, 'events' | 'message'> | undefined;
  #prefix: string;
  #count = 0;
  // Collected on the first use, because reading a long history takes time.
  #reserved: Set<string> | undefined;
  #baselineCalls: Set<string> | undefined;
  #calls: Map<string, string> | undefined;

  constructor(run: RunInput, from: Pick<ResumePoint, 'events' | 'message'> | undefined) {
    this.#run = run;
    this.#from = from;
    const { runId, epoch = 1 } = run;
    this.#prefix = epoch > 1 ? `${runId}:${epoch}.` : `${runId}:`;
  }

  next(): string {
    for (;;) {
      const id = `${this.#prefix}${this.#count}`;
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
    this.#baselineCalls ??= collectCallIds((this.#from?.message.content ?? this.#run.message)?.parts ?? []);
    return this.#baselineCalls.has(wireId) ? wireId : undefined;
  }

  toolCallId(wireId = ''): string {
    return this.#calls?.get(wireId) ?? this.open(wireId);
  }

  #reserve(id: string): boolean {
    this.#reserved ??= collectIds(this.#run, this.#from);
    if (this.#reserved.has(id)) return false;
    this.#reserved.add(id);
    return true;
  }
}

function collectIds(run: RunInput, from: Pick<ResumePoint, 'events'> | undefined): Set<string> {
  const ids = new Set<string>();
  for (const message of run.history) addIds(message.content.parts, ids);
  if (run.message !== undefined) addIds(run.message.parts, ids);
  // Not from the message, which lacks the parts of discarded steps.
  for (const event of from?.events ?? []) {
    if ('id' in event && event.id !== undefined) ids.add(event.id);
    if ('toolCallId' in event && event.toolCallId !== undefined) ids.add(event.toolCallId);
  }
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
