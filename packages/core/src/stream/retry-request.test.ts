import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { retryRequest } from './retry-request.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const refused = (): Promise<Response> => Promise.reject(new TypeError('fetch failed'));
const respond = (status: number) => async (): Promise<Response> => new Response('text', { status });

/** Sends requests that are answered in turn, the last answer again and again. Returns the result and the number of requests. */
async function send(answers: Array<() => Promise<Response>>, signal = new AbortController().signal) {
  let count = 0;
  const result = retryRequest(() => answers[Math.min(count++, answers.length - 1)]!(), signal).catch(
    (error: unknown) => error as Error,
  );
  await vi.runAllTimersAsync();
  return { result: await result, count };
}

it.each([
  ['a connection that is refused', refused],
  ['500', respond(500)],
  ['503', respond(503)],
  ['429', respond(429)],
])('repeats the request after %s', async (_, answer) => {
  const { result, count } = await send([answer, answer, respond(200)]);
  expect([(result as Response).status, count]).toEqual([200, 3]);
});

it.each([200, 204, 404, 409])('returns a response with status %i at once', async (status) => {
  const answer = async (): Promise<Response> => new Response(null, { status });
  const { result, count } = await send([answer]);
  expect([(result as Response).status, count]).toEqual([status, 1]);
});

it('returns the last response, or throws the last error, after eight seconds', async () => {
  const start = Date.now();
  expect(await send([respond(503)])).toMatchObject({ result: { status: 503 }, count: 5 });
  expect(Date.now() - start).toBeLessThan(8_000);
  expect(await send([refused])).toMatchObject({ result: { message: 'fetch failed' }, count: 5 });
});

it('sends no request after an abort', async () => {
  const controller = new AbortController();
  const abort = (): Promise<Response> => {
    controller.abort(new Error('stopped'));
    return refused();
  };
  expect(await send([abort], controller.signal)).toMatchObject({ count: 1 });
});
