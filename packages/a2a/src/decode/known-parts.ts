import { MessageList, type AgentEvent, type MessagePart, type ResumePoint, type RunInput } from '@intertie/core';
import { asFields, asNonEmptyText, defined, omit } from '@intertie/core/internal';
import type { KnownPart } from './decode-artifacts.ts';

/** Ids of the remote task: the token of checkpoints and of `run-end.resume`. */
export type A2AToken = { taskId?: string; contextId?: string };

/** State of a run before the first item of a stream. */
export type KnownParts = {
  /** By the key of the part. */
  parts: Map<string, KnownPart>;
  asked: Set<string>;
  answered: Set<string>;
  logged: LoggedEvents;
  token: A2AToken;
};

/** Reads the parts that the run has already: those of the message that it continues, and those in the log of a resumed run. */
export function readKnownParts(run: RunInput, from: ResumePoint | undefined): KnownParts {
  const known: KnownParts = {
    parts: new Map(),
    asked: new Set(),
    answered: new Set(),
    logged: new LoggedEvents(getRemoteEvents(from?.events ?? [])),
    token: readToken(from?.token ?? run.sourceState),
  };
  const open = new Set(from?.open.flatMap(({ kind, id }) => (kind === 'text' ? [id] : [])));
  for (const part of (from?.message.content ?? run.message)?.parts ?? []) addPart(known, part, open);
  // The parts of a discarded step are only in the log.
  const discarded = new MessageList();
  for (const event of from?.events ?? []) if (event.type !== 'step-end') discarded.feed(event);
  const found = new Set([...known.parts.values()].map(({ id }) => id));
  for (const part of discarded.message?.content.parts ?? []) {
    if (part.id !== undefined && !found.has(part.id)) addPart(known, part, open);
  }
  return known;
}

function addPart({ parts, asked, answered }: KnownParts, part: MessagePart, open: ReadonlySet<string>): void {
  const question = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
  if (part.type === 'tool-invocation') asked.add(part.toolCallId);
  if (question) asked.add(question.questionId);
  if (question?.answer) answered.add(question.questionId);
  const { id, type } = part;
  if (id === undefined || (type !== 'text' && type !== 'file' && type !== 'data')) return;
  const key = asNonEmptyText(asFields(part.providerMetadata?.a2a).part) ?? id;
  if (type === 'text') {
    // A text that grew after a pause consists of several parts.
    const text = (parts.get(key)?.text ?? '') + part.text;
    parts.set(key, { id, text, isOpen: open.has(id) });
  } else parts.set(key, { id, ...(type === 'data' && { data: part.data, name: part.name ?? 'a2a' }) });
}

/** Events after the first checkpoint, which come from the remote agent. */
function getRemoteEvents(events: readonly AgentEvent[]): readonly AgentEvent[] {
  const index = events.findIndex(({ type }) => type === 'checkpoint');
  return index < 0 ? [] : events.slice(index + 1).filter((event) => event.type !== 'checkpoint');
}

export function readToken(value: unknown): A2AToken {
  const { taskId, contextId } = asFields(value);
  return defined({ taskId: asNonEmptyText(taskId), contextId: asNonEmptyText(contextId) });
}

/** Events that the log of a resumed run contains. A subscription repeats them, possibly with deltas of other lengths. */
export class LoggedEvents {
  #counts = new Map<string, number>();
  /** Number of characters of each part whose deltas are logged. */
  #lengths = new Map<string, number>();

  constructor(events: readonly AgentEvent[]) {
    for (const event of events) {
      const part = toDeltaKey(event);
      if (part) this.#lengths.set(part.key, (this.#lengths.get(part.key) ?? 0) + part.delta.length);
      else this.#counts.set(toEventKey(event), (this.#counts.get(toEventKey(event)) ?? 0) + 1);
    }
  }

  /** Returns the event without its logged content; undefined if all of it is logged. */
  skip(event: AgentEvent): AgentEvent | undefined {
    const part = toDeltaKey(event);
    if (part) {
      const length = this.#lengths.get(part.key) ?? 0;
      this.#lengths.set(part.key, Math.max(0, length - part.delta.length));
      if (length === 0) return event;
      const delta = part.delta.slice(length);
      return delta === '' ? undefined : ({ ...event, delta } as AgentEvent);
    }
    if (this.#counts.size === 0) return event;
    const key = toEventKey(event);
    const count = this.#counts.get(key) ?? 0;
    if (count === 0) return event;
    this.#counts.set(key, count - 1);
    return undefined;
  }
}

function toDeltaKey(event: AgentEvent): { key: string; delta: string } | undefined {
  if (!('delta' in event) || typeof event.delta !== 'string') return undefined;
  return { key: `${event.type} ${'id' in event ? event.id : event.toolCallId}`, delta: event.delta };
}

/** Identifies an event, independent of the time at which it was received. */
function toEventKey(event: AgentEvent): string {
  const fields = Object.entries(omit(event, 'at', 'origin'));
  return JSON.stringify(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
