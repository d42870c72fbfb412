import type { AgentEvent, DurableRun, RunRecord, Store } from '@intertie/core';
import type { Followed } from '@intertie/core/internal';
import type { LogPosition } from '@intertie/core/store';
import { toPublicEvent, type FaultView } from '@intertie/core/http';
import { sseResponse, toSSEBytes } from '../http/sse.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { formatCursor } from '../host/log-cursor.ts';

const beginning: LogPosition = { epoch: 0, seq: 0 };
const reset: Uint8Array = toSSEBytes([{ event: 'reset', data: {} }]);

export function logDropped({ threadId, messageId }: RunRecord): IntertieError {
  const url = `/api/threads/${encodeURIComponent(threadId)}/messages`;
  return new IntertieError('log-dropped', undefined, { data: { url, messageId } });
}

/** The events of a run from a place on, as they are logged, to the end of the run. */
export async function followEvents(
  run: DurableRun,
  record: RunRecord,
  after: LogPosition | undefined,
  view: FaultView,
): Promise<Response> {
  const reader = run.follow(after).getReader();
  // A log that is not there any more has to be said by the status. One that is being written is there, and may be silent.
  const isOver = record.state !== 'queued' && record.state !== 'running';
  const first = isOver ? await reader.read() : undefined;
  if (first?.value?.type === 'dropped') {
    await reader.cancel();
    throw logDropped(record);
  }
  const onLeave = (): void => void reader.cancel().catch(() => undefined);
  const pieces = async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let item = first ?? (await reader.read()); !item.done;) {
      yield toBytes(item.value, view);
      item = await reader.read();
    }
  };
  return sseResponse(pieces, { onLeave });
}

/** What is in the log now, and no more. */
export async function replayEvents(
  store: Store,
  record: RunRecord,
  after: LogPosition | undefined,
  view: FaultView,
): Promise<Response> {
  let page = await store.log.read(record.key, after ?? beginning);
  if (page.dropped) throw logDropped(record);
  return sseResponse(async function* pieces(): AsyncGenerator<Uint8Array> {
    if (!page.valid) {
      yield reset;
      page = await store.log.read(record.key, beginning);
    }
    while (page.events.length > 0) {
      yield numbered(page.events, page.position, view);
      if (page.position.seq >= page.tail) return;
      page = await store.log.read(record.key, page.position);
    }
  });
}

function toBytes(followed: Followed, view: FaultView): Uint8Array {
  switch (followed.type) {
    case 'events':
      return sharedBytes(followed.events, followed.position, view);
    case 'ended':
      return toSSEBytes([{ data: toPublicEvent(followed.event, view) }]);
    case 'reset':
    case 'dropped':
      return reset;
  }
}

/** Events that are given to several readers of a run are written for the first of them. */
const written = new WeakMap<readonly AgentEvent[], Uint8Array>();

function sharedBytes(events: readonly AgentEvent[], position: LogPosition, view: FaultView): Uint8Array {
  let bytes = written.get(events);
  if (!bytes) written.set(events, (bytes = numbered(events, position, view)));
  return bytes;
}

function numbered(events: readonly AgentEvent[], { epoch, seq }: LogPosition, view: FaultView): Uint8Array {
  const before = seq - events.length;
  return toSSEBytes(
    events.map((event, index) => ({
      id: formatCursor({ epoch, seq: before + 1 + index }),
      data: toPublicEvent(event, view),
    })),
  );
}
