import type { Codec, Emit } from '@intertie/core';
import { defined, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

/** Kind of chunk, and its triad. `fixed`: fields that the first chunk sets for all later ones. */
type Kind = { id: string; start: string; content: string; end: string; fixed: readonly string[] };
const kinds: { readonly [type: string]: Kind } = {
  TEXT_MESSAGE_CHUNK: {
    id: 'messageId',
    fixed: ['role', 'name'],
    start: 'TEXT_MESSAGE_START',
    content: 'TEXT_MESSAGE_CONTENT',
    end: 'TEXT_MESSAGE_END',
  },
  TOOL_CALL_CHUNK: {
    id: 'toolCallId',
    fixed: ['toolCallName', 'parentMessageId'],
    start: 'TOOL_CALL_START',
    content: 'TOOL_CALL_ARGS',
    end: 'TOOL_CALL_END',
  },
  REASONING_MESSAGE_CHUNK: {
    id: 'messageId',
    fixed: [],
    start: 'REASONING_MESSAGE_START',
    content: 'REASONING_MESSAGE_CONTENT',
    end: 'REASONING_MESSAGE_END',
  },
};

/** Events that do not end a pending chunk. All others end the one in their lane. */
const passing: ReadonlySet<string> = new Set([
  'RAW',
  'ACTIVITY_SNAPSHOT',
  'ACTIVITY_DELTA',
  'REASONING_ENCRYPTED_VALUE',
  'SUBAGENT_STARTED',
]);

/** Names of reasoning events before 0.0.45. They have no ids, so only one can be open. */
const thinking: { readonly [type: string]: string } = {
  THINKING_START: 'REASONING_START',
  THINKING_END: 'REASONING_END',
  THINKING_TEXT_MESSAGE_START: 'REASONING_MESSAGE_START',
  THINKING_TEXT_MESSAGE_CONTENT: 'REASONING_MESSAGE_CONTENT',
  THINKING_TEXT_MESSAGE_END: 'REASONING_MESSAGE_END',
};

type Pending = { type: string; id: string; first: Fields };

/** Called for chunks that break the protocol. */
export interface ChunkFaults {
  /** A chunk contradicts the first one. */
  conflict(id: string, field: string): void;
  /** A chunk without an id could continue any of `count` open ones. */
  ambiguous(type: string, count: number): void;
}

/** Creates a codec that expands chunks to triads and renames thinking events, so that all versions read like 1.0. */
export function expandChunks(faults?: ChunkFaults): Codec<Fields, Fields> {
  /** One chunk is pending per lane: the main agent's, and one per sub-agent. */
  const lanes = new Map<unknown, Pending>();
  let thoughts = 0;

  const close = (lane: unknown, emit: Emit<Fields>): void => {
    const pending = lanes.get(lane);
    if (pending === undefined) return;
    lanes.delete(lane);
    const kind = kinds[pending.type]!;
    emit({ type: kind.end, [kind.id]: pending.id });
  };
  const closeAll = (emit: Emit<Fields>): void => {
    for (const lane of lanes.keys()) close(lane, emit);
  };

  /** Returns the lanes with a pending chunk of this type, and of this id if given. */
  const lanesWith = (type: string, id?: string): unknown[] =>
    [...lanes].flatMap(([lane, open]) => (open.type === type && (id ?? open.id) === open.id ? [lane] : []));

  /** Finds the lane and id of a chunk, which may omit its id, its lane, or both, as long as it is unambiguous. */
  const resolve = (
    event: Fields,
    type: string,
    named: string | undefined,
  ): { lane: unknown; id: string } | undefined => {
    const own = event.subagentRunId ?? undefined;
    if (named !== undefined) {
      const holders = lanesWith(type, named);
      if (holders.length === 0) return { lane: own, id: named };
      if (own !== undefined && own !== holders[0]) faults?.conflict(named, 'subagentRunId');
      return { lane: holders[0], id: named };
    }
    const ownPending = lanes.get(own);
    if (ownPending?.type === type) return { lane: own, id: ownPending.id };
    const open = own === undefined ? lanesWith(type) : [];
    if (open.length > 1) faults?.ambiguous(type, open.length);
    return open.length === 1 ? { lane: open[0], id: lanes.get(open[0])!.id } : undefined;
  };

  const chunk = (event: Fields, emit: Emit<Fields>): void => {
    const type = String(event.type);
    const kind = kinds[type]!;
    const target = resolve(event, type, asNonEmptyText(event[kind.id]));
    // No id and no pending chunk: forwarded unchanged, so that the decoder reports it.
    if (target === undefined) return emit(event);
    const { lane, id } = target;
    const pending = lanes.get(lane);
    const isFirst = pending?.type !== type || pending.id !== id;
    if (isFirst) {
      close(lane, emit);
      lanes.set(lane, { type, id, first: event });
      const { delta: _, ...start } = event;
      emit({ ...start, type: kind.start, [kind.id]: id });
    } else if (faults) {
      const { first } = pending;
      for (const field of kind.fixed) {
        const established = first[field] ?? (field === 'role' ? 'assistant' : undefined);
        if (event[field] !== undefined && event[field] !== established) faults.conflict(id, field);
      }
    }
    // The start carries the metadata of the first chunk.
    const metadata = isFirst ? undefined : event.metadata;
    const delta = asText(event.delta) ?? (metadata === undefined ? undefined : '');
    if (delta !== undefined)
      emit({ type: kind.content, [kind.id]: id, delta, ...defined({ timestamp: event.timestamp, metadata }) });
  };

  return {
    feed(event, emit) {
      const type = String(event.type);
      if (Object.hasOwn(kinds, type)) return chunk(event, emit);
      if (type.startsWith('RUN_') || type === 'MESSAGES_SNAPSHOT') closeAll(emit);
      else if (!passing.has(type)) close(event.subagentRunId ?? undefined, emit);
      if (!Object.hasOwn(thinking, type)) return emit(event);
      if (type === 'THINKING_TEXT_MESSAGE_START') thoughts += 1;
      emit({ ...event, type: thinking[type], messageId: `thinking-${thoughts}` });
    },
    end(_, emit) {
      closeAll(emit);
    },
  };
}
