import { defined } from '@intertie/core/internal';
import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { readJson } from '../http/read-json.ts';
import { requireLocal, type App } from './context.ts';

const wire = z.strictObject({
  thread: z.string().min(1),
  cut: z.literal(true).optional(),
  delayMs: z.number().min(0).max(10_000).optional(),
  duplicate: z.literal(true).optional(),
});

/** Body schema for the OpenAPI document. */
export const wireBody: z.ZodType = wire;

/** Adds a route that disturbs the live connections of a thread, for testing how a client recovers. */
export function addDevRoutes(app: App, host: Host): void {
  app.post('/api/dev/wire', async (c) => {
    requireLocal(host);
    const { thread, ...disturbance } = await readJson(c.req.raw, wire, host.limits);
    return c.json({ disturbed: host.streams.disturb(thread, defined(disturbance)) });
  });
}
