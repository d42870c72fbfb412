import type { ServerResponse } from 'node:http';
import { pause, pullStream } from '@intertie/core/internal';
import type { Limits } from '../config/config.ts';
import { IntertieError } from '../errors/intertie-error.ts';

/** Fault that a developer injects into a connection, to test disturbance the client handles it. */
export type Disturbance = { cut?: true; delayMs?: number; duplicate?: true };

type OpenStream = {
  client: string;
  thread: string | undefined;
  disturb(disturbance: Disturbance): void;
  fail(reason: Error): void;
};

/** Counts and limits open streams, and fails them on shutdown: a clean end would look like a complete response. */
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

  /** Throws `too-many-streams` if the client or the server has reached the limit. */
  check(client: string): void {
    const own = this.#perClient.get(client) ?? 0;
    if (own < this.#limits.perClient && this.#open.size < this.#limits.total) return;
    throw new IntertieError('too-many-streams', undefined, { headers: { 'retry-after': '5' } });
  }

  /** Wraps a response so that it is counted until it ends and can be disturbed or failed. */
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
          disturb: (disturbance) => {
            if (disturbance.delayMs !== undefined) delayMs = disturbance.delayMs;
            if (disturbance.duplicate && last) emit(last);
            if (disturbance.cut) fail(new Error('The connection was cut on request.'));
          },
          fail,
        };
        this.#add(stream);
      },
      pull: async (emit) => {
        const { done, value } = await reader.read();
        if (delayMs > 0) await pause(delayMs);
        if (done) this.#remove(stream);
        else emit((last = value));
        return !done;
      },
      cancel: (reason) => {
        this.#remove(stream);
        return reader.cancel(reason);
      },
    });
    return new Response(body, response);
  }

  /**
   * Counts a response of Node's HTTP server, which is failed by destroying the connection. Its bytes do not pass through this
   * class, which saves a tenth of the cost of a live stream.
   */
  trackConnection(outgoing: ServerResponse, client: string): void {
    if (outgoing.destroyed) return;
    const stream: OpenStream = {
      client,
      thread: undefined,
      disturb: () => undefined,
      fail: () => {
        if (this.#remove(stream)) outgoing.destroy();
      },
    };
    this.#add(stream);
    outgoing.once('close', () => this.#remove(stream));
  }

  /** Counts a waiting request, such as a long poll, until the returned function is called. */
  hold(client: string): () => void {
    const stream: OpenStream = { client, thread: undefined, disturb: () => undefined, fail: () => undefined };
    this.#add(stream);
    return () => void this.#remove(stream);
  }

  #add(stream: OpenStream): void {
    this.#open.add(stream);
    this.#perClient.set(stream.client, (this.#perClient.get(stream.client) ?? 0) + 1);
  }

  /** Returns whether the stream was still open. */
  #remove(stream: OpenStream): boolean {
    if (!this.#open.delete(stream)) return false;
    const remaining = this.#perClient.get(stream.client)! - 1;
    if (remaining > 0) this.#perClient.set(stream.client, remaining);
    else this.#perClient.delete(stream.client);
    return true;
  }

  /** Disturbs the streams of a thread. Returns their number. */
  disturb(thread: string, disturbance: Disturbance): number {
    const matching = [...this.#open].filter((stream) => stream.thread === thread);
    for (const stream of matching) stream.disturb(disturbance);
    return matching.length;
  }

  /** Fails every stream. Clients see a broken connection and reconnect. */
  failAll(reason: Error): void {
    for (const stream of this.#open) stream.fail(reason);
  }
}
