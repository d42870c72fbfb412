import {
  DatabaseUnavailableError,
  MessageList,
  RunLostError,
  toBlobUrl,
  toFault,
  type AgentEvent,
  type CanonicalMessage,
  type End,
  type EventOf,
  type Fault,
  type Json,
  type Outcome,
  type ResumePoint,
  type RunControl,
  type RunInput,
  type RunRecord,
  type Store,
} from '@intertie/core';
import {
  createResumePoint,
  decodeBase64,
  defined,
  readLog,
  sealStream,
  toAbortEnd,
  type RunFlusher,
  type RunWatcher,
  type RunWriter,
  type SealedStream,
  type StopReason,
} from '@intertie/core/internal';
import {
  collectDecisions,
  type Blobs,
  type FinishResult,
  type Ownership,
  type RunKey,
  type RunLostReason,
  type RunPosition,
  type Scope,
  type Waiting,
} from '@intertie/core/store';
import { context } from '@opentelemetry/api';
import type { AgentDefinition } from './agent-definition.ts';
import { toFinishRequest, finishAfterLogLoss } from './finish-run.ts';
import { FileResolver } from '../history/file-resolver.ts';
import { LiveQuestions } from './live-questions.ts';
import type { MessageStoreAdapter } from '../history/message-store-adapter.ts';
import { findMessageStoreAdapter } from '../history/message-store.ts';
import { OwnershipWatch } from './ownership-watch.ts';
import { persist, type PersistOptions } from './persist.ts';
import { prepareRun, getTrace, type PreparedRun } from './prepare-run.ts';
import { RecordedCalls } from './recorded-calls.ts';
import { RunningTools } from './running-tools.ts';
import type { Observe } from '../telemetry/run-observer.ts';
import { RunTelemetry } from '../telemetry/run-telemetry.ts';
import { RunUsage } from '../telemetry/run-usage.ts';
import { toStoredEvent, toStoredMessage } from '../history/store-reasoning.ts';

/** The services of a `RunHost` that an execution uses. */
export type ExecutionHost = {
  readonly store: Store;
  readonly process: string;
  readonly flusher: RunFlusher;
  readonly watcher: RunWatcher;
  /** Maximum time that a run waits for an unreachable database; see `RunHostOptions`. */
  readonly maxOutageMs: number;
  readonly onError: (error: unknown) => void;
  readonly observe: Observe;
  readonly onRunError: (run: RunRecord, error: Fault) => void;
  /** Whether another process may have taken over the runs of this one. */
  readonly isLeaseUncertain: boolean;
  renewLease(): Promise<void>;
};

/** Events that every run has, whether or not its source sends anything. */
const alwaysPresent: ReadonlySet<AgentEvent['type']> = new Set(['run-start', 'message-snapshot', 'run-end']);

/** Events that a run has before the first event of its source. */
const openingTypes: ReadonlySet<AgentEvent['type']> = new Set(['run-start', 'message-snapshot', 'state-snapshot']);

/** Another process continues the run: its source must not cancel the remote task. */
const handOver: StopReason = { by: 'system', message: 'hand-over' };

/** Maximum time for releasing a run at shutdown. */
const handOverMs = 2_000;

/** Maximum time that a source may take to end after a stop. Then its stream is ended for it. */
const stopGraceMs = 600;

/** Base64 length of 32 kB. Larger files are stored as blobs, because every reader of the log would receive them. */
const maxInlineLength = Math.ceil((32 * 1024) / 3) * 4;

/**
 * Executes one run from its ownership to its end: reads the sealed events of the source, folds and logs them, and writes the
 * end. The run ends exactly once, unless another process takes it over.
 */
export class Execution {
  readonly key: RunKey;
  readonly definition: AgentDefinition;
  /** Rejects if the run was not ended. The process still owns it and ends it with `failure`. */
  readonly done: Promise<FinishResult>;
  /** End of the run that the host writes after `done` was rejected. */
  failure: End | undefined;
  #host: ExecutionHost;
  #owned: Ownership;
  #writer: RunWriter;
  #watch: OwnershipWatch;
  #telemetry: RunTelemetry;
  #questions: LiveQuestions;
  #adapter: MessageStoreAdapter | undefined;
  #calls = new RecordedCalls();
  #tools = new RunningTools();
  #usage = new RunUsage();
  #abort = new AbortController();
  #persistOptions: PersistOptions;
  #graceTimer: ReturnType<typeof setTimeout> | undefined;
  #sealed: SealedStream | undefined;
  #reader: ReadableStreamDefaultReader<AgentEvent> | undefined;
  #list = new MessageList();
  #end: EventOf<'run-end'> | undefined;
  #isFinishing = false;
  /** The run is handed over as soon as no tool runs in this process. */
  #isLeaving = false;
  /** The run is given up without an end, for another process to continue. */
  #isHandingOver = false;
  /** Token of the last checkpoint. */
  #token: Json | undefined;
  #hasSentDelta = false;
  /** Start of the run in this process, until its source has sent an event. */
  #startedAt: number | undefined = performance.now();
  /** Stored message of a continuation. Cleared by the first `message-snapshot`. */
  #baseline: PreparedRun['message'] | undefined;

