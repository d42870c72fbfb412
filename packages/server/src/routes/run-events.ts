import type { AgentEvent, DurableRun, RunRecord, Store } from '@intertie/core';
import type { Followed } from '@intertie/core/internal';
import type { LogPosition } from '@intertie/core/store';
import { toPublicEvent, type FaultView } from '@intertie/core/http';
import { sseResponse, toSSEBytes } from '../http/sse.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { formatCursor } from '../host/log-cursor.ts';

const logStart: LogPosition = { epoch: 0, seq: 0 };
const reset: Uint8Array = toSSEBytes([{ event: 'reset', data: {} }]);

export function createLogDroppedError({ threadId, messageId }: RunRecord): IntertieError {
  const url = `/api/threads/${encodeURIComponent(threadId)}/messages`;
  return new IntertieError('log-dropped', undefined, { data: { url, messageId } });
}

/** Streams the events of a run as they are logged, from a position to the end of the run. */
export async function followEvents(
  run: DurableRun,
  record: RunRecord,
  after: LogPosition | undefined,
  view: FaultView,
): Promise<Response> {
  const reader = run.follow(after).getReader();
  // A dropped log needs an error status, so the first item is read early. A running run is never dropped and may be silent.
  const isOver = record.state !== 'queued' && record.state !== 'running';
  const first = isOver ? await reader.read() : undefined;
  if (first?.value?.type === 'dropped') {
    await reader.cancel();
    throw createLogDroppedError(record);
  }
  const onCancel = (): void => void reader.cancel().catch(() => undefined);
  const chunks = async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let item = first ?? (await reader.read()); !item.done;) {
      yield toBytes(item.value, view);
      item = await reader.read();
    }
  };
  return sseResponse(chunks, { onCancel });
}

/** Streams the events that are in the log of a live run now, without following it. */
export async function replayEvents(
  store: Store,
  record: RunRecord,
  after: LogPosition | undefined,
  view: FaultView,
): Promise<Response> {
  let page = await store.log.read(record.key, after ?? logStart);
  if (page.dropped) throw createLogDroppedError(record);
  return sseResponse(async function* chunks(): AsyncGenerator<Uint8Array> {
    if (!page.valid) {
      yield reset;
      page = await store.log.read(record.key, logStart);
    }
    while (page.events.length > 0) {
      yield encodeEvents(page.events, page.position, view);
      if (page.position.seq >= page.tail) return;
      page = await store.log.read(record.key, page.position);
    }
  });
}

function toBytes(followed: Followed, view: FaultView): Uint8Array {
  switch (followed.type) {
    case 'events':
      return encodeOnce(followed.events, followed.position, view);
    case 'ended':
      return toSSEBytes([{ data: toPublicEvent(followed.event, view) }]);
    case 'reset':
    case 'dropped':
      return reset;
  }
}

/** Encoded batches. Readers of the same run share them. */
const encodedBatches = new WeakMap<readonly AgentEvent[], Uint8Array>();

function encodeOnce(events: readonly AgentEvent[], position: LogPosition, view: FaultView): Uint8Array {
  let bytes = encodedBatches.get(events);
  if (!bytes) encodedBatches.set(events, (bytes = encodeEvents(events, position, view)));
  return bytes;
}

function encodeEvents(events: readonly AgentEvent[], { epoch, seq }: LogPosition, view: FaultView): Uint8Array {
  const before = seq - events.length;
  // Checkpoints are skipped, so cursors can have gaps.
  return toSSEBytes(
    events.flatMap((event, index) =>
      event.type === 'checkpoint'
        ? []
        : [{ id: formatCursor({ epoch, seq: before + 1 + index }), data: toPublicEvent(event, view) }],
    ),
  );
}
