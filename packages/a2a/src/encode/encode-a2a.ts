import {
  MessageList,
  type AgentEvent,
  type Emit,
  type Encoder,
  type End,
  type EventOf,
  type Json,
} from '@intertie/core';
import { applyPatch, defined, omit } from '@intertie/core/internal';
import type {
  A2AArtifact,
  A2AMessage,
  A2APart,
  A2AStreamItem,
  A2ATaskState,
  A2ATaskStatus,
} from '../shared/a2a-types.ts';
import { eventsExtension, toExtensionMetadata, type ExtensionData } from '../shared/extension.ts';
import { OpenInputs } from './open-inputs.ts';
import { losses, partLosses } from './losses.ts';
import { toArtifacts, toFilePart } from './to-artifacts.ts';

export interface A2AEncoderOptions {
  /** Whether events that A2A cannot carry are sent as metadata of the extension `eventsExtension`. Default: false. */
  extension?: boolean;
  /** Messages of the task before the run, for the `task` item. */
  history?: A2AMessage[];
  onLoss?: (loss: { kind: 'unsupported' | 'withheld'; what: string; why: string; id?: string }) => void;
}

/** Events of a run so far, for a client that subscribes in the middle. */
export type A2AOpenState = { events: readonly AgentEvent[] };

/**
 * Creates the encoder from canonical events to items of an A2A stream. The task is the message, so a continuation of a paused run
 * writes the same task. Text becomes an artifact that grows; the end of the run becomes the last status.
 */
export function createA2AEncoder(options: A2AEncoderOptions = {}): Encoder<A2AStreamItem, A2AOpenState> {
  return new A2AEncoder(options);
}

const noPlace = 'A2A has no place for it. The extension can carry it.';

type OpenText = { isSent: boolean; start: ExtensionData['start']; isHidden: boolean; stepId: string | undefined };

class A2AEncoder implements Encoder<A2AStreamItem, A2AOpenState> {
  readonly version = '1.0';
  readonly optionsKey: string;
  #options: A2AEncoderOptions;
  #ids = { taskId: '', contextId: '' };
  #runId = '';
  #count = 0;
  #inputs = new OpenInputs();
  #texts = new Map<string, OpenText>();
  /** Artifacts of each open step, which are emptied if the step is discarded. */
  #steps = new Map<string, string[]>();
  /** Calls whose input is streamed. The start of the input reports their loss. */
  #streamedCalls = new Set<string>();
  #data = new Map<string, { name: string; data: Json }>();
  /** Start of a continuation. Its baseline follows and belongs to the same item. */
  #held: EventOf<'run-start'> | undefined;

  constructor(options: A2AEncoderOptions) {
    this.#options = options;
    this.optionsKey = options.extension ? 'events' : '';
  }

  feed(event: AgentEvent, emit: Emit<A2AStreamItem>): void {
    this.#count += 1;
    if (event.type === 'message-snapshot') this.#adoptData(event);
    if (this.#held) {
      const start = this.#held;
      this.#held = undefined;
      const isBaseline = event.type === 'message-snapshot';
      this.#emitTask(start, isBaseline ? toArtifacts(event.content) : [], emit);
      if (isBaseline) {
        this.#reportBaseline(event);
        return this.#inputs.observe(event);
      }
    }
    this.#inputs.observe(event);
    switch (event.type) {
      case 'run-start':
        this.#ids = { taskId: event.messageId, contextId: event.threadId };
        this.#runId = event.runId;
        if (event.resumes !== undefined) this.#held = event;
        else this.#emitTask(event, [], emit);
        return;
      case 'text-start':
        return this.#startText(event, emit);
      case 'text-delta':
        return this.#appendText(event, emit);
      case 'text-end':
        return this.#endText(event, emit);
      case 'file':
        return this.#encodeFile(event, emit);
      case 'data':
      case 'data-delta':
        return this.#encodeData(event, emit);
      case 'message-snapshot':
        for (const artifact of toArtifacts(event.content)) this.#emitArtifact(artifact, { lastChunk: true }, emit);
        return this.#encodeOther(event, emit);
      case 'step-start':
        this.#steps.set(event.stepId, []);
        return this.#encodeOther(event, emit);
      case 'step-end':
        this.#endStep(event, emit);
        return this.#encodeOther(event, emit);
      case 'run-end':
        return this.#endRun(event, emit);
      case 'checkpoint':
        return;
      default:
        return this.#encodeOther(event, emit);
    }
  }

