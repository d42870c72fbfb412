import type { AgentEvent, DurableRun, RunRecord, Store } from '@intertie/core';
import type { Followed } from '@intertie/core/internal';
import type { LogPosition } from '@intertie/core/store';
import { toPublicEvent, type FaultView } from '@intertie/core/http';
import { matchesETag } from '../http/matches-etag.ts';
import { sseResponse, toSSEBytes, type SSEvent } from '../http/sse.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { createLogDroppedError } from './run-events.ts';
import { formatOffset, nextCursor } from './stream-offset.ts';

const logStart: LogPosition = { epoch: 0, seq: 0 };
const maxEvents = 2_000;

/** The log of a run as a Durable Stream. */
export type StreamedRun = { store: Store; record: RunRecord; view: FaultView; open: () => Promise<DurableRun> };

type Page = { events: AgentEvent[]; position: LogPosition; isTail: boolean; isClosed: boolean };

/** Returns the events after an offset immediately. */
export async function catchUp(run: StreamedRun, after: LogPosition, request: Request): Promise<Response> {
  const page = await readPage(run, after);
  const tag = `"${run.record.key}:${formatOffset(after)}:${formatOffset(page.position)}${page.isClosed ? ':c' : ''}"`;
  const headers = { ...getHeaders(page), etag: tag, 'cache-control': 'private, no-cache' };
  if (matchesETag(request.headers.get('if-none-match'), tag)) return new Response(null, { status: 304, headers });
  return new Response(JSON.stringify(page.events), { headers: { ...headers, 'content-type': 'application/json' } });
}

/** Returns the current end of the stream in headers. */
export async function respondHead(run: StreamedRun): Promise<Response> {
  const page = await readTail(run);
  return new Response(null, {
    headers: { ...getHeaders(page), 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
}

export async function readTailPosition(run: StreamedRun): Promise<LogPosition> {
  return (await readTail(run)).position;
}

/** Returns the events after an offset, waiting up to `waitMs` for the first; 204 if none arrives. */
export async function longPoll(
  run: StreamedRun,
  after: LogPosition,
  { cursor, signal, waitMs = 20_000 }: { cursor: string | undefined; signal: AbortSignal; waitMs?: number },
): Promise<Response> {
  const deadline = performance.now() + waitMs;
  let page = await readPage(run, after);
  // More than once if only a checkpoint arrives, which is not sent.
  for (let leftMs = waitMs; page.events.length === 0 && !page.isClosed && leftMs > 0 && !signal.aborted;) {
    await waitForEvents(await run.open(), page.position, leftMs, signal);
    page = await readPage(run, page.position);
    leftMs = deadline - performance.now();
  }
  const headers = { ...getHeaders(page), 'stream-cursor': nextCursor(cursor), 'cache-control': 'no-store' };
  if (page.events.length === 0) return new Response(null, { status: 204, headers });
  return new Response(JSON.stringify(page.events), { headers: { ...headers, 'content-type': 'application/json' } });
}

/** Streams events as they are logged. A control event with the next offset follows each batch. */
export async function sse(run: StreamedRun, after: LogPosition, cursor: string | undefined): Promise<Response> {
  const first = await readPage(run, after);
  return sseResponse(async function* batches(signal): AsyncGenerator<Uint8Array> {
    let page = first;
    let streamCursor = nextCursor(cursor);
    const encodePage = (): Uint8Array => {
      const { events, isTail, isClosed, position } = page;
      const next = { streamNextOffset: formatOffset(position), streamCursor };
      const control: SSEvent = {
        event: 'control',
        data: { ...next, ...(isTail && { upToDate: true }), ...(isClosed && { streamClosed: true }) },
      };
      streamCursor = nextCursor(streamCursor);
      return toSSEBytes(events.length > 0 ? [{ event: 'data', data: events }, control] : [control]);
    };
    yield encodePage();
    while (!page.isClosed && !signal.aborted) {
      if (page.isTail) await waitForEvents(await run.open(), page.position, undefined, signal);
      if (signal.aborted) return;
      const before = page;
      page = await readPage(run, page.position);
      if (page.events.length > 0 || page.isClosed !== before.isClosed) yield encodePage();
    }
  });
}

/**
 * Reads a page. The state of the run is read before the log, so a closed run's page has its last events, unless the log is outside
 * the registry's database: it may answer from an old state, or lack the end because the process of the run died before it wrote it.
 */
async function readPage(run: StreamedRun, after: LogPosition): Promise<Page> {
  const { store, record, view } = run;
  const now = await store.registry.getRun(store.scope, record.key);
  if (!now) throw new IntertieError('no-run');
  const page = await store.log.read(record.key, after, maxEvents);
  if (page.dropped) throw createLogDroppedError(record);
  if (!page.valid) throw new IntertieError('cursor-gone');
  const position = page.events.length > 0 ? page.position : after;
  const isOver = now.state !== 'queued' && now.state !== 'running';
  const isTail = position.seq >= page.tail;
  const events = toPublic(page.events, view);
  if (isTail && isOver && position.seq < (now.lastSeq ?? 0)) {
    const lacking = await readLackingEvents(run, position);
    return { ...lacking, events: [...events, ...lacking.events] };
  }
  return { events, position, isTail, isClosed: isTail && isOver };
}

/** Waits for the events that the log of an ended run lacks. Its end is derived from the registry if it is not in the log. */
async function readLackingEvents(run: StreamedRun, after: LogPosition): Promise<Page> {
  const item = await waitForEvents(await run.open(), after);
  switch (item?.type) {
    case 'events': {
      const isClosed = item.events.at(-1)?.type === 'run-end';
      return { events: toPublic(item.events, run.view), position: item.position, isTail: isClosed, isClosed };
    }
    case 'ended':
      // The event has no position: a client that continues here gets it again.
      return { events: toPublic([item.event], run.view), position: after, isTail: true, isClosed: true };
    case 'reset':
      throw new IntertieError('cursor-gone');
    case 'dropped':
    case undefined:
      throw createLogDroppedError(run.record);
  }
}

function toPublic(events: readonly AgentEvent[], view: FaultView): AgentEvent[] {
  return events.filter(({ type }) => type !== 'checkpoint').map((event) => toPublicEvent(event, view));
}

async function readTail(run: StreamedRun): Promise<Page> {
  let page = await readPage(run, logStart);
  while (!page.isTail) page = await readPage(run, page.position);
  return { ...page, events: [] };
}

/** Resolves when there are events after a position, the run has ended, or the time is over. */
async function waitForEvents(
  run: DurableRun,
  after: LogPosition,
  waitMs?: number,
  signal?: AbortSignal,
): Promise<Followed | undefined> {
  const reader = run.follow(after).getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  const timer = waitMs === undefined ? undefined : setTimeout(cancel, waitMs);
  signal?.addEventListener('abort', cancel);
  // No `abort` event follows if the signal has already been aborted.
  if (signal?.aborted) cancel();
  try {
    return (await reader.read()).value;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}

function getHeaders({ position, isTail, isClosed }: Page): { [name: string]: string } {
  return {
    'stream-next-offset': formatOffset(position),
    ...(isTail && { 'stream-up-to-date': 'true' }),
    ...(isClosed && { 'stream-closed': 'true' }),
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  };
}
