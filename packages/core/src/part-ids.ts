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
  const calls = new Map<string, string>();
  // Only asked for by runs that mint something; reading a long history is not free.
  let taken: Set<string> | undefined;
  let baseline: Set<string> | undefined;
  let count = 0;

  const take = (id: string): boolean => {
    taken ??= idsOf(run);
    if (taken.has(id)) return false;
    taken.add(id);
    return true;
  };
  const next = (): string => {
    for (;;) {
      const id = `${run.runId}:${count}`;
      count += 1;
      if (take(id)) return id;
    }
  };
  const open = (wireId = ''): string => {
    if (wireId === '') return next();
    const id = take(wireId) ? wireId : next();
    calls.set(wireId, id);
    return id;
  };
  const of = (wireId: string): string | undefined => {
    const opened = calls.get(wireId);
    if (opened !== undefined) return opened;
    baseline ??= callsOf(run.message?.parts ?? []);
    return baseline.has(wireId) ? wireId : undefined;
  };
  return { next, open, of, toolCallId: (wireId = '') => calls.get(wireId) ?? open(wireId) };
}

function idsOf(run: RunInput): Set<string> {
  const ids = new Set<string>();
  for (const message of run.history) collect(message.content.parts, ids);
  if (run.message !== undefined) collect(run.message.parts, ids);
  return ids;
}

function collect(parts: MessagePart[], ids: Set<string>): void {
  for (const part of parts) {
    if (part.id !== undefined) ids.add(part.id);
    if (part.type === 'tool-invocation') ids.add(part.toolCallId);
    if (part.type === 'interjection') collect(part.parts, ids);
  }
}

function callsOf(parts: MessagePart[]): Set<string> {
  return new Set(parts.flatMap((part) => (part.type === 'tool-invocation' ? [part.toolCallId] : [])));
}
