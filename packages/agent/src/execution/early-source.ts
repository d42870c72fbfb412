import type { AgentEvent, CanonicalMessage, RunControl, RunInput, Store } from '@intertie/core';
import { sealStream, type SealedStream } from '@intertie/core/internal';
import type { StartRequest } from '@intertie/core/store';
import type { AgentDefinition } from './agent-definition.ts';
import { prepareRun } from './prepare-run.ts';

/** Maximum number of events that are read from a source before the start of its run is committed. */
const maxHeldEvents = 16;

/** Maximum time that an aborted source may take to end. */
const drainMs = 600;

/**
 * Calls the source of a run while the start of the run is committed. Its events are held, and its tools wait, until the execution of
 * the committed run takes them. If there is no such execution, or another history was committed, the source is aborted.
 */
export class EarlySource {
  #abort = new AbortController();
  #opened: Promise<SealedStream | undefined>;
  #control: Promise<RunControl>;
  #attach!: (control: RunControl) => void;

  constructor(store: Store, request: StartRequest, definition: AgentDefinition) {
    this.#control = new Promise((resolve, reject) => {
      this.#attach = resolve;
      this.#abort.signal.addEventListener('abort', () => reject(new Error('The run was stopped before the tool ran.')));
    });
    this.#control.catch(() => undefined);
    // The execution repeats whatever fails here, and reports it.
    this.#opened = this.#open(store, request, definition).catch(() => undefined);
  }

  /** Returns the events for the execution, which reads them from now on; undefined if it has to call the source itself. */
  async take(input: RunInput, control: RunControl): Promise<SealedStream | undefined> {
    const sealed = await this.#opened;
    if (!sealed || !isSameInput(sealed.run, input)) {
      this.cancel('The history has changed.');
      return undefined;
    }
    const { signal } = control;
    const stop = (): void => this.#abort.abort(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
    this.#attach(control);
    return sealed;
  }

  /** Aborts the source. No effect on the execution if it was taken and has ended. */
  cancel(message: string): void {
    this.#abort.abort({ by: 'system', message });
    void this.#discard(message);
  }

  async #discard(reason: string): Promise<void> {
    const sealed = await this.#opened;
    if (sealed?.events.locked === false) await sealed.events.cancel(reason);
  }

  async #open(store: Store, request: StartRequest, definition: AgentDefinition): Promise<SealedStream | undefined> {
    const { threadId, message, parentId, historyLimit } = request;
    // Stored files replace their bytes. They take longer than the start.
    if (!message || message.content.parts.some(({ type }) => type === 'file')) return undefined;
    // Two of the messages are those that the start writes.
    const limit = historyLimit === undefined ? {} : { limit: Math.max(historyLimit - 2, 1) };
    const branch = await store.listMessages({ threadId, ...limit });
    const head = branch.at(-1);
    const isAtHead = parentId === undefined || parentId === (head?.id ?? null);
    const isBusy = head?.status === 'streaming' || head?.status === 'paused';
    if (!isAtHead || isBusy || branch.some(({ id }) => id === message.id)) return undefined;
    const { input } = await prepareRun(store, toExpectedRun(store, request, branch), definition);
    if (this.#abort.signal.aborted) return undefined;
    const { signal } = this.#abort;
    const { onLoss, source } = definition;
    const sealed = sealStream(source.run(input, this.#createControl()), input, { onLoss, signal, drainMs });
    const held = new CountQueuingStrategy({ highWaterMark: maxHeldEvents });
    const events = sealed.events.pipeThrough(new TransformStream<AgentEvent, AgentEvent>({}, undefined, held));
    return { ...sealed, events };
  }

  #createControl(): RunControl {
    const control = this.#control;
    return {
      signal: this.#abort.signal,
      barrier: async (toolCallId) => (await control).barrier(toolCallId),
      liveAnswers: {
        async *[Symbol.asyncIterator]() {
          yield* (await control).liveAnswers;
        },
      },
    };
  }
}

/** The run and its messages as the start commits them, if the thread does not change. */
function toExpectedRun(
  store: Store,
  request: StartRequest,
  branch: CanonicalMessage[],
): Parameters<typeof prepareRun>[1] {
  const { runId, threadId, messageId, input } = request;
  const asked = { ...request.message, ...(branch.length > 0 && { parentId: branch.at(-1)!.id }) } as CanonicalMessage;
  const answer: CanonicalMessage = {
    id: messageId,
    threadId,
    runId,
    parentId: asked.id,
    role: 'assistant',
    type: 'text',
    status: 'streaming',
    content: { format: 2, parts: [] },
    createdAt: new Date(),
  };
  const run = { runId, threadId, messageId, scope: store.scope, createdAt: answer.createdAt };
  return { run: { ...run, ...(input !== undefined && { input }) }, messages: [...branch, asked, answer] };
}

function isSameInput(early: RunInput, input: RunInput): boolean {
  return toComparable(early) === toComparable(input);
}

/** The fields of an input that a change of the thread can change. */
function toComparable({ history, state, sourceState }: RunInput): string {
  return JSON.stringify([history.map(({ id, content }) => [id, content]), state, sourceState]);
}
