import type { AgentEvent } from '@intertie/core';
import { describe, expect, it, vi } from 'vitest';
import { followRun } from './run-events.ts';

const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
const notice: AgentEvent = { type: 'notice', level: 'info', message: 'hello' };
const end: AgentEvent = { type: 'run-end', outcome: 'complete' };

const frame = (id: string, event: AgentEvent): string => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;

/** Answers each request for events with the next response, and requests for frames with 404. */
function mockServer(...responses: Array<() => Response>): { fetch: typeof fetch; urls: string[] } {
  const urls: string[] = [];
  const request = async (url: unknown): Promise<Response> => {
    if (String(url).includes('/frames')) return new Response(null, { status: 404 });
    urls.push(String(url));
    return responses.shift()?.() ?? Response.error();
  };
  return { fetch: request, urls };
}

const options = { schedule: (callback: () => void) => callback(), retryMs: () => 0 };

describe('followRun', () => {
  it('resumes after the last event when the connection is cut', async () => {
    const { fetch, urls } = mockServer(
      () => new Response(frame('1.1', start)),
      () => Response.error(),
      () => new Response(frame('1.2', notice) + frame('1.3', end)),
    );
    const run = followRun('r', 't', { ...options, fetch });
    await vi.waitFor(() => expect(run.snapshot().status).toBe('ended'));
    expect(run.snapshot().entries.map(({ id }) => id)).toEqual(['1.1', '1.2', '1.3']);
    expect(run.snapshot().reconnects).toBe(2);
    expect(urls).toEqual([
      '/api/runs/r/events?thread=t',
      '/api/runs/r/events?thread=t&after=1.1',
      '/api/runs/r/events?thread=t&after=1.1',
    ]);
    run.close();
  });

  it('discards all entries when the server resets the log', async () => {
    const { fetch } = mockServer(
      () => new Response(frame('1.1', start) + frame('1.2', notice)),
      () => new Response(`event: reset\ndata: {}\n\n${frame('2.1', start)}${frame('2.2', end)}`),
    );
    const run = followRun('r', undefined, { ...options, fetch });
    await vi.waitFor(() => expect(run.snapshot().status).toBe('ended'));
    expect(run.snapshot().entries.map(({ id }) => id)).toEqual(['2.1', '2.2']);
    run.close();
  });

  it('batches notifications and never changes a published snapshot', async () => {
    const pending: Array<() => void> = [];
    const { fetch } = mockServer(() => new Response(frame('1.1', start) + frame('1.2', notice) + frame('1.3', end)));
    const run = followRun('r', 't', { ...options, fetch, schedule: (callback) => void pending.push(callback) });
    const before = run.snapshot();
    await vi.waitFor(() => expect(pending).toHaveLength(1));
    expect(run.snapshot()).toBe(before);
    const listener = vi.fn<() => void>();
    run.subscribe(listener);
    await vi.waitFor(() => {
      for (const callback of pending.splice(0)) callback();
      expect(run.snapshot().entries).toHaveLength(3);
    });
    expect(before.entries).toEqual([]);
    expect(listener.mock.calls.length).toBeLessThanOrEqual(3);
    run.close();
  });

  it('reads source frames again after a cut and skips the known ones', async () => {
    const frames = (...indices: number[]): string =>
      indices.map((index) => `data: ${JSON.stringify({ index, at: 0, dialect: 'd', frame: {} })}\n\n`).join('');
    const answers = [() => new Response(frames(0, 1)), () => new Response(frames(0, 1, 2, 3))];
    let finish = (): void => undefined;
    const events = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(frame('1.1', start)));
        finish = () => controller.enqueue(new TextEncoder().encode(frame('1.2', { ...end, origin: 3 })));
      },
    });
    const request = async (url: unknown): Promise<Response> =>
      String(url).includes('/frames') ? (answers.shift() ?? Response.error)() : new Response(events);
    const run = followRun('r', 't', { ...options, fetch: request });
    await vi.waitFor(() => expect(run.snapshot().frames).toHaveLength(4));
    finish();
    await vi.waitFor(() => expect(run.snapshot().status).toBe('ended'));
    expect(run.snapshot().frames.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    run.close();
  });

  it('reports a dropped log', async () => {
    const { fetch } = mockServer(
      () => new Response('{"error":{"code":"log-dropped","message":"gone"}}', { status: 410 }),
    );
    const run = followRun('r', 't', { ...options, fetch });
    await vi.waitFor(() => expect(run.snapshot().status).toBe('dropped'));
    run.close();
  });
});