  end(_end: End, emit: Emit<A2AStreamItem>): void {
    if (this.#held) this.#emitTask(this.#held, [], emit);
    this.#held = undefined;
  }

  /**
   * Emits the task so far. With the extension, all events follow, because a task has no place for most of them: a client that has
   * some of them already recognizes them by their ids.
   */
  open({ events }: A2AOpenState, emit: Emit<A2AStreamItem>): void {
    const [start] = events;
    if (start?.type !== 'run-start') return;
    if (this.#options.extension) return events.forEach((event) => this.feed(event, emit));
    const list = new MessageList();
    const ends: A2AStreamItem[] = [];
    for (const event of events) {
      list.feed(event);
      this.feed(event, (item) => event.type === 'run-end' && ends.push(item));
    }
    this.#emitTask(start, list.message ? toArtifacts(list.message.content) : [], emit);
    ends.forEach(emit);
  }

  #emitTask(start: EventOf<'run-start'>, artifacts: A2AArtifact[], emit: Emit<A2AStreamItem>): void {
    const { taskId: id, contextId } = this.#ids;
    const { history } = this.#options;
    const status = toStatus('TASK_STATE_WORKING', start.at);
    emit({ task: { id, contextId, status, ...(artifacts.length > 0 && { artifacts }), ...(history && { history }) } });
  }

  #startText(event: EventOf<'text-start'>, emit: Emit<A2AStreamItem>): void {
    const { id, internal, stepId } = event;
    const text: OpenText = { isSent: false, start: this.#toFields(event), isHidden: internal === true, stepId };
    this.#texts.set(id, text);
    if (internal) return this.#encodeOther(event, emit);
    // An empty chunk preserves the order of parts.
    if (this.#options.extension) this.#emitText(id, text, '', {}, false, emit);
    else if (event.agentId !== undefined) this.#lose('author of a text', 'An artifact has no author.', id);
  }

  #appendText(event: EventOf<'text-delta'>, emit: Emit<A2AStreamItem>): void {
    const text = this.#texts.get(event.id);
    if (!text) return;
    if (text.isHidden) return this.#encodeOther(event, emit);
    const delta = this.#toFields(omit(event, 'delta'));
    this.#emitText(event.id, text, event.delta, { ...(delta && { delta }) }, false, emit);
  }

  #endText(event: EventOf<'text-end'>, emit: Emit<A2AStreamItem>): void {
    const text = this.#texts.get(event.id);
    this.#texts.delete(event.id);
    if (!text) return;
    if (text.isHidden) return this.#encodeOther(event, emit);
    if (event.citations && !this.#options.extension) this.#lose('citations', 'An artifact has none.', event.id);
    const end = this.#toFields(event);
    this.#emitText(event.id, text, '', { ...(end && { end }) }, true, emit);
  }

  #emitText(
    id: string,
    text: OpenText,
    delta: string,
    fields: ExtensionData,
    lastChunk: boolean,
    emit: Emit<A2AStreamItem>,
  ): void {
    const data = text.isSent || !text.start ? fields : { ...fields, start: text.start };
    const metadata = Object.keys(data).length > 0 ? toExtensionMetadata(data) : {};
    const artifact = { artifactId: id, parts: [{ text: delta }], ...metadata };
    if (!text.isSent) this.#steps.get(text.stepId ?? '')?.push(id);
    this.#emitArtifact(artifact, { append: text.isSent, lastChunk }, emit);
    text.isSent = true;
  }

