import type { UIMessageVersion } from '@intertie/ai-sdk';
import type { AgentEvent, CanonicalMessage } from '@intertie/core';
import { pullStream } from '@intertie/core/internal';
import type { StopResult } from '@intertie/core/store';
import { iterable, type IterableStream, type Run, type UIMessageResponseOptions } from './run.ts';

/** A run that is being started. It can be streamed immediately, or awaited for its ids. A refusal rejects both. */
export class PendingRun implements PromiseLike<Run> {
  #run: Promise<Run>;

  constructor(run: Promise<Run>) {
    this.#run = run;
    // Prevents an unhandled rejection if the caller neither reads nor awaits.
    run.catch(() => undefined);
  }

  // oxlint-disable-next-line unicorn/no-thenable -- `await agent.stream(…)` returns the started run
  then<Found = Run, Failed = never>(
    found?: ((run: Run) => Found | PromiseLike<Found>) | null,
    failed?: ((error: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Found | Failed> {
    return this.#run.then(found, failed);
  }

  get events(): IterableStream<AgentEvent> {
    return this.#streamWhenStarted((run) => run.events);
  }

  get textStream(): IterableStream<string> {
    return this.#streamWhenStarted((run) => run.textStream);
  }

  get message(): Promise<CanonicalMessage> {
    return this.#run.then((run) => run.message);
  }

  async stop(reason?: string): Promise<StopResult> {
    return (await this.#run).stop(reason);
  }

  /** Rejects if the run is refused, so that a server can respond with an error status. */
  async toUIMessageStreamResponse<Version extends UIMessageVersion = 6>(
    options?: UIMessageResponseOptions<Version>,
  ): Promise<Response> {
    return (await this.#run).toUIMessageStreamResponse(options);
  }

  #streamWhenStarted<Item>(select: (run: Run) => ReadableStream<Item>): IterableStream<Item> {
    let reader: ReadableStreamDefaultReader<Item> | undefined;
    const stream = pullStream<Item>({
      pull: async (emit) => {
        reader ??= select(await this.#run).getReader();
        const { done, value } = await reader.read();
        if (!done) emit(value);
        return !done;
      },
      cancel: (reason) => reader?.cancel(reason),
    });
    return iterable(stream);
  }
}
