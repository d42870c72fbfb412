import {
  createPartIds,
  toJson,
  type AgentEvent,
  type Codec,
  type Emit,
  type End,
  type Fault,
  type Json,
  type JsonObject,
  type OnLoss,
  type ResumePoint,
  type RunInput,
} from '@intertie/core';
import {
  asFields,
  asNonEmptyText,
  asNumber,
  asText,
  defined,
  isEventType,
  isFields,
  type PartIds,
} from '@intertie/core/internal';
import { isInterrupted, isTerminal, type A2APart } from '../shared/a2a-types.ts';
import { readExtension } from '../shared/extension.ts';
import { ArtifactDecoder } from './decode-artifacts.ts';
import { decodeInputs, toTextQuestionId } from './decode-inputs.ts';
import { readKnownParts, type A2AToken, type LoggedEvents } from './known-parts.ts';

export interface A2ADecoderOptions {
  /** Point at which the run is resumed. The decoder repeats nothing of it. */
  from?: ResumePoint;
  onLoss?: OnLoss;
}

/**
 * Creates the decoder from items of an A2A stream to canonical events. A stream may begin with a task that contains artifacts which
 * the run already has, after a pause, a lost connection or a crash: only the new content is emitted.
 */
export function createA2ADecoder(run: RunInput, options: A2ADecoderOptions = {}): Codec<unknown, AgentEvent> {
  return new A2ADecoder(run, options);
}

/** Events that a remote agent may not write: they belong to the run of this process. */
const ownTypes: ReadonlySet<unknown> = new Set(['run-start', 'run-end', 'checkpoint']);

class A2ADecoder implements Codec<unknown, AgentEvent> {
  #onLoss: OnLoss;
  #ids: PartIds;
  #artifacts: ArtifactDecoder;
  #token: A2AToken = {};
  #hasCheckpoint = false;
  #isEnded = false;
  /** Questions and calls that the run or its message has already. */
  #asked: Set<string>;
  #answered: Set<string>;
  #logged: LoggedEvents;
  /** Number of the last event of each remote run. */
  #positions = new Map<unknown, number>();
  #lastNotice = '';

  constructor(run: RunInput, { from, onLoss = () => undefined }: A2ADecoderOptions) {
    this.#onLoss = onLoss;
    this.#ids = createPartIds(run, from);
    const known = readKnownParts(run, from);
    this.#asked = known.asked;
    this.#answered = known.answered;
    this.#logged = known.logged;
    this.#artifacts = new ArtifactDecoder(this.#ids, known.parts, onLoss);
    this.#token = known.token;
    this.#hasCheckpoint = from !== undefined && known.token.taskId !== undefined;
  }

  feed(item: unknown, emit: Emit<AgentEvent>): void {
    if (this.#isEnded) return this.#onLoss({ kind: 'late', what: 'A2A item', why: 'The task has ended.' });
    const { result, error, jsonrpc } = asFields(item);
    if (jsonrpc !== undefined && isFields(error))
      return this.#endRun({ outcome: 'error', error: toFault(error) }, emit);
    const { task, message, statusUpdate, artifactUpdate } = asFields(jsonrpc === undefined ? item : result);
    if (isFields(task)) return this.#decodeTask(task, emit);
    if (isFields(message)) return this.#decodeMessage(message, emit);
    if (isFields(statusUpdate)) return this.#decodeStatusUpdate(statusUpdate, emit);
    if (isFields(artifactUpdate)) return this.#decodeArtifactUpdate(artifactUpdate, emit);
    emit({ type: 'raw', dialect: 'a2a', value: toJson(item) });
  }

  end(_end: End): void {}

  #decodeTask(task: { readonly [key: string]: unknown }, emit: Emit<AgentEvent>): void {
    this.#adoptIds(task.id, task.contextId, emit);
    for (const item of asList(readExtension(task).items)) if (!this.#isEnded) this.feed(item, emit);
    if (this.#isEnded) return;
    for (const artifact of asList(task.artifacts)) {
      this.#artifacts.decode({ artifact, append: false, lastChunk: false }, emit);
    }
    this.#decodeStatus(task.status, readExtension(task), emit);
  }

  /** A message instead of a task is the complete answer. */
  #decodeMessage(message: { readonly [key: string]: unknown }, emit: Emit<AgentEvent>): void {
    this.#adoptIds(undefined, message.contextId, emit);
    const artifactId = asNonEmptyText(message.messageId) ?? this.#ids.next();
    this.#artifacts.decode({ artifact: { ...message, artifactId }, append: false, lastChunk: true }, emit);
    this.#endRun({ outcome: 'complete' }, emit);
  }

  #decodeArtifactUpdate(update: { readonly [key: string]: unknown }, emit: Emit<AgentEvent>): void {
    this.#adoptIds(update.taskId, update.contextId, emit);
    const { artifact, append, lastChunk } = update;
    this.#artifacts.decode({ artifact, append: append === true, lastChunk: lastChunk === true }, emit);
  }