  #encodeFile(event: EventOf<'file'>, emit: Emit<A2AStreamItem>): void {
    const part = event.internal ? undefined : toFilePart(event);
    if (!part) return this.#encodeOther(event, emit);
    const fields = omit(event, 'data' as never, 'url' as never, 'mimeType', 'filename');
    this.#emitWhole(event.id, { fields, part, name: event.filename, stepId: event.stepId }, emit);
  }

  #encodeData(event: EventOf<'data' | 'data-delta'>, emit: Emit<A2AStreamItem>): void {
    if (event.type === 'data' && (event.internal || event.transient)) return this.#encodeOther(event, emit);
    if (event.type === 'data') {
      this.#data.set(event.id, { name: event.name, data: event.data });
      const fields = omit(event, 'data', 'name');
      const { id, name, data, stepId } = event;
      return this.#emitWhole(id, { fields, part: { data }, name, stepId }, emit);
    }
    const known = this.#data.get(event.id);
    if (!known) return this.#encodeOther(event, emit);
    const patched = applyPatch(known.data, event.patch);
    if (patched.ok) known.data = patched.value;
    this.#emitWhole(event.id, { fields: event, part: { data: known.data }, name: known.name, stepId: undefined }, emit);
  }

  /** Remembers the data of a message, which later events may change. */
  #adoptData({ content }: EventOf<'message-snapshot'>): void {
    for (const part of content.parts) {
      if (part.type !== 'data' || part.id === undefined || part.internal) continue;
      this.#data.set(part.id, { name: part.name ?? 'data', data: part.data });
    }
  }

  /** Emits an artifact with one part. With the extension, its metadata contain the other fields of the event. */
  #emitWhole(
    artifactId: string,
    {
      fields,
      part,
      name,
      stepId,
    }: { fields: object; part: A2APart; name: string | undefined; stepId: string | undefined },
    emit: Emit<A2AStreamItem>,
  ): void {
    const start = this.#toFields(fields);
    const metadata = start ? toExtensionMetadata({ start }) : {};
    this.#steps.get(stepId ?? '')?.push(artifactId);
    this.#emitArtifact({ artifactId, ...defined({ name }), parts: [part], ...metadata }, { lastChunk: true }, emit);
  }

  #endStep({ stepId, discarded }: EventOf<'step-end'>, emit: Emit<A2AStreamItem>): void {
    const ids = this.#steps.get(stepId) ?? [];
    this.#steps.delete(stepId);
    // A2A cannot remove an artifact.
    if (!discarded || this.#options.extension) return;
    for (const artifactId of ids) this.#emitArtifact({ artifactId, parts: [{ text: '' }] }, { lastChunk: true }, emit);
  }

  #endRun(event: EventOf<'run-end'>, emit: Emit<A2AStreamItem>): void {
    const { taskId, contextId } = this.#ids;
    const extra = this.#toFields(omit(event, 'resume'));
    const status = this.#toEndStatus(event);
    const metadata = extra ? toExtensionMetadata({ end: extra }) : {};
    if (!extra && (event.usage || event.result !== undefined)) this.#lose('usage and result', 'A task has none.');
    emit({ statusUpdate: { taskId, contextId, status, ...metadata } });
  }

  #toEndStatus(event: EventOf<'run-end'>): A2ATaskStatus {
    switch (event.outcome) {
      case 'complete':
        return toStatus('TASK_STATE_COMPLETED', event.at);
      case 'aborted':
        return toStatus('TASK_STATE_CANCELED', event.at);
      case 'error':
        return toStatus('TASK_STATE_FAILED', event.at, this.#toMessage('error', [{ text: event.error.message }]));
      case 'paused': {
        // A run that waits for the next message has nothing to answer: the message starts a task in the same context.
        const isOpen = event.waitingFor.some(({ type }) => type !== 'message');
        if (!isOpen) return toStatus('TASK_STATE_COMPLETED', event.at);
        const parts = this.#inputs.toParts(event.waitingFor);
        return toStatus('TASK_STATE_INPUT_REQUIRED', event.at, this.#toMessage('input', parts));
      }
    }
  }

  #toMessage(kind: string, parts: A2APart[]): A2AMessage {
    const { taskId, contextId } = this.#ids;
    return { messageId: `${taskId}:${kind}`, taskId, contextId, role: 'ROLE_AGENT', parts };
  }

  #emitArtifact(
    artifact: A2AArtifact,
    { append = false, lastChunk }: { append?: boolean; lastChunk: boolean },
    emit: Emit<A2AStreamItem>,
  ): void {
    const extensions = artifact.metadata ? { extensions: [eventsExtension] } : {};
    const flags = { ...(append && { append }), ...(lastChunk && { lastChunk }) };
    emit({ artifactUpdate: { ...this.#ids, artifact: { ...artifact, ...extensions }, ...flags } });
  }

  /** Reports the parts of a continued message that the task leaves out. */
  #reportBaseline({ content }: EventOf<'message-snapshot'>): void {
    if (this.#options.extension) return;
    for (const part of content.parts) {
      const what = partLosses[part.type];
      const id = 'toolCallId' in part ? part.toolCallId : part.id;
      if (part.internal) this.#withhold(what ?? 'text between agents', id);
      else if (what !== undefined) this.#lose(what, noPlace, id);
    }
  }

  /** Sends an event as data of the extension, or reports its loss. */
  #encodeOther(event: AgentEvent, emit: Emit<A2AStreamItem>): void {
    if (this.#options.extension) {
      const status = toStatus('TASK_STATE_WORKING', event.at);
      const position = { run: this.#runId, n: this.#count };
      const data: ExtensionData = { event: omit(event, 'origin'), position };
      return emit({ statusUpdate: { ...this.#ids, status, ...toExtensionMetadata(data) } });
    }
    const loss = losses[event.type];
    if (event.type === 'tool-input-start') this.#streamedCalls.add(event.toolCallId);
    const isReported = event.type === 'tool-call' && this.#streamedCalls.delete(event.toolCallId);
    // The status of the paused task describes the calls that the client answers.
    const isAsked = 'executor' in event && event.executor === 'client';
    if (loss === undefined || isReported || isAsked) return;
    const id = 'id' in event ? event.id : 'toolCallId' in event ? event.toolCallId : undefined;
    if ('internal' in event && event.internal) this.#withhold(loss, id);
    else this.#lose(loss, noPlace, id);
  }

  #withhold(what: string, id: string | undefined): void {
    this.#options.onLoss?.({ kind: 'withheld', what, why: 'It is internal.', ...defined({ id }) });
  }

  #lose(what: string, why: string, id?: string): void {
    this.#options.onLoss?.({ kind: 'unsupported', what, why, ...defined({ id }) });
  }

  /** Returns the fields of an event that its item has no place for. Undefined without the extension. */
  #toFields(event: object): ExtensionData['start'] {
    if (!this.#options.extension) return undefined;
    const fields = omit(event as { type: string; id: string; origin: number }, 'type', 'id', 'origin');
    return Object.keys(fields).length > 0 ? fields : undefined;
  }
}

function toStatus(state: A2ATaskState, at: number | undefined, message?: A2AMessage): A2ATaskStatus {
  return { state, ...defined({ message }), ...(at !== undefined && { timestamp: new Date(at).toISOString() }) };
}
