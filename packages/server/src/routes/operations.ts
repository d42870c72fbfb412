import type { ConnectionCounts } from '@intertie/core/store';
import { errorPage, errors, isErrorCode } from '../errors/errors.ts';
import type { Host } from '../host/host.ts';
import { ReadyCheck } from '../http/ready-check.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import type { Gauge } from '../telemetry/metrics.ts';
import { version } from '../config/version.ts';
import type { App } from './context.ts';

/** Adds the routes for operators (liveness, readiness, metrics) and the pages about errors. */
export function addOperationRoutes(app: App, host: Host): void {
  app.get('/health', (c) => c.json({ status: 'ok', version }));

  const ready = new ReadyCheck(() => Promise.all([host.store.getVersion({ threadId: 'ready' }), host.checkWrites()]));
  app.get('/ready', async (c) => {
    if (host.isClosing()) throw new IntertieError('closing');
    try {
      await ready.run();
    } catch (cause) {
      throw new IntertieError('database-away', undefined, { cause });
    }
    return c.json({ status: 'ready' });
  });

  app.get('/metrics', (c) => {
    if (!c.get('principal').operator) throw new IntertieError('operators-only');
    const { heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const pools = Object.entries(host.store.connections?.() ?? {});
    const countConnections = (count: keyof ConnectionCounts): Gauge['value'] =>
      pools.map(([pool, counts]) => ({ labels: { pool }, value: counts[count] }));
    const text = host.metrics.render({
      runs_running: { help: 'Runs that this process executes.', value: host.load.running() },
      open_streams: { help: 'Responses that are being streamed, and long polls.', value: host.streams.size },
      pool_connections: { help: 'Open database connections of a pool.', value: countConnections('total') },
      pool_idle_connections: {
        help: 'Open database connections of a pool that are idle.',
        value: countConnections('idle'),
      },
      pool_waiting: { help: 'Statements that wait for a database connection.', value: countConnections('waiting') },
      event_loop_delay_seconds: {
        help: 'Mean delay of the event loop in the last second.',
        value: host.load.eventLoopDelayMs() / 1000,
      },
      heap_bytes: { help: 'Memory in use.', value: heapUsed },
      cpu_seconds: { help: 'Time on the processor.', value: (user + system) / 1e6 },
    });
    return new Response(text, { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } });
  });

  app.get('/api/errors', (c) => c.json({ errors }));
  app.get('/api/errors/:code', (c) => {
    const code = c.req.param('code');
    if (!isErrorCode(code)) throw new IntertieError('not-found');
    return new Response(errorPage(code), { headers: { 'content-type': 'text/markdown; charset=utf-8' } });
  });
}
