import type { ServerResponse } from 'node:http';
import { pause, pullStream } from '@intertie/core/internal';
import type { Limits } from '../config/config.ts';
import { IntertieError } from '../errors/intertie-error.ts';

/** How a connection is disturbed on purpose, to see what a client makes of it. */
export type Disturbance = { cut?: true; delayMs?: number; duplicate?: true };

type OpenStream = {
  client: string;
  thread: string | undefined;
  disturb(how: Disturbance): void;
  fail(why: Error): void;
};

/** The responses that are being streamed: counted, and failed where a clean end would be taken for success. */
export class OpenStreams {
  #limits: Limits['streams'];
  #open = new Set<OpenStream>();
  #perClient = new Map<string, number>();

  constructor(limits: Limits['streams']) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Throws `too-many-streams` where the client may hold no more. */
  check(client: string): void {
    const own = this.#perClient.get(client) ?? 0;
    if (own < this.#limits.perClient && this.#open.size < this.#limits.total) return;
    throw new IntertieError('too-many-streams', undefined, { headers: { 'retry-after': '5' } });
  }

  /** The same response, known here until it ends. */
  track(response: Response, { client, thread }: { client: string; thread?: string | undefined }): Response {
    if (response.body === null) return response;
    const reader = response.body.getReader();
    let last: Uint8Array<ArrayBuffer> | undefined;
    let delayMs = 0;
    let stream: OpenStream;
    const body = pullStream<Uint8Array<ArrayBuffer>>({
      start: (emit, fail) => {
        stream = {
          client,
          thread,
          disturb: (how) => {
            if (how.delayMs !== undefined) delayMs = how.delayMs;
            if (how.duplicate && last) emit(last);
            if (how.cut) fail(new Error('The connection was cut on request.'));
          },
          fail,
        };
        this.#enter(stream);
      },
      pull: async (emit) => {
        const { done, value } = await reader.read();
        if (delayMs > 0) await pause(delayMs);
        if (done) this.#leave(stream);
        else emit((last = value));
        return !done;
      },
      cancel: (reason) => {
        this.#leave(stream);
        return reader.cancel(reason);
      },
    });
    return new Response(body, response);
  }

  /**
   * The same for a response that goes to a connection of Node’s: it is broken off there, and its bytes need not pass through
   * here, which saves a tenth of what a live stream costs.
   */
  trackConnection(outgoing: ServerResponse, client: string): void {
    if (outgoing.destroyed) return;
    const stream: OpenStream = {
      client,
      thread: undefined,
      disturb: () => undefined,
      fail: () => {
        if (this.#leave(stream)) outgoing.destroy();
      },
    };
    this.#enter(stream);
    outgoing.once('close', () => this.#leave(stream));
  }

  /** Counts a request that waits, such as a long poll, until the returned function is called. */
  hold(client: string): () => void {
    const stream: OpenStream = { client, thread: undefined, disturb: () => undefined, fail: () => undefined };
    this.#enter(stream);
    return () => void this.#leave(stream);
  }

  #enter(stream: OpenStream): void {
    this.#open.add(stream);
    this.#perClient.set(stream.client, (this.#perClient.get(stream.client) ?? 0) + 1);
  }

  /** Whether it was still there. */
  #leave(stream: OpenStream): boolean {
    if (!this.#open.delete(stream)) return false;
    const left = this.#perClient.get(stream.client)! - 1;
    if (left > 0) this.#perClient.set(stream.client, left);
    else this.#perClient.delete(stream.client);
    return true;
  }

  /** Returns how many were disturbed. */
  disturb(thread: string, how: Disturbance): number {
    const those = [...this.#open].filter((stream) => stream.thread === thread);
    for (const stream of those) stream.disturb(how);
    return those.length;
  }

  /** Fails all of them: a client takes that for a broken connection, and asks again. */
  failAll(why: Error): void {
    for (const stream of this.#open) stream.fail(why);
  }
}
