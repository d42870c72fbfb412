import type { Answer } from '@intertie/core';
import type { ToolAnswer } from '@intertie/core/store';
import { z } from 'zod';
import { toDecisionInfo, toRunInfo } from './api.ts';
import { findRun, openRun } from '../host/find-run.ts';
import type { Host } from '../host/host.ts';
import { readJson, readQuery } from '../http/read-json.ts';
import { sseResponse, toSSEBytes } from '../http/sse.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { parseCursor } from '../host/log-cursor.ts';
import { readIdParam, requireLocal, getStore, getFaultView, type App, type RouteContext } from './context.ts';
import { followEvents, replayEvents } from './run-events.ts';

const answer = z.union([
  z.strictObject({
    questionId: z.string().min(1),
    approved: z.boolean().optional(),
    value: z.json().optional(),
    cancelled: z.literal(true).optional(),
    reason: z.string().max(10_000).optional(),
  }),
  z.strictObject({ toolCallId: z.string().min(1), output: z.json() }),
  z.strictObject({
    toolCallId: z.string().min(1),
    error: z.union([z.string(), z.object({ message: z.string(), code: z.string().optional() })]),
  }),
]);

/** Zod checks all entries of a list before its length, so the first schema checks only the length. */
const answersShape = z.strictObject({ answers: z.array(z.unknown()).min(1).max(100).pipe(z.array(answer)) });
const stopShape = z.strictObject({ reason: z.string().max(1000).optional() });
const eventsQuery = z.object({
  after: z.string().optional(),
  live: z.enum(['true', 'false']).optional(),
  thread: z.string().optional(),
});

/** Body schemas for the OpenAPI document. */
export const runBodies: { answers: z.ZodType; stop: z.ZodType } = { answers: answersShape, stop: stopShape };

function threadParam(c: RouteContext): string | undefined {
  return c.req.query('thread');
}

/** Adds the routes that read, stop and answer runs. */
export function addRunRoutes(app: App, host: Host): void {
  app.get('/api/runs/:run', async (c) => {
    const store = getStore(host, c);
    const { record } = await findRun(host, store, readIdParam(c, 'run'), threadParam(c));
    const runs = record.resumes ? await store.registry.listRuns(store.scope, { threadId: record.threadId }) : [];
    return c.json(toRunInfo(record, host, runs));
  });

  app.get('/api/runs/:run/events', async (c) => {
    const store = getStore(host, c);
    const query = readQuery(c.req.raw, eventsQuery);
    const text = c.req.header('last-event-id') ?? query.after;
    const after = text === undefined || text === '' ? undefined : parseCursor(text);
    if (after === null) throw new IntertieError('bad-request', 'after: a cursor is epoch.seq, for example 1.42');
    const found = await findRun(host, store, readIdParam(c, 'run'), query.thread);
    const isLive = found.record.state === 'queued' || found.record.state === 'running';
    if (query.live === 'false' && isLive)
      return replayEvents(store, found.record, after, getFaultView(host, found.record));
    return followEvents(await openRun(host, store, found), found.record, after, getFaultView(host, found.record));
  });

  app.get('/api/runs/:run/frames', async (c) => {
    requireLocal(host);
    const { record } = await findRun(host, getStore(host, c), readIdParam(c, 'run'), threadParam(c));
    if (!host.frames.has(record.runId)) throw new IntertieError('no-frames');
    return sseResponse(async function* frames(signal) {
      for await (const frame of host.frames.read(record.runId, signal)) {
        yield toSSEBytes([{ id: String(frame.index), data: frame }]);
      }
    });
  });

  app.get('/api/runs/:run/model-calls', async (c) => {
    // Ids of runs are not unique across users, so only operators, who may read all of them, read the recording.
    if (c.get('principal').operator !== true) throw new IntertieError('operators-only');
    const { record } = await findRun(host, getStore(host, c), readIdParam(c, 'run'), threadParam(c));
    const calls = host.modelCalls?.list(record);
    if (!calls) throw new IntertieError('no-model-calls');
    return c.json({ calls });
  });

  app.post('/api/runs/:run/stop', async (c) => {
    const store = getStore(host, c);
    const { reason } = await readJson(c.req.raw, stopShape, host.limits);
    const found = await findRun(host, store, readIdParam(c, 'run'), threadParam(c));
    const run = await openRun(host, store, found);
    return c.json({ result: await run.stop(reason) });
  });

  app.post('/api/runs/:run/answers', async (c) => {
    const store = getStore(host, c);
    const { answers } = await readJson(c.req.raw, answersShape, host.limits);
    const { record, hosted } = await findRun(host, store, readIdParam(c, 'run'), threadParam(c));
    if (!hosted) throw new IntertieError('agent-gone', `This server has no agent "${record.agent}".`);
    const { verdicts, open, run } = await hosted.agent
      .forScope(store.scope)
      .answer({ runId: record.runId, threadId: record.threadId }, answers.map(toAnswer), c.get('principal').id);
    return c.json({
      verdicts,
      open: open.map(toDecisionInfo),
      ...(run && { run: { runId: run.runId, messageId: run.messageId } }),
    });
  });
}

function toAnswer(given: z.output<typeof answer>): Answer | ToolAnswer {
  if ('questionId' in given) return given;
  const { toolCallId } = given;
  if ('output' in given) return { toolCallId, status: 'ok', output: given.output };
  const error = typeof given.error === 'string' ? { message: given.error } : given.error;
  return { toolCallId, status: 'error', error };
}
