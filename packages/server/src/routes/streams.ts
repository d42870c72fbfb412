import { findRun, openRun } from '../host/find-run.ts';
import type { Host } from '../host/host.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { catchUp, respondHead, longPoll, sse, readTailPosition, type StreamedRun } from './run-stream.ts';
import { parseOffset } from './stream-offset.ts';
import { readIdParam, getStore, getFaultView, type App, type RouteContext } from './context.ts';

/** Adds the read side of the Durable Streams protocol: the log of every run is a stream. */
export function addStreamRoutes(app: App, host: Host): void {
  const findStream = async (c: RouteContext): Promise<StreamedRun> => {
    const store = getStore(host, c);
    const found = await findRun(host, store, readIdParam(c, 'run'), c.req.query('thread'));
    return {
      store,
      record: found.record,
      view: getFaultView(host, found.record),
      open: () => openRun(host, store, found),
    };
  };

  app.on(['GET', 'HEAD'], '/streams/runs/:run', async (c) => {
    const run = await findStream(c);
    if (c.req.method === 'HEAD') return respondHead(run);
    for (const [name, values] of Object.entries(c.req.queries())) {
      if (values.length > 1)
        throw new IntertieError('bad-request', `The query has ${name} ${values.length} times. Send it once.`);
    }
    const { offset, live, cursor } = c.req.query();
    if (live !== undefined && offset === undefined) {
      throw new IntertieError('bad-request', 'offset: a live read needs one (-1, now, or an offset of a response).');
    }
    const position = parseOffset(offset ?? '-1');
    if (position === null) throw new IntertieError('bad-request', 'offset: use -1, now, or an offset of a response.');
    const after = position === 'now' ? await readTailPosition(run) : position;
    switch (live) {
      case undefined:
        return catchUp(run, after, c.req.raw);
      case 'long-poll':
        return longPoll(run, after, { cursor, signal: c.req.raw.signal });
      case 'sse':
        return sse(run, after, cursor);
      default:
        throw new IntertieError('bad-request', 'live: use long-poll or sse.');
    }
  });

  app.all('/streams/runs/:run', () => {
    throw new IntertieError('method-not-allowed', 'The stream of a run is read-only; only its agent writes to it.', {
      headers: { allow: 'GET, HEAD' },
    });
  });
}
