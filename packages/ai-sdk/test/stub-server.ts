import { generateId, iterate, type AgentEvent, type AgentSource, type RunInput } from '@intertie/core';
import { runControl } from '../../core/test/run-control.ts';
import { ChatMemory } from '../src/chat/handler/chat-memory.ts';
import { readChatRequest } from '../src/chat/handler/chat-request.ts';
import { toRunInput } from '../src/chat/handler/to-run-input.ts';
import { createUIMessageEncoder } from '../src/ui-message-stream/encode/encode-ui-message-stream.ts';
import type { UIMessageChunk6 } from '../src/ui-message-stream/chunk/ui-message-chunk.ts';
import { doneFrame, toUIMessageFrame, uiMessageStreamHeaders } from '../src/ui-message-stream/sse/ui-message-sse.ts';

type Run = {
  input: RunInput;
  log: AgentEvent[];
  isOver: boolean;
  stop: AbortController;
  /** Callbacks of readers that wait for the next event. */
  waiting: Set<() => void>;
};
type Baseline = 'assume' | 'restate';
type Frame = { id: string; chunk: UIMessageChunk6 };

/** Interruption of a stream after a number of frames: with an error, a clean end, or inside a frame (`torn`). */
export type Cut = { after: number; how?: 'error' | 'end' | 'torn' };

/**
 * In-memory stand-in for an Intertie server: runs that continue without a reader, streams that can be resumed from any
 * cursor, and stop.
 */
export class StubServer {
  readonly requests: string[] = [];
  readonly runs: Run[] = [];
  /** Interruptions of the next streams, in order. */
  cuts: Array<Cut | undefined> = [];
  /** Error statuses of the next requests, in order. */
  refusals: Array<number | undefined> = [];
  /** Changed to simulate a deployment: existing cursors become invalid. */
  encoderName = 'ui1';
  #source: AgentSource;

  constructor(source: AgentSource) {
    this.#source = source;
  }

  handle = async (request: Request): Promise<Response> => {
    const { pathname, searchParams, search } = new URL(request.url);
    this.requests.push(`${request.method} ${pathname}${search}`);
    const refusal = this.refusals.shift();
    if (refusal !== undefined) return new Response('Not now.', { status: refusal });
    const [, thread, action] = /^\/chat(?:\/([^/]+)\/(stream|stop))?$/.exec(pathname) ?? [];
    if (request.method === 'POST' && action === undefined) return this.#start(await request.json());
    const live = this.runs.findLast(({ input }) => input.threadId === decodeURIComponent(thread ?? ''));
    if (action === 'stop') {
      const runId = searchParams.get('run');
      const isMatch = live !== undefined && (runId === null || runId === live.input.runId);
      if (isMatch) live.stop.abort({ by: 'user' });
      return new Response(null, { status: isMatch ? 200 : 404 });
    }
    if (live === undefined) return new Response(null, { status: 204 });
    const after = searchParams.get('after');
    if (after === null) return live.isOver ? new Response(null, { status: 204 }) : this.#stream(live, 'restate');
    const run = this.runs.find(({ input }) => input.runId === searchParams.get('run'));
    if (run === undefined) return new Response('No such run.', { status: 404 });
    const baseline = (['assume', 'restate'] as const).find((mode) => after.startsWith(`${this.#encoderId(mode)}~`));
    return baseline === undefined ? this.#stream(run, 'restate') : this.#stream(run, baseline, after);
  };

  #start(body: unknown): Response {
    const options = {
      memory: new ChatMemory(),
      generateId,
      now: () => 1_700_000_000_000,
      onLoss: () => undefined,
    };
    const input = toRunInput(readChatRequest(body, { generateId }), options);
    const stop = new AbortController();
    const run: Run = { input, log: [], isOver: false, stop, waiting: new Set() };
    this.runs.push(run);
    void this.#pump(run);
    return this.#stream(run, 'assume');
  }

  async #pump(run: Run): Promise<void> {
    const { signal } = run.stop;
    for await (const event of iterate(this.#source.run(run.input, runControl({ signal })))) {
      run.log.push(event);
      run.isOver = event.type === 'run-end';
      for (const wake of run.waiting) wake();
      run.waiting.clear();
    }
  }

  #encoderId(baseline: Baseline): string {
    const { version, optionsKey } = createUIMessageEncoder({ baseline });
    return `${this.encoderName}-${version}-${optionsKey}`;
  }

  /** Encodes the whole log. The caller skips the frames that the reader has. */
  async *#frames(run: Run, baseline: Baseline): AsyncGenerator<Frame> {
    const encoder = createUIMessageEncoder({ baseline });
    const name = this.#encoderId(baseline);
    for (let seq = 0; ; seq += 1) {
      if (run.isOver && seq === run.log.length) return;
      while (seq >= run.log.length) await new Promise<void>((wake) => void run.waiting.add(wake));
      const chunks: UIMessageChunk6[] = [];
      encoder.feed(run.log[seq]!, (chunk) => void chunks.push(chunk));
      for (const [k, chunk] of chunks.entries()) yield { id: `${name}~1.${seq + 1}.${k}`, chunk };
    }
  }

  #stream(run: Run, baseline: Baseline, after?: string): Response {
    const cut = this.cuts.shift();
    const encoder = new TextEncoder();
    const frames = this.#frames(run, baseline);
    let sent = 0;
    let isSkipping = after !== undefined;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          for (;;) {
            if (sent === cut?.after && cut.how !== 'torn') {
              return cut.how === 'end' ? controller.close() : controller.error(new Error('cut'));
            }
            const { done, value } = await frames.next();
            if (done) {
              controller.enqueue(encoder.encode(doneFrame));
              return controller.close();
            }
            if (isSkipping) {
              isSkipping = value.id !== after;
              continue;
            }
            const text = toUIMessageFrame(value.chunk, value.id);
            if (sent === cut?.after) {
              controller.enqueue(encoder.encode(text.slice(0, -7)));
              return controller.close();
            }
            sent += 1;
            return controller.enqueue(encoder.encode(text));
          }
        },
        cancel: () => void frames.return(undefined),
      },
      { highWaterMark: 0 },
    );
    const { runId, messageId } = run.input;
    return new Response(body, {
      headers: { ...uiMessageStreamHeaders, 'x-intertie-run': runId, 'x-intertie-message': messageId },
    });
  }
}