  #decodeStatusUpdate(update: { readonly [key: string]: unknown }, emit: Emit<AgentEvent>): void {
    this.#adoptIds(update.taskId, update.contextId, emit);
    const extension = readExtension(update);
    if (isFields(extension.event)) this.#decodeEvent(extension.event, extension.position, emit);
    else this.#decodeStatus(update.status, extension, emit);
  }

  /** Passes on an event of the extension. The seal checks its shape. */
  #decodeEvent(event: { readonly [key: string]: unknown }, position: unknown, emit: Emit<AgentEvent>): void {
    const { run, n } = asFields(position);
    if (typeof n === 'number') {
      if (n <= (this.#positions.get(run) ?? 0)) return;
      this.#positions.set(run, n);
    }
    const { type, questionId, toolCallId } = event;
    if (!isEventType(type) || ownTypes.has(type)) {
      this.#onLoss({ kind: 'repaired', what: `event ${String(type)}`, why: 'An A2A agent may not send it.' });
      return;
    }
    const fresh = this.#logged.skip(event as unknown as AgentEvent);
    if (!fresh) return;
    if (type === 'answer' && this.#answered.has(String(questionId))) return;
    if (type === 'question') this.#asked.add(String(questionId));
    if (type === 'tool-call') this.#asked.add(String(toolCallId));
    emit(fresh);
  }

  #decodeStatus(value: unknown, extension: { readonly [key: string]: unknown }, emit: Emit<AgentEvent>): void {
    const { state, message, timestamp } = asFields(value);
    const parts = asList(asFields(message).parts) as A2APart[];
    const at = Date.parse(asText(timestamp) ?? '');
    const time = Number.isNaN(at) ? {} : { at };
    if (isFields(extension.end)) return this.#endWithExtension(extension.end, emit);
    const text = toText(parts);
    if (isTerminal(state)) return this.#decodeTerminal(state, text, { message, ...time }, emit);
    if (isInterrupted(state)) {
      const key = toTextQuestionId(this.#token.taskId, value);
      const waitingFor = decodeInputs({ parts, text, key, asked: this.#asked, ...time }, emit);
      return this.#endRun({ outcome: 'paused', waitingFor, ...time }, emit);
    }
    // A task repeats its status whenever a client subscribes.
    if (text === '' || text === this.#lastNotice) return;
    this.#lastNotice = text;
    emit({ type: 'notice', level: 'info', message: text, ...time });
  }

  #decodeTerminal(
    state: unknown,
    text: string,
    { message, ...time }: { message: unknown; at?: number },
    emit: Emit<AgentEvent>,
  ): void {
    switch (state) {
      case 'TASK_STATE_COMPLETED':
        // Many agents answer in the message of the last status instead of an artifact.
        if (text !== '' && !this.#artifacts.hasText(text)) {
          const artifactId = asNonEmptyText(asFields(message).messageId) ?? this.#ids.next();
          this.#artifacts.decode(
            { artifact: { ...asFields(message), artifactId }, append: false, lastChunk: true },
            emit,
          );
        }
        return this.#endRun({ outcome: 'complete', ...time }, emit);
      case 'TASK_STATE_CANCELED':
        return this.#endRun(
          { outcome: 'aborted', by: 'system', reason: text || 'The agent canceled the task.', ...time },
          emit,
        );
      default: {
        const code = state === 'TASK_STATE_REJECTED' ? 'a2a-rejected' : 'a2a-failed';
        const fallback = code === 'a2a-rejected' ? 'The agent rejected the task.' : 'The task failed.';
        return this.#endRun({ outcome: 'error', error: { message: text || fallback, code }, ...time }, emit);
      }
    }
  }

  #endWithExtension(end: { readonly [key: string]: unknown }, emit: Emit<AgentEvent>): void {
    this.#isEnded = true;
    emit({ ...(end as JsonObject), type: 'run-end', resume: this.#toToken() } as AgentEvent);
  }

  #endRun(end: RunEndFields, emit: Emit<AgentEvent>): void {
    this.#isEnded = true;
    emit({ type: 'run-end', ...end, resume: this.#toToken() } as AgentEvent);
  }

  #adoptIds(taskId: unknown, contextId: unknown, emit: Emit<AgentEvent>): void {
    const given = defined({ taskId: asNonEmptyText(taskId), contextId: asNonEmptyText(contextId) });
    this.#token = { ...this.#token, ...given };
    if (this.#hasCheckpoint || given.taskId === undefined) return;
    this.#hasCheckpoint = true;
    emit({ type: 'checkpoint', token: this.#toToken() });
  }

  #toToken(): JsonObject {
    return { ...this.#token };
  }
}

type RunEndFields = { at?: number } & (
  | { outcome: 'complete' }
  | { outcome: 'paused'; waitingFor: Json }
  | { outcome: 'aborted'; by: 'system'; reason: string }
  | { outcome: 'error'; error: Fault }
);

function toFault(error: { readonly [key: string]: unknown }): Fault {
  const { message, code } = error;
  return { message: asNonEmptyText(message) ?? 'The agent reported an error.', code: `a2a${asNumber(code) ?? ''}` };
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function toText(parts: readonly A2APart[]): string {
  return parts.map((part) => asText(asFields(part).text) ?? '').join('');
}
