import type { UIMessageVersion } from '@intertie/ai-sdk';
import type { AgentEvent, CanonicalMessage } from '@intertie/core';
import { pullStream } from '@intertie/core/internal';
import type { StopResult } from '@intertie/core/store';
import { iterable, type IterableStream } from './iterable-stream.ts';
import type { Run, UIMessageResponseOptions } from './run.ts';

/**
 * A run that has been asked for: it can be read at once, and awaited for its ids. Where it is refused, whoever reads it or
 * awaits it is told.
 */
export class PendingRun implements PromiseLike<Run> {
  #run: Promise<Run>;

  constructor(run: Promise<Run>) {
    this.#run = run;
    // Whoever asks is told; nobody has to.
    run.catch(() => undefined);
  }

  // oxlint-disable-next-line unicorn/no-thenable -- `await agent.stream(…)` is the way to its ids
  then<Found = Run, Failed = never>(
    found?: ((run: Run) => Found | PromiseLike<Found>) | null,
    failed?: ((error: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Found | Failed> {
    return this.#run.then(found, failed);
  }

  get events(): IterableStream<AgentEvent> {
    return this.#later((run) => run.events);
  }

  get textStream(): IterableStream<string> {
    return this.#later((run) => run.textStream);
  }

  get message(): Promise<CanonicalMessage> {
    return this.#run.then((run) => run.message);
  }

  async stop(reason?: string): Promise<StopResult> {
    return (await this.#run).stop(reason);
  }

  /** Resolves when the run has been started, so that a refusal can be answered as one. */
  async toUIMessageStreamResponse<Version extends UIMessageVersion = 6>(
    options?: UIMessageResponseOptions<Version>,
  ): Promise<Response> {
    return (await this.#run).toUIMessageStreamResponse(options);
  }

  #later<Item>(of: (run: Run) => ReadableStream<Item>): IterableStream<Item> {
    let reader: ReadableStreamDefaultReader<Item> | undefined;
    const stream = pullStream<Item>({
      pull: async (emit) => {
        reader ??= of(await this.#run).getReader();
        const { done, value } = await reader.read();
        if (!done) emit(value);
        return !done;
      },
      cancel: (reason) => reader?.cancel(reason),
    });
    return iterable(stream);
  }
}
