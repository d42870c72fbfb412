import type { AgentEvent, DurableRun, RunRecord, Store } from '@intertie/core';
import type { Followed } from '@intertie/core/internal';
import type { LogPosition } from '@intertie/core/store';
import { toPublicEvent, type FaultView } from '@intertie/core/http';
import { matchesETag } from '../http/matches-etag.ts';
import { sseResponse, toSSEBytes, type SSEvent } from '../http/sse.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { logDropped } from './run-events.ts';
import { formatOffset, nextCursor } from './stream-offset.ts';

const beginning: LogPosition = { epoch: 0, seq: 0 };
const maxEvents = 2_000;

/** The log of a run, as a stream that is read by offset. */
export type StreamedRun = { store: Store; record: RunRecord; view: FaultView; open: () => Promise<DurableRun> };

type Page = { events: AgentEvent[]; position: LogPosition; isTail: boolean; isClosed: boolean };

/** What is in the log after a place, at once. */
export async function catchUp(run: StreamedRun, after: LogPosition, request: Request): Promise<Response> {
  const page = await readPage(run, after);
  const tag = `"${run.record.key}:${formatOffset(after)}:${formatOffset(page.position)}${page.isClosed ? ':c' : ''}"`;
  const headers = { ...headersOf(page), etag: tag, 'cache-control': 'private, no-cache' };
  if (matchesETag(request.headers.get('if-none-match'), tag)) return new Response(null, { status: 304, headers });
  return new Response(JSON.stringify(page.events), { headers: { ...headers, 'content-type': 'application/json' } });
}

/** Where the stream ends now. */
export async function headOf(run: StreamedRun): Promise<Response> {
  const page = await readTail(run);
  return new Response(null, {
    headers: { ...headersOf(page), 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
}

export async function tailOf(run: StreamedRun): Promise<LogPosition> {
  return (await readTail(run)).position;
}

/** What is there after a place, or what comes within `waitMs`; 204 if nothing does. */
export async function longPoll(
  run: StreamedRun,
  after: LogPosition,
  { cursor, signal, waitMs = 20_000 }: { cursor: string | undefined; signal: AbortSignal; waitMs?: number },
): Promise<Response> {
  let page = await readPage(run, after);
  if (page.events.length === 0 && !page.isClosed) {
    await nextItem(await run.open(), after, waitMs, signal);
    page = await readPage(run, after);
  }
  const headers = { ...headersOf(page), 'stream-cursor': nextCursor(cursor), 'cache-control': 'no-store' };
  if (page.events.length === 0) return new Response(null, { status: 204, headers });
  return new Response(JSON.stringify(page.events), { headers: { ...headers, 'content-type': 'application/json' } });
}

/** Events as they come, each batch followed by where to go on. */
export async function sse(run: StreamedRun, after: LogPosition, cursor: string | undefined): Promise<Response> {
  const first = await readPage(run, after);
  return sseResponse(async function* batches(signal): AsyncGenerator<Uint8Array> {
    let page = first;
    let shown = nextCursor(cursor);
    const say = (): Uint8Array => {
      const { events, isTail, isClosed, position } = page;
      const next = { streamNextOffset: formatOffset(position), streamCursor: shown };
      const control: SSEvent = {
        event: 'control',
        data: { ...next, ...(isTail && { upToDate: true }), ...(isClosed && { streamClosed: true }) },
      };
      shown = nextCursor(shown);
      return toSSEBytes(events.length > 0 ? [{ event: 'data', data: events }, control] : [control]);
    };
    yield say();
    while (!page.isClosed && !signal.aborted) {
      if (page.isTail) await nextItem(await run.open(), page.position, undefined, signal);
      if (signal.aborted) return;
      const before = page;
      page = await readPage(run, page.position);
      if (page.events.length > 0 || page.isClosed !== before.isClosed) yield say();
    }
  });
}

/** Events and end from one look, in an order in which an end that is seen is the end of all that is read. */
async function readPage({ store, record, view }: StreamedRun, after: LogPosition): Promise<Page> {
  const now = await store.registry.getRun(store.scope, record.key);
  if (!now) throw new IntertieError('no-run');
  const page = await store.log.read(record.key, after, maxEvents);
  if (page.dropped) throw logDropped(record);
  if (!page.valid) throw new IntertieError('cursor-gone');
  const position = page.events.length > 0 ? page.position : after;
  const isTail = position.seq >= page.tail;
  return {
    events: page.events.map((event) => toPublicEvent(event, view)),
    position,
    isTail,
    isClosed: isTail && now.state !== 'queued' && now.state !== 'running',
  };
}

async function readTail(run: StreamedRun): Promise<Page> {
  let page = await readPage(run, beginning);
  while (!page.isTail) page = await readPage(run, page.position);
  return { ...page, events: [] };
}

/** Resolves as soon as there is something to read after a place, or the run is over, or the time is. */
async function nextItem(
  run: DurableRun,
  after: LogPosition,
  waitMs: number | undefined,
  signal: AbortSignal,
): Promise<Followed | undefined> {
  const reader = run.follow(after).getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  const timer = waitMs === undefined ? undefined : setTimeout(leave, waitMs);
  signal.addEventListener('abort', leave);
  // A signal does not say again what it has said.
  if (signal.aborted) leave();
  try {
    return (await reader.read()).value;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
    leave();
  }
}

function headersOf({ position, isTail, isClosed }: Page): { [name: string]: string } {
  return {
    'stream-next-offset': formatOffset(position),
    ...(isTail && { 'stream-up-to-date': 'true' }),
    ...(isClosed && { 'stream-closed': 'true' }),
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  };
}