  constructor(host: ExecutionHost, definition: AgentDefinition, owned: Ownership) {
    this.#host = host;
    this.#owned = owned;
    this.key = owned.run.key;
    this.definition = definition;
    this.#adapter = findMessageStoreAdapter(host.store);
    this.#telemetry = new RunTelemetry(owned.run, getTrace(owned.run));
    const { maxOutageMs, onError } = host;
    this.#persistOptions = { maxOutageMs, onError, signal: this.#abort.signal };
    this.#questions = new LiveQuestions(host.store.registry, owned, this.#persistOptions);
    this.#writer = host.flusher.open(owned, {
      onStop: () => void this.#watch.check(),
      onLost: (reason) => this.#loseOwnership(reason),
    });
    this.#watch = new OwnershipWatch(host, owned, {
      onOwned: (position) => this.#applyControl(position),
      onLost: (reason) => this.#loseOwnership(reason),
    });
    this.done = context.with(this.#telemetry.context, () => this.#run());
  }

  /** How the run ended; undefined until its source has ended. A source that cannot continue a run ends it as `lost`. */
  get result(): Outcome['outcome'] | 'lost' | undefined {
    const end = this.#end;
    return end?.outcome === 'error' && end.error.code === 'lost' ? 'lost' : end?.outcome;
  }

  /** Stops the source. The events that it has already produced are stored. */
  stop(reason: StopReason): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort(reason);
    this.#startGracePeriod();
  }

  /** Hands the run over as soon as it can continue and its tools have stored their results, at once if none runs. */
  handOverWhenIdle(): void {
    this.#isLeaving = true;
    if (!this.definition.source.executesTools || this.#tools.isIdle) this.handOver();
  }

  /**
   * Gives the run up for another process: stores what the source has emitted and releases it. Returns false if the run is ending, or
   * if no other process can continue it.
   */
  handOver(): boolean {
    if (this.#abort.signal.aborted || this.#end || this.#isFinishing || !this.#canResume()) return false;
    this.#isHandingOver = true;
    this.#abort.abort(handOver);
    this.#cancelSource();
    return true;
  }

  #canResume(): boolean {
    const { source } = this.definition;
    return source.resume !== undefined && (source.canResume?.(this.#token) ?? true);
  }

  #startGracePeriod(): void {
    clearTimeout(this.#graceTimer);
    this.#graceTimer = setTimeout(() => this.#sealed?.end(this.#toEnd({ reason: 'eof' })), stopGraceMs);
  }

  async #run(): Promise<FinishResult> {
    const { run } = this.#owned;
    let result: FinishResult = { result: 'fenced' };
    try {
      if (this.#adapter) await this.#adapter.savePrompt(run);
      const store = this.#host.store.forScope(run.scope);
      const prepare = (): Promise<PreparedRun> => prepareRun(store, this.#owned, this.definition);
      await this.#produce(await persist(prepare, { ...this.#persistOptions, maxErrorMs: 0 }));
      result = await this.#finish();
      return result;
    } catch (error) {
      if (this.#isHandingOver) return await this.#release();
      this.failure = this.#toEnd({ reason: 'error', error: toFault(error) });
      // The host ends the run, so a loss of ownership from here on is not handled here.
      this.#isFinishing = true;
      this.#writer.close();
      throw error;
    } finally {
      this.#watch.close();
      clearTimeout(this.#graceTimer);
      this.#questions.answers.close();
      if (result.result === 'fenced') this.#telemetry.abandon();
      this.#cancelSource();
      // Aborts tools that are still running.
      if (!this.#abort.signal.aborted) this.#abort.abort({ by: 'system', message: 'The run is over.' });
    }
  }

  async #produce({ input, message }: PreparedRun): Promise<void> {
    this.#list.add(message);
    if (input.message) this.#baseline = message;
    const from = this.#owned.epoch > 1 ? await this.#restore(input, message) : undefined;
    if (this.#isHandingOver) return;
    this.#sealed = sealStream(this.#openSource(input, from), input, {
      onLoss: this.definition.onLoss,
      log: from?.events,
      signal: this.#abort.signal,
      drainMs: stopGraceMs,
    });
    this.#reader = this.#sealed.events.getReader();
    // The run was stopped while it was being prepared, and the source may ignore a signal that is already aborted.
    if (this.#abort.signal.aborted) this.#startGracePeriod();
    while (!this.#end) {
      await this.#writer.waitForRoom();
      if (this.#writer.lost || this.#isHandingOver) return;
      const { done, value } = await this.#reader.read();
      if (this.#writer.lost || this.#isHandingOver) return;
      // The seal ends every stream with `run-end`, so this is a bug of the seal.
      if (done) throw new Error('The source closed its stream without `run-end`.');
      await this.#handleEvent(value)?.catch((error: unknown) => this.#endByOutage(error));
      if (this.#isLeaving) this.handOverWhenIdle();
    }
  }

  /** Restores the state of a run that another process has begun from its log. */
  async #restore(input: RunInput, message: CanonicalMessage): Promise<ResumePoint> {
    const { run, epoch } = this.#owned;
    const events = await persist(() => readLog(this.#host.store.log, run.key), this.#persistOptions);
    if (events.at(-1)?.type === 'run-end') throw new Error(`The log of run "${run.runId}" has its end already.`);
    // An empty log has no ids that new ones could repeat.
    if (events.length > 0) input.epoch = epoch;
    for (const event of events) {
      this.#list.feed(event);
      this.#usage.record(event);
      if (event.type === 'message-snapshot') this.#withStoredContent(event);
      if (event.type === 'tool-call') this.#calls.add(event.toolCallId);
      this.#tools.record(event);
    }
    this.#telemetry.recordTakeover(epoch);
    const from = createResumePoint(message, events);
    this.#token = from.token;
    if (events.some(({ type }) => !openingTypes.has(type))) {
      const text = 'The process that executed the run has stopped. Another process continues the run.';
      const data = { epoch, ...defined({ attempts: run.attempts }) };
      this.#write({ type: 'notice', level: 'info', code: 'recovered', message: text, data, at: Date.now() });
      this.#flushNow();
    }
    const files = new FileResolver(this.#host.store.blobs, run.scope, this.definition.onLoss);
    return { ...from, message: { ...from.message, content: await files.resolveContent(from.message.content) } };
  }

  #openSource(input: RunInput, from: ResumePoint | undefined): ReadableStream<AgentEvent> {
    try {
      const { source } = this.definition;
      // A process that stopped before its first commit has left nothing to continue.
      if (from && from.events.length > 0 && source.resume) return source.resume(input, from, this.#control());
      return source.run(input, this.#control());
    } catch (error) {
      return new ReadableStream({ start: (controller) => controller.error(error) });
    }
  }

  /** Ends the run with everything that the source has produced. The end is stored when the database is back. */
  #endByOutage(error: unknown): void {
    if (!(error instanceof DatabaseUnavailableError)) throw error;
    this.#sealed?.end(this.#toEnd({ reason: 'error', error: toFault(error) }));
    if (!this.#abort.signal.aborted) this.#abort.abort({ by: 'system', message: error.code });
  }

  /** After a stop the run ends as aborted, whatever ended it. */
  #toEnd(end: End): End {
    const { aborted, reason } = this.#abort.signal;
    return aborted ? toAbortEnd(reason) : end;
  }

  /** Folds and logs one event. Returns a promise only if that takes time. */
  #handleEvent(emitted: AgentEvent): Promise<void> | undefined {
    if (this.#startedAt !== undefined && !alwaysPresent.has(emitted.type)) this.#reportFirstEvent(this.#startedAt);
    const event = toStoredEvent(emitted, this.definition.storeReasoning);
    if (!event) return undefined;
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
      case 'tool-input-delta':
        this.#write(event);
        return this.#hasSentDelta ? undefined : this.#flushFirstDelta();
      case 'file':
        return isLargeFile(event) ? this.#storeFile(event) : this.#write(event);
      case 'question':
        return event.automatic
          ? this.#write(event)
          : this.#ask(event, { type: 'question', questionId: event.questionId });
      case 'tool-call':
        this.#telemetry.record(event);
        return event.executor === 'client' && !event.invalid
          ? this.#ask(event, { type: 'tool', toolCallId: event.toolCallId })
          : this.#write(event);
      case 'tool-result':
        this.#telemetry.record(event);
        this.#write(event);
        return this.#flushNow();
      case 'answer':
        this.#write(event);
        return this.#questions.settle(event.questionId);
      case 'message-snapshot':
        this.#telemetry.record(event);
        return this.#write(this.#withStoredContent(event));
      case 'checkpoint': {
        this.#write(event);
        const isFirst = this.#token === undefined;
        this.#token = event.token;
        // The first one names the remote task, which would be orphaned without it.
        return isFirst ? this.#flushNow() : undefined;
      }
      case 'run-end':
        this.#telemetry.record(event);
        this.#list.feed(event);
        return this.#setEnd(event);
      case 'notice':
        if (event.level === 'error') this.#reportNotice(event);
        this.#telemetry.record(event);
        return this.#write(event);
      default:
        this.#telemetry.record(event);
        this.#usage.record(event);
        return this.#write(event);
    }
  }

  #setEnd(event: EventOf<'run-end'>): undefined {
    this.#end = event;
    if (event.outcome === 'error') this.#host.onRunError(this.#owned.run, event.error);
    return undefined;
  }

  /** Servers do not send the text to clients, and the run may continue without failing, so it is reported here. */
  #reportNotice({ message }: EventOf<'notice'>): void {
    this.#host.onError(new Error(`Run "${this.#owned.run.runId}": ${message}`));
  }

  #reportFirstEvent(startedAt: number): void {
    this.#startedAt = undefined;
    this.#host.observe('firstEvent', { agent: this.#owned.run.agent, ms: performance.now() - startedAt });
  }

  #write(event: AgentEvent): undefined {
    this.#list.feed(event);
    this.#log(event);
    return undefined;
  }

  #log(event: AgentEvent): void {
    this.#writer.write(event);
    if (!event.type.endsWith('-delta')) this.#tools.record(event);
    if (event.type === 'tool-call') this.#calls.add(event.toolCallId);
  }

  /** Flushes the first delta without waiting for the next tick, to reduce the time to first token. */
  #flushFirstDelta(): undefined {
    this.#hasSentDelta = true;
    return this.#flushNow();
  }

  /** Flushes immediately, because a client is waiting for this event. The source does not wait for the flush. */
  #flushNow(): undefined {
    this.#writer.barrier().catch(() => undefined);
    return undefined;
  }

  async #storeFile(event: EventOf<'file'>): Promise<void> {
    const { run } = this.#owned;
    try {
      this.#write(await storeFile(this.#host.store.blobs, run.scope, run, event));
    } catch (error) {
      // The blob is too large or the store is unavailable: logs the bytes inline.
      this.#host.onError(error);
      this.#write(event);
    }
  }

  /** Persists the decision before publishing the question, so every published question can be answered. */
  async #ask(event: EventOf<'question' | 'tool-call'>, waiting: Waiting): Promise<void> {
    const { registry } = this.#host.store;
    this.#list.feed(event);
    const decisions = collectDecisions({ outcome: 'paused', waitingFor: [waiting] }, this.#list.message!.content);
    let asked: Awaited<ReturnType<typeof registry.openDecisions>>;
    try {
      asked = await persist(() => registry.openDecisions(this.key, this.#owned.epoch, decisions), this.#persistOptions);
    } catch (error) {
      // The message has the question, so the log has it too. The end of the run follows.
      this.#log(event);
      throw error;
    }
    if (asked !== 'ok') return this.#watch.check();
    this.#log(event);
    this.#flushNow();
    const isLive = this.definition.source.pauses === 'live' && event.type === 'question';
    if (isLive) await this.#questions.ask(event.questionId);
  }

  /** The source received files as bytes. The log refers to their blobs, as the stored message does. */
  #withStoredContent(event: EventOf<'message-snapshot'>): EventOf<'message-snapshot'> {
    const content = this.#baseline?.content ?? event.content;
    this.#baseline = undefined;
    for (const part of content.parts) if (part.type === 'tool-invocation') this.#calls.add(part.toolCallId);
    return { ...event, content };
  }

  #control(): RunControl {
    return {
      signal: this.#abort.signal,
      barrier: (toolCallId) => this.#barrier(toolCallId),
      liveAnswers: this.#questions.answers,
    };
  }

  async #barrier(toolCallId?: string): Promise<void> {
    const { signal } = this.#abort;
    if (toolCallId !== undefined) await this.#calls.wait(toolCallId, signal);
    const passed = await this.#writer.barrier();
    // The commit of the call proves nothing if the process was blocked since.
    if (toolCallId !== undefined && this.#host.isLeaseUncertain) await this.#confirmOwnership();
    if (passed === 'stop') void this.#watch.check();
    if (passed === 'stop' || signal.aborted) throw new Error('The run was stopped before the tool ran.');
    if (toolCallId !== undefined) this.#telemetry.startTool(toolCallId);
  }

  /** Loses the run if another process has taken it over. The lease is renewed first, so that none can do so afterwards. */
  async #confirmOwnership(): Promise<void> {
    const confirm = async (): Promise<void> => {
      await this.#host.renewLease();
      await this.#watch.confirm();
    };
    await persist(confirm, this.#persistOptions);
  }

  #applyControl({ stop, stopReason }: RunPosition): void {
    if (stop) this.stop({ by: 'user', ...(stopReason !== undefined && { message: stopReason }) });
    void this.#questions.fetch();
  }

  /** Another process owns the run, or it was ended or deleted: discards all further events. */
  #loseOwnership(reason: RunLostReason): void {
    if (this.#isFinishing) return;
    // After `closed`, the process that takes over this one's runs continues the run.
    const isContinued = (reason === 'fenced' || reason === 'closed') && this.#canResume();
    const stopReason: StopReason = isContinued ? handOver : { by: 'system', message: reason };
    if (!this.#abort.signal.aborted) this.#abort.abort(stopReason);
    this.#writer.close();
    this.#cancelSource();
  }

  #cancelSource(): void {
    this.#reader?.cancel(this.#abort.signal.reason).catch(() => undefined);
  }

  /** Stores everything that was logged and releases the run. */
  async #release(): Promise<FinishResult> {
    try {
      await this.#writer.barrier();
      this.#isFinishing = true;
      const { registry, hints } = this.#host.store;
      const released = await persist(() => registry.release(this.key, this.#owned.epoch), {
        maxOutageMs: handOverMs,
        maxErrorMs: handOverMs,
        onError: this.#host.onError,
      });
      if (released === 'ok') {
        // Other processes take the run over without waiting for their next sweep.
        hints.publish({ type: 'released', run: this.key });
        this.#host.observe('handedOver', { agent: this.#owned.run.agent });
      }
    } catch (error) {
      // The lease ends with the process, so the run is taken over in any case.
      this.#host.onError(error);
    }
    this.#writer.close();
    return { result: 'fenced' };
  }

  async #finish(): Promise<FinishResult> {
    if (this.#isHandingOver) return this.#release();
    const end = this.#end;
    const message = this.#list.message && toStoredMessage(this.#list.message, this.definition.storeReasoning);
    if (this.#writer.lost === 'regressed' && message) {
      this.#isFinishing = true;
      const { maxOutageMs, onError } = this.#host;
      return finishAfterLogLoss(this.#host, this.#owned, message, { maxOutageMs, onError });
    }
    if (!end || !message || this.#writer.lost) return { result: 'fenced' };
    try {
      // Flushes everything before the end: readers see an end only after the registry has it.
      await this.#writer.barrier();
    } catch (error) {
      // `lost` is set now, so this call takes one of the branches above.
      if (error instanceof RunLostError) return this.#finish();
      throw error;
    }
    const response = this.#adapter ? await this.#adapter.saveResponse(message, end) : { message, end };
    if (response.end !== end) this.#setEnd(response.end);
    this.#isFinishing = true;
    this.#writer.write(response.end);
    const { registry, log } = this.#host.store;
    const { total: usage } = this.#usage;
    let last = 0;
    const ending = toFinishRequest(this.#owned.run, response.message, response.end, this.#host.process);
    const result = await this.#writer.finish((rest) => {
      last = rest.nextSeq + rest.events.length - 1;
      return registry.finish(this.key, this.#owned.epoch, { ...(usage && { usage }), ...ending, ...rest });
    });
    if (result.result === 'ok') await log.close(this.key, last).catch(this.#host.onError);
    return result;
  }
}

function isLargeFile(event: EventOf<'file'>): boolean {
  return event.data !== undefined && event.data.length > maxInlineLength;
}

/** Stores the bytes in a blob that the run's message refers to, and returns the event with its URL. */
async function storeFile(
  blobs: Blobs,
  scope: Scope,
  message: { threadId: string; messageId: string },
  event: EventOf<'file'>,
): Promise<EventOf<'file'>> {
  const { data, ...rest } = event;
  if (data === undefined) return event;
  const { sha256 } = await blobs.put(scope, {
    data: decodeBase64(data),
    ...(event.mimeType !== undefined && { mediaType: event.mimeType }),
  });
  await blobs.addReference(scope, sha256, message);
  return { ...rest, url: toBlobUrl(sha256) } as EventOf<'file'>;
}
