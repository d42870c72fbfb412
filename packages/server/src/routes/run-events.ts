import type { AgentEvent, DurableRun, LogPosition, RunRecord, Store } from '@intertie/core';
import { sseResponse, type SSEvent } from '../http/sse.ts';
import { IntertieError } from '../intertie-error.ts';
import { formatCursor } from '../log-cursor.ts';

const beginning: LogPosition = { epoch: 0, seq: 0 };

export function logDropped({ threadId, messageId }: RunRecord): IntertieError {
  const url = `/api/threads/${encodeURIComponent(threadId)}/messages`;
  return new IntertieError('log-dropped', undefined, { data: { url, messageId } });
}

/** The events of a run from a place on, as they are logged, to the end of the run. */
export async function followEvents(
  run: DurableRun,
  record: RunRecord,
  after: LogPosition | undefined,
): Promise<Response> {
  const reader = run.follow(after).getReader();
  // A log that is not there any more is known at once, and has to be said by the status.
  const first = await reader.read();
  if (!first.done && first.value.type === 'dropped') {
    await reader.cancel();
    throw logDropped(record);
  }
  const onLeave = (): void => void reader.cancel().catch(() => undefined);
  const events = async function* events(): AsyncGenerator<SSEvent> {
    for (let item = first; !item.done;) {
      const followed = item.value;
      if (followed.type === 'events') yield* numbered(followed.events, followed.position);
      else if (followed.type === 'ended') yield { data: followed.event };
      else yield { event: 'reset', data: {} };
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      item = await reader.read();
    }
  };
  return sseResponse(events, { onLeave });
}

/** What is in the log now, and no more. */
export async function replayEvents(store: Store, record: RunRecord, after: LogPosition = beginning): Promise<Response> {
  let page = await store.log.read(record.key, after);
  if (page.dropped) throw logDropped(record);
  return sseResponse(async function* events(): AsyncGenerator<SSEvent> {
    if (!page.valid) {
      yield { event: 'reset', data: {} };
      page = await store.log.read(record.key, beginning);
    }
    for (;;) {
      yield* numbered(page.events, page.position);
      if (page.events.length === 0 || page.position.seq >= page.tail) return;
      // oxlint-disable-next-line no-await-in-loop -- one page after the other
      page = await store.log.read(record.key, page.position);
    }
  });
}

function* numbered(events: readonly AgentEvent[], { epoch, seq }: LogPosition): Generator<SSEvent> {
  for (const [index, event] of events.entries()) {
    yield { id: formatCursor({ epoch, seq: seq - events.length + 1 + index }), data: event };
  }
}
