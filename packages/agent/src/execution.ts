import {
  decisionsOf,
  endByAbort,
  generateId,
  MessageList,
  outcomeOf,
  RunLostError,
  seal,
  toFault,
  type AgentEvent,
  type Answer,
  type Codec,
  type EventOf,
  type FinishResult,
  type Ownership,
  type RunControl,
  type RunFlusher,
  type RunKey,
  type RunLostReason,
  type RunPosition,
  type RunWatcher,
  type RunWriter,
  type StopReason,
  type Store,
  type UnwrittenEnd,
  type Waiting,
} from '@intertie/core';
import type { AgentDefinition } from './agent-definition.ts';
import { AnswerQueue } from './answer-queue.ts';
import { isLargeFile, keepFile } from './keep-files.ts';
import { continuedInput, prepareRun, type PreparedRun } from './prepare-run.ts';

/** What the process does for the runs that it owns. */
export type ExecutionHost = {
  readonly store: Store;
  readonly process: string;
  readonly flusher: RunFlusher;
  readonly watcher: RunWatcher;
  readonly onError: (error: unknown) => void;
};

/** A run that could not begin: nobody has written a word of it. */
export class UnpreparedRunError extends Error {
  override readonly name = 'UnpreparedRunError';
}

/** How long a source may take to end after it was told to stop. Then it is ended without its last words. */
const stopGraceMs = 600;

/**
 * One run from its ownership to its end: the source is read, and what it says is sealed, folded, logged and then told.
 * Whatever happens it ends once, or it is another process's.
 */
