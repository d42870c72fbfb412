import { findRun, openRun } from '../host/find-run.ts';
import type { Host } from '../host/host.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { catchUp, headOf, longPoll, sse, tailOf, type StreamedRun } from './run-stream.ts';
import { parseOffset } from './stream-offset.ts';
import { idParam, storeOf, viewOf, type App, type RouteContext } from './context.ts';

/** Durable Streams, read side: the log of every run is a stream that any client of that protocol follows. */
export function addStreamRoutes(app: App, host: Host): void {
  const streamOf = async (c: RouteContext): Promise<StreamedRun> => {
    const store = storeOf(host, c);
    const found = await findRun(host, store, idParam(c, 'run'), c.req.query('thread'));
    return { store, record: found.record, view: viewOf(host, found.record), open: () => openRun(host, store, found) };
  };

  app.on(['GET', 'HEAD'], '/streams/runs/:run', async (c) => {
    const run = await streamOf(c);
    if (c.req.method === 'HEAD') return headOf(run);
    for (const [name, values] of Object.entries(c.req.queries())) {
      if (values.length > 1)
        throw new IntertieError('bad-request', `The query has ${name} ${values.length} times. Send it once.`);
    }
    const { offset, live, cursor } = c.req.query();
    if (live !== undefined && offset === undefined) {
      throw new IntertieError('bad-request', 'offset: a live read says where it begins (-1, now, or an offset).');
    }
    const asked = parseOffset(offset ?? '-1');
    if (asked === null) throw new IntertieError('bad-request', 'offset: this is none of the offsets that were given.');
    const after = asked === 'now' ? await tailOf(run) : asked;
    switch (live) {
      case undefined:
        return catchUp(run, after, c.req.raw);
      case 'long-poll':
        return longPoll(run, after, { cursor, signal: c.req.raw.signal });
      case 'sse':
        return sse(run, after, cursor);
      default:
        throw new IntertieError('bad-request', 'live: this is long-poll or sse.');
    }
  });

  app.all('/streams/runs/:run', () => {
    throw new IntertieError('method-not-allowed', 'The stream of a run is read-only: its agent writes it.', {
      headers: { allow: 'GET, HEAD' },
    });
  });
}