export class Execution {
  readonly key: RunKey;
  readonly definition: AgentDefinition;
  /** Rejects where the run is still to be ended by somebody; then no word of it is written. */
  readonly done: Promise<FinishResult>;
  #host: ExecutionHost;
  #owned: Ownership;
  #writer: RunWriter;
  #abort = new AbortController();
  #answers = new AnswerQueue();
  #reader: ReadableStreamDefaultReader<AgentEvent> | undefined;
  #list: MessageList | undefined;
  #end: EventOf<'run-end'> | undefined;
  /** Calls that the log has, or will have with the next flush, and the tools that wait for that. */
  #calls = new Set<string>();
  #callWaiters = new Map<string, Array<() => void>>();
  /** The questions that a live run waits for. */
  #questions = new Set<string>();
  #isFetching = false;
  #isFinishing = false;
  /** Of a continuation: the message as it is stored, until the source has repeated it. */
  #baseline: PreparedRun['message'] | undefined;
  #graceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(host: ExecutionHost, definition: AgentDefinition, owned: Ownership) {
    this.#host = host;
    this.#owned = owned;
    this.key = owned.run.key;
    this.definition = definition;
    this.#writer = host.flusher.open(owned, {
      onStop: () => void this.#look(),
      onLost: (reason) => this.#lose(reason),
    });
    this.done = this.#run();
  }

  /** The source is told to stop. What it has said is kept. */
  stop(reason: StopReason): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort(reason);
    this.#graceTimer = setTimeout(() => this.#leaveSource(), stopGraceMs);
  }

  async #run(): Promise<FinishResult> {
    const unwatch = this.#host.watcher.watch(this.key, (position) => this.#see(position));
    try {
      const prepared = await this.#prepare();
      await this.#produce(prepared);
      return await this.#finish();
    } finally {
      unwatch();
      clearTimeout(this.#graceTimer);
      this.#answers.close();
      // Tools that still run are told that nobody waits for them.
      if (!this.#abort.signal.aborted) this.#abort.abort({ by: 'system', message: 'The run is over.' });
    }
  }

  async #prepare(): Promise<PreparedRun> {
    const { run } = this.#owned;
    try {
      return await prepareRun(this.#host.store.forScope(run.scope), run, this.definition);
    } catch (error) {
      this.#isFinishing = true;
      this.#writer.close();
      throw new UnpreparedRunError(`Run ${run.runId} could not begin.`, { cause: error });
    }
  }

  async #produce({ input, message }: PreparedRun): Promise<void> {
    const codec = seal(input, this.definition.onLoss);
    this.#list = new MessageList({ messages: [message] });
    if (input.message) this.#baseline = message;
    const emitted: AgentEvent[] = [];
    const emit = (event: AgentEvent): void => void emitted.push(event);
    try {
      this.#reader = this.definition.source.run(input, this.#control()).getReader();
    } catch (error) {
      codec.end({ reason: 'error', error: toFault(error) }, emit);
    }
    while (!this.#writer.lost) {
      for (const event of emitted.splice(0)) {
        const work = this.#take(event);
        // oxlint-disable-next-line no-await-in-loop -- one event after the other
        if (work) await work;
      }
      if (this.#end || !this.#reader) return;
      // oxlint-disable-next-line no-await-in-loop -- no more is asked for than can be kept
      await this.#writer.ready;
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      await this.#read(this.#reader, codec, emit);
    }
  }

  async #read(
    reader: ReadableStreamDefaultReader<AgentEvent>,
    codec: Codec<AgentEvent, AgentEvent>,
    emit: (event: AgentEvent) => void,
  ): Promise<void> {
    try {
      const { done, value } = await reader.read();
      if (!done) return codec.feed(value, emit);
      const { aborted, reason } = this.#abort.signal;
      codec.end(aborted ? endByAbort(reason) : { reason: 'eof' }, emit);
    } catch (error) {
      codec.end({ reason: 'error', error: toFault(error) }, emit);
    }
  }

  /** Keeps one event. Those that take time return a promise; most do not. */
  #take(event: AgentEvent): Promise<void> | undefined {
    switch (event.type) {
      case 'file':
        return isLargeFile(event) ? this.#keepFile(event) : this.#write(event);
      case 'question':
        return event.automatic
          ? this.#write(event)
          : this.#ask(event, { type: 'question', questionId: event.questionId });
      case 'tool-call':
        return event.executor === 'client' && !event.invalid
          ? this.#ask(event, { type: 'tool', toolCallId: event.toolCallId })
          : this.#write(event);
      case 'tool-result':
        this.#write(event);
        return this.#hurry();
      case 'answer':
        this.#write(event);
        return this.#answered(event);
      case 'message-snapshot':
        return this.#write(this.#restored(event));
      case 'run-end':
        this.#list!.feed(event);
        this.#end = event;
        return undefined;
      default:
        return this.#write(event);
    }
  }

  #write(event: AgentEvent): undefined {
    this.#list!.feed(event);
    this.#writer.write(event);
    if (event.type === 'tool-call') this.#recorded(event.toolCallId);
    return undefined;
  }

  /** What somebody will act upon goes to the log at once; the source need not wait for it. */
  #hurry(): undefined {
    this.#writer.barrier().catch(() => undefined);
    return undefined;
  }

  async #keepFile(event: EventOf<'file'>): Promise<void> {
    const { run } = this.#owned;
    try {
      this.#write(await keepFile(this.#host.store.blobs, run.scope, run, event));
    } catch (error) {
      // Too large, or the store is away for a moment: the log takes it as it is.
      this.#host.onError(error);
      this.#write(event);
    }
  }

  /** Guarded first and told after: whoever sees the question can answer it. */
  async #ask(event: EventOf<'question' | 'tool-call'>, waiting: Waiting): Promise<void> {
    const { key } = this;
    const { epoch } = this.#owned;
    this.#list!.feed(event);
    const content = this.#list!.message!.content;
    const decisions = decisionsOf({ outcome: 'paused', waitingFor: [waiting] }, content);
    const isLive = this.definition.source.pauses === 'live' && event.type === 'question';
    const asked = await this.#persist(() => this.#host.store.registry.ask(key, epoch, decisions));
    if (asked !== 'ok') return this.#lose('fenced');
    if (isLive) this.#questions.add(event.questionId);
    this.#writer.write(event);
    if (event.type === 'tool-call') this.#recorded(event.toolCallId);
    this.#hurry();
    if (isLive) await this.#setWaiting(true);
  }

  async #answered({ questionId }: EventOf<'answer'>): Promise<void> {
    if (this.#questions.delete(questionId) && this.#questions.size === 0) await this.#setWaiting(false);
  }

  async #setWaiting(waiting: boolean): Promise<void> {
    const { epoch } = this.#owned;
    await this.#persist(() => this.#host.store.registry.wait(this.key, epoch, waiting));
  }

  /** The source was given the bytes of its files; the log names them as the store does. */
  #restored(event: EventOf<'message-snapshot'>): EventOf<'message-snapshot'> {
    const baseline = this.#baseline;
    this.#baseline = undefined;
    const restored = baseline ? { ...event, content: baseline.content } : event;
    for (const part of restored.content.parts) if (part.type === 'tool-invocation') this.#recorded(part.toolCallId);
    return restored;
  }

  #control(): RunControl {
    const { signal } = this.#abort;
    return { signal, barrier: (toolCallId) => this.#barrier(toolCallId), liveAnswers: this.#answers };
  }

  async #barrier(toolCallId?: string): Promise<void> {
    if (toolCallId !== undefined && !this.#calls.has(toolCallId)) {
      await new Promise<void>((resolve) => {
        this.#callWaiters.set(toolCallId, [...(this.#callWaiters.get(toolCallId) ?? []), resolve]);
        this.#abort.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    const passed = await this.#writer.barrier();
    if (passed === 'stop') void this.#look();
    if (passed === 'stop' || this.#abort.signal.aborted) throw new Error('The run was stopped before the tool ran.');
  }

  #recorded(toolCallId: string): void {
    this.#calls.add(toolCallId);
    for (const resolve of this.#callWaiters.get(toolCallId) ?? []) resolve();
    this.#callWaiters.delete(toolCallId);
  }

  /** The watcher's word: it comes with every hint, and now and then without. */
  #see(position: RunPosition | undefined): void {
    if (this.#isFinishing) return;
    // It may be older than our ownership, so a loss is looked at again.
    if (!position?.live || position.epoch !== this.#owned.epoch) return void this.#look();
    this.#obey(position);
  }

  async #look(): Promise<void> {
    try {
      const position = (await this.#host.store.log.positions([this.key])).get(this.key);
      if (this.#isFinishing) return;
      if (!position?.live || position.epoch !== this.#owned.epoch) this.#lose('fenced');
      else this.#obey(position);
    } catch (error) {
      this.#host.onError(error);
    }
  }

  #obey({ stop, stopReason }: RunPosition): void {
    if (stop) this.stop({ by: 'user', ...(stopReason !== undefined && { message: stopReason }) });
    if (this.#questions.size > 0) void this.#fetchAnswers();
  }

  async #fetchAnswers(): Promise<void> {
    if (this.#isFetching) return;
    this.#isFetching = true;
    try {
      const { registry } = this.#host.store;
      const decisions = await registry.listDecisions(this.#owned.run.scope, { run: this.key });
      for (const { id: questionId, state, answer, answeredBy } of decisions) {
        if (state === 'open' || !this.#questions.has(questionId)) continue;
        this.#questions.delete(questionId);
        const given: Answer =
          answer && 'questionId' in answer ? answer : { questionId, cancelled: true, reason: `It was ${state}.` };
        this.#answers.push(answeredBy === undefined ? given : { by: answeredBy, ...given });
      }
      if (this.#questions.size === 0) await this.#setWaiting(false);
    } catch (error) {
      this.#host.onError(error);
    }
    this.#isFetching = false;
  }

  /** Another process owns the run, or it has been ended or deleted: nothing more is said here. */
  #lose(reason: RunLostReason): void {
    if (this.#isFinishing) return;
    if (!this.#abort.signal.aborted) this.#abort.abort({ by: 'system', message: reason });
    this.#writer.close();
    this.#leaveSource();
  }

  #leaveSource(): void {
    this.#reader?.cancel(this.#abort.signal.reason).catch(() => undefined);
  }

  async #finish(): Promise<FinishResult> {
    const end = this.#end;
    if (this.#writer.lost === 'regressed' && this.#list?.message) return this.#finishAnew();
    if (!end || this.#writer.lost) return { result: 'fenced' };
    const { registry, log } = this.#host.store;
    try {
      // What is before the end goes first: nobody is told of an end that the registry does not know.
      await this.#writer.barrier();
    } catch (error) {
      if (error instanceof RunLostError) return this.#finish();
      throw error;
    }
    this.#isFinishing = true;
    this.#writer.write(end);
    let last = 0;
    const result = await this.#writer.finish((rest) => {
      last = rest.nextSeq + rest.events.length - 1;
      return registry.finish(this.key, this.#owned.epoch, this.#ending(end, rest));
    });
    if (result.result === 'ok') await log.close(this.key, last).catch(this.#host.onError);
    return result;
  }

  #ending(end: EventOf<'run-end'>, rest: UnwrittenEnd): Parameters<Store['registry']['finish']>[2] {
    const { content, state, sourceState } = this.#list!.message!;
    const outcome = outcomeOf(end);
    return {
      ...rest,
      outcome,
      content,
      decisions: decisionsOf(outcome, content),
      continuation: {
        runId: generateId(),
        process: this.#host.process,
        input: continuedInput(this.#owned.run),
      },
      ...(end.usage && { usage: end.usage }),
      ...(state !== undefined && { state }),
      ...(sourceState !== undefined && { sourceState }),
    };
  }

  /** The database has lost commits: what is known here is the whole message, so the run is owned anew and ended with it. */
  async #finishAnew(): Promise<FinishResult> {
    const { registry } = this.#host.store;
    const { key } = this;
    this.#isFinishing = true;
    await this.#persist(() => registry.stop(this.#owned.run.scope, key, 'log-lost'));
    const owned = await this.#persist(() => registry.fence(key, this.#host.process, 0));
    if (!owned) return { result: 'fenced' };
    const error = { message: 'The database lost a part of the log. The message is whole.', code: 'log-lost' };
    const end: EventOf<'run-end'> = { type: 'run-end', outcome: 'error', error, at: Date.now() };
    if (!this.#end) this.#list!.feed(end);
    const rest = { nextSeq: owned.nextSeq, events: [end] };
    return this.#persist(() => registry.finish(key, owned.epoch, this.#ending(end, rest)));
  }

  /** A store that is away for a moment comes back; a run that is lost meanwhile is not worth the wait. */
  async #persist<Result>(call: () => Promise<Result>): Promise<Result> {
    for (let attempt = 0; ; attempt++) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
        return await call();
      } catch (error) {
        if (attempt >= 8) throw error;
        this.#host.onError(error);
        // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
        await new Promise((resolve) => setTimeout(resolve, 40 * 2 ** attempt));
      }
    }
  }
}
