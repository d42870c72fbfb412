import {
  capJson,
  createPartIds,
  toJson,
  validateEvent,
  type AgentEvent,
  type Codec,
  type Emit,
  type EventOf,
  type Fault,
  type Json,
  type JsonObject,
  type Loss,
  type MessagePart,
  type Meta,
  type OnLoss,
  type PartIds,
  type RunInput,
  type Said,
} from '@intertie/core';
import { DecodedSteps } from './decode-ui-steps.ts';
import { DecodedTools } from './decode-ui-tools.ts';
import { fromDataUrl } from './file-body.ts';
import { keptOf, slotKey, takeSlot } from './intertie-slot.ts';
import { defined, fieldsOf, isFields, jsonObjectOf, metaOf, nameOf, textOf } from './read-fields.ts';
import { createExecutorOf, type ToolExecutors } from './tool-executors.ts';
import { carriedEvents, extensionOf, type ExtensionName } from './ui-extension.ts';
import type {
  UICustomChunk,
  UIDataChunk,
  UIFileChunk,
  UIFinishChunk7,
  UIMessageChunk,
  UIPartDeltaChunk,
  UIPartStartChunk,
  UIReasoningFileChunk,
  UISourceDocumentChunk,
  UISourceUrlChunk,
  UIStartChunk,
  UISteeringMessageChunk,
  UITextEndChunk7,
} from './ui-message-chunk.ts';
import { isUIMessageChunkType, validateUIMessageChunk } from './validate-ui-message-chunk.ts';

export interface UIMessageDecoderOptions {
  /** The tool set behind the stream, or who runs each tool: whether a call without a result waits for the client. */
  tools?: ToolExecutors;
  onLoss?: OnLoss;
}

/**
 * Decodes a UI message stream of `ai` 6 or 7. Total: it takes anything and never throws. An unknown chunk becomes `raw`, a
 * malformed one `raw` and a notice. What our encoder wrote beyond the protocol (agents, state, notices, the slot in the
 * metadata) comes back. Put `seal` behind it.
 */
export function createUIMessageDecoder(
  run: RunInput,
  options: UIMessageDecoderOptions = {},
): Codec<unknown, AgentEvent> {
  const decoder = new UIMessageDecoder(run, options);
  return {
    feed: (chunk, emit) => decoder.feed(chunk, emit),
    end: (end, emit) => decoder.end(end.reason === 'eof', emit),
  };
}

type Write = Emit<AgentEvent>;
type Kind = 'text' | 'reasoning';
type Open = { id: string; kind: Kind; stepId?: string };
type EndChunk = UITextEndChunk7 | (Omit<UITextEndChunk7, 'type' | 'citations'> & { type: 'reasoning-end' });

const dialect = 'ui-message-stream';

class UIMessageDecoder {
  #run: RunInput;
  #onLoss: OnLoss;
  #ids: PartIds;
  #steps: DecodedSteps;
  #tools: DecodedTools;
  /** Whether our own encoder speaks: then ids are canonical, and steps come as events. */
  #isOurs = false;
  #open = new Map<string, Open>();
  /** Part ids that had to change, by the wire's, for words that come after the part. */
  #renamed = new Map<string, string>();
  /** By the wire's type and id. */
  #data = new Map<string, string>();
  #agents = new Map<string, 'open' | 'ended'>();
  #carriedSteps = new Set<string>();
  #wireMessageId: string | undefined;
  #cause: Fault | undefined;
  /** What a `data-event` has said of the end, until the wire's own last word. */
  #ending: EventOf<'run-end'> | undefined;
  #ended = false;

  constructor(run: RunInput, { tools, onLoss = () => undefined }: UIMessageDecoderOptions) {
    this.#run = run;
    this.#onLoss = onLoss;
    this.#ids = createPartIds(run);
    this.#steps = new DecodedSteps(run.runId);
    this.#tools = new DecodedTools({
      run,
      ids: this.#ids,
      executorOf: createExecutorOf(run, tools),
      onLoss,
      said: (meta, emit) => this.#said(meta, emit),
      opened: (stepId) => this.#steps.opened(stepId),
      closed: (stepId, emit) => this.#steps.closed(stepId, emit),
    });
    for (const [agentId, { outcome }] of Object.entries(run.message?.agents ?? {})) {
      if (outcome !== 'paused') this.#agents.set(agentId, 'ended');
    }
  }

  feed(value: unknown, emit: Write): void {
    const problem = validateUIMessageChunk(value, 7);
    if (this.#ended) {
      return this.#lose({ kind: 'late', what: typeOf(value), why: 'It came after the run had ended.' });
    }
    if (problem === undefined) return this.#decode(value as UIMessageChunk, emit);
    if (isUIMessageChunkType(fieldsOf(value).type, 7)) {
      return this.#malformed(value, `${problem.path}: ${problem.message}`, emit);
    }
    this.#raw(value, emit);
  }

  /** Without a last word, the first error is the cause. Otherwise `seal` says that the wire was cut. */
  end(isEof: boolean, emit: Write): void {
    if (this.#ended) return;
    this.#tools.settleInvalid(emit);
    if (!isEof || this.#cause === undefined) return;
    this.#end({ type: 'run-end', outcome: 'error', error: this.#cause }, emit);
  }

  #decode(chunk: UIMessageChunk, emit: Write): void {
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return this.#partDelta(chunk, emit);
      case 'text-start':
      case 'reasoning-start':
        return this.#partStart(chunk, emit);
      case 'text-end':
      case 'reasoning-end':
        return this.#partEnd(chunk, emit);
      case 'tool-input-start':
        return this.#tools.inputStart(chunk, emit);
      case 'tool-input-delta':
        return this.#unless(this.#tools.inputDelta(chunk, emit), chunk, emit);
      case 'tool-input-available':
      case 'tool-input-error':
        return this.#tools.input(chunk, emit);
      case 'tool-output-available':
      case 'tool-output-error':
      case 'tool-output-denied':
        return this.#unless(this.#tools.output(chunk, emit), chunk, emit);
      case 'tool-approval-request':
        return this.#unless(this.#tools.approvalRequest(chunk, emit), chunk, emit);
      case 'tool-approval-response':
        return this.#unless(this.#tools.approvalResponse(chunk, emit), chunk, emit);
      case 'start':
        return this.#start(chunk, emit);
      case 'message-metadata':
        return this.#metadata(chunk.messageMetadata, emit);
      case 'start-step':
        this.#tools.nextStep();
        if (!this.#isOurs) this.#steps.start(emit);
        return;
      case 'finish-step':
        // Our own steps are the encoder's, and say nothing of what is over.
        if (this.#isOurs) return;
        this.#tools.settleInvalid(emit);
        return this.#steps.finish(emit);
      case 'reset-step':
        if (!this.#isOurs) this.#reset(emit);
        return;
      case 'source-url':
      case 'source-document':
        return this.#source(chunk, emit);
      case 'file':
      case 'reasoning-file':
        return this.#file(chunk, emit);
      case 'custom':
        return this.#custom(chunk, emit);
      case 'steering-message':
        return this.#steering(chunk, emit);
      case 'finish':
        return this.#finish(chunk, emit);
      case 'abort':
        return this.#end(
          this.#endingOf('aborted') ?? {
            type: 'run-end',
            outcome: 'aborted',
            ...defined({ reason: chunk.reason }),
          },
          emit,
        );
      case 'error':
        return this.#error(chunk.errorText, emit);
      default:
        return this.#dataChunk(chunk, emit);
    }
  }

  #start({ messageId, messageMetadata }: UIStartChunk, emit: Write): void {
    if (messageId !== undefined && messageId !== this.#run.messageId) this.#wireMessageId = messageId;
    this.#isOurs ||= nameOf(fieldsOf(fieldsOf(messageMetadata)[slotKey]).runId) !== undefined;
    this.#metadata(messageMetadata, emit);
  }

  #metadata(value: unknown, emit: Write): void {
    if (value === undefined || value === null) return;
    const json = toJson(value, this.#onLoss);
    let metadata = jsonObjectOf(json);
    if (metadata === undefined) {
      const why = 'The metadata of a message is an object; it is kept under "value".';
      this.#lose({ kind: 'repaired', what: 'messageMetadata', why });
      metadata = { value: json };
    }
    // The run that it names is the wire's, and ours has its own id.
    const { [slotKey]: _, ...rest } = metadata;
    if (Object.keys(rest).length > 0) emit({ type: 'metadata', metadata: rest });
  }

  #finish({ finishReason, messageMetadata }: UIFinishChunk7, emit: Write): void {
    this.#tools.settleInvalid(emit);
    this.#metadata(messageMetadata, emit);
    const ending = this.#endingOf('complete') ?? this.#endingOf('paused');
    if (ending) return this.#end(ending, emit);
    const said = { type: 'run-end' as const, ...defined({ finishReason }) };
    if (finishReason === 'error') {
      const error = this.#cause ?? { message: 'The stream finished with an error.' };
      return this.#end({ ...said, outcome: 'error', error }, emit);
    }
    const waitingFor = this.#tools.waitingFor(finishReason);
    if (waitingFor.length > 0) this.#end({ ...said, outcome: 'paused', waitingFor }, emit);
    else this.#end({ ...said, outcome: 'complete' }, emit);
  }

  /** Not the end by itself: a chat stops here, other readers go on. */
  #error(message: string, emit: Write): void {
    const ending = this.#endingOf('error');
    if (ending) return this.#end(ending, emit);
    this.#cause ??= { message };
    emit({ type: 'notice', level: 'error', message, code: 'stream-error' });
  }

  #endingOf(outcome: EventOf<'run-end'>['outcome']): EventOf<'run-end'> | undefined {
    return this.#ending?.outcome === outcome ? this.#ending : undefined;
  }

  #end(event: EventOf<'run-end'>, emit: Write): void {
    this.#tools.settleInvalid(emit);
    this.#ended = true;
    const wire = this.#wireMessageId;
    const providerMetadata: Meta | undefined =
      wire === undefined ? event.providerMetadata : { ...event.providerMetadata, 'ai-sdk': { messageId: wire } };
    emit({ ...event, ...(providerMetadata && { providerMetadata }) });
  }

  #partStart(chunk: UIPartStartChunk, emit: Write): void {
    const kind = chunk.type === 'text-start' ? 'text' : 'reasoning';
    const said = this.#said(this.#meta(chunk.providerMetadata), emit);
    // A second start under an open id: the client goes on with the new part, and the first one stays as it is.
    const before = this.#open.get(`${kind}:${chunk.id}`);
    if (before) this.#close(`${kind}:${chunk.id}`, before, emit);
    this.#begin(kind, chunk.id, said, emit);
  }

  #begin(kind: Kind, wireId: string, said: Said, emit: Write): Open {
    const id = this.#isOurs ? this.#ids.open(wireId) : this.#ids.next();
    if (id !== wireId) this.#renamed.set(wireId, id);
    const open: Open = { id, kind, ...defined({ stepId: said.stepId }) };
    this.#open.set(`${kind}:${wireId}`, open);
    this.#steps.opened(said.stepId);
    emit({ type: `${kind}-start`, id, ...said });
    return open;
  }

  #partDelta(chunk: UIPartDeltaChunk, emit: Write): void {
    const part =
      chunk.type === 'text-delta' ? this.#part('text', chunk.id, emit) : this.#part('reasoning', chunk.id, emit);
    if (chunk.providerMetadata === undefined) return emit({ type: chunk.type, id: part.id, delta: chunk.delta });
    const { meta } = takeSlot(this.#meta(chunk.providerMetadata));
    emit({ type: chunk.type, id: part.id, delta: chunk.delta, ...(meta && { providerMetadata: meta }) });
  }

  #partEnd(chunk: EndChunk, emit: Write): void {
    const kind = chunk.type === 'text-end' ? 'text' : 'reasoning';
    const part = this.#part(kind, chunk.id, emit);
    const { slot, meta } = takeSlot(this.#meta(chunk.providerMetadata));
    const wireCitations = chunk.type === 'text-end' ? chunk.citations : undefined;
    const citations: Json = wireCitations ? toJson(wireCitations, this.#onLoss) : (slot.citations ?? null);
    this.#close(`${kind}:${chunk.id}`, part, emit, {
      ...(Array.isArray(citations) && { citations }),
      ...(meta && { providerMetadata: meta }),
    });
  }

  /** The open part, or a new one: a delta whose start was missed is better shown than thrown away. */
  #part(kind: Kind, wireId: string, emit: Write): Open {
    const open = this.#open.get(`${kind}:${wireId}`);
    if (open !== undefined) return open;
    const why = `No ${kind} of that id was open, so one was opened.`;
    this.#lose({ kind: 'repaired', what: `${kind} delta`, why, id: wireId });
    return this.#begin(kind, wireId, this.#said(undefined, emit), emit);
  }

  #close(
    key: string,
    { id, kind, stepId }: Open,
    emit: Write,
    said: { citations?: Json[]; providerMetadata?: Meta } = {},
  ): void {
    this.#open.delete(key);
    const { citations, ...metadata } = said;
    if (kind === 'text') emit({ type: 'text-end', id, ...(citations && { citations }), ...metadata });
    else emit({ type: 'reasoning-end', id, ...metadata });
    this.#steps.closed(stepId, emit);
  }

  #reset(emit: Write): void {
    const stepId = this.#steps.current;
    if (stepId !== undefined) {
      for (const [key, open] of this.#open) if (open.stepId === stepId) this.#close(key, open, emit);
      this.#tools.endInputs(stepId, emit);
      this.#tools.forget(stepId);
    }
    this.#steps.discard(emit);
  }

  #source(chunk: UISourceUrlChunk | UISourceDocumentChunk, emit: Write): void {
    const meta = this.#meta(chunk.providerMetadata);
    const { slot } = takeSlot(meta);
    const id = this.#take(chunk.sourceId);
    const said = this.#said(meta, emit);
    if (chunk.type === 'source-url') {
      const { url, title } = chunk;
      const more = defined({ title, mediaType: textOf(slot.mediaType), filename: textOf(slot.filename) });
      return emit({ type: 'source', id, sourceType: 'url', url, ...more, ...said });
    }
    const { mediaType, title, filename } = chunk;
    const more = defined({ filename, url: textOf(slot.url) });
    emit({ type: 'source', id, sourceType: 'document', mediaType, title, ...more, ...said });
  }

  #file(chunk: UIFileChunk | UIReasoningFileChunk, emit: Write): void {
    const meta = this.#meta(chunk.providerMetadata);
    const { slot } = takeSlot(meta);
    const mimeType = slot.untyped === true ? undefined : chunk.mediaType;
    const reasoning = chunk.type === 'reasoning-file' || slot.reasoning === true ? (true as const) : undefined;
    const more = defined({ mimeType, filename: textOf(slot.filename), reasoning });
    const said = this.#said(meta, emit);
    emit({ type: 'file', id: this.#take(nameOf(slot.id)), ...more, ...said, ...fileAt(chunk.url) });
  }

  #custom(chunk: UICustomChunk, emit: Write): void {
    const meta = this.#meta(chunk.providerMetadata);
    const id = this.#take(nameOf(takeSlot(meta).slot.id));
    emit({ type: 'data', id, name: `provider:${chunk.kind}`, data: null, ...this.#said(meta, emit) });
  }

  #steering({ id, parts }: UISteeringMessageChunk, emit: Write): void {
    const decoded = parts.flatMap((part): MessagePart[] => {
      const { slot, meta } = takeSlot(this.#meta(part.providerMetadata));
      const kept = { ...keptOf(slot), ...(meta && { providerMetadata: meta }) };
      if (part.type === 'text') return [{ type: 'text', text: part.text, ...kept }];
      const { mediaType: mimeType, filename, url, providerReference = {} } = part;
      // Of several providers' references the first is taken: they are the same file.
      const [provider] = Object.keys(providerReference);
      const body =
        provider === undefined ? fileAt(url) : { reference: { provider, ref: providerReference[provider] as string } };
      return [{ type: 'file', mimeType, ...defined({ filename }), ...kept, ...body }];
    });
    const { stepId } = this.#said(undefined, emit);
    emit({ type: 'interjection', id: this.#take(id), role: 'user', parts: decoded, ...defined({ stepId }) });
  }

  #dataChunk(chunk: UIDataChunk, emit: Write): void {
    const extension = extensionOf(chunk);
    if (extension) return this.#extension(extension.name, extension.id, chunk, emit);
    const key = `${chunk.type}:${chunk.id ?? ''}`;
    const known = chunk.id === undefined ? undefined : this.#data.get(key);
    const id = known ?? this.#take(chunk.id);
    if (known === undefined && chunk.id !== undefined) this.#data.set(key, id);
    const said =
      known === undefined || chunk.providerMetadata ? this.#said(this.#meta(chunk.providerMetadata), emit) : {};
    emit({
      type: 'data',
      id,
      name: chunk.type.slice('data-'.length),
      data: toJson(chunk.data ?? null, this.#onLoss),
      ...(chunk.transient && { transient: true }),
      ...said,
    });
  }

  /** What our encoder has no chunk for. It is checked as everything that comes from a wire. */
  #extension(name: ExtensionName, id: string, chunk: UIDataChunk, emit: Write): void {
    const data = toJson(chunk.data ?? null, this.#onLoss);
    const body = jsonObjectOf(data);
    if (name === 'state') return emit({ type: 'state-snapshot', state: data });
    if (body === undefined) return this.#malformed(chunk, 'data: it is an object.', emit);
    if (name === 'agent') return this.#agent(chunk, id, body, emit);
    if (name === 'event') return this.#carried(chunk, body, emit);
    if (name === 'notice') return void this.#valid({ type: name, ...body }, chunk, emit, emit);
    const { agentId: _, stepId: __, ...rest } = body;
    const said = this.#said({ ...this.#meta(chunk.providerMetadata), [slotKey]: body }, emit);
    this.#valid({ type: name, ...rest, ...said, id: this.#take(id) }, chunk, emit, emit);
  }

  #agent(chunk: UIDataChunk, agentId: string, data: JsonObject, emit: Write): void {
    const { agentId: _, outcome, error, result, usage, ...entry } = data;
    const isEnd = outcome !== undefined;
    const state = this.#agents.get(agentId);
    if (state === undefined || (state === 'ended' && !isEnd)) {
      if (!this.#valid({ type: 'agent-start', ...entry, agentId }, chunk, emit, emit)) return;
      this.#agents.set(agentId, 'open');
    }
    if (!isEnd || state === 'ended') return;
    const waitingFor = outcome === 'paused' ? { waitingFor: [] } : {};
    const end = { type: 'agent-end', agentId, outcome, ...defined({ error, result, usage }), ...waitingFor };
    if (this.#valid(end, chunk, emit, emit)) this.#agents.set(agentId, 'ended');
  }

  #carried(chunk: UIDataChunk, data: JsonObject, emit: Write): void {
    this.#valid(data, chunk, emit, (event) => {
      if (!carriedEvents.has(event.type)) return this.#raw(chunk, emit);
      switch (event.type) {
        case 'step-start':
          this.#carriedSteps.add(event.stepId);
          return emit(event);
        case 'step-end':
          this.#carriedSteps.delete(event.stepId);
          this.#tools.endInputs(event.stepId, emit);
          if (event.discarded) this.#tools.forget(event.stepId);
          return emit(event);
        case 'tool-result':
        case 'question':
        case 'answer':
          return this.#tools.carried(event, emit);
        case 'metadata':
          if (event.id === undefined) return emit(event);
          return emit({ ...event, id: this.#tools.idOf(event.id) ?? this.#renamed.get(event.id) ?? event.id });
        case 'run-end':
          this.#ending = event;
          return;
      }
    });
  }

  #valid(event: unknown, chunk: UIDataChunk, emit: Write, use: (event: AgentEvent) => void): boolean {
    const problem = validateEvent(event);
    if (problem === undefined) use(event as AgentEvent);
    else this.#malformed(chunk, `data: ${problem.message}`, emit);
    return problem === undefined;
  }

  /** Who says it and in which step. An agent that nobody has introduced is introduced by its id. */
  #said(meta: Meta | undefined, emit: Write): Said {
    const { slot, meta: rest } = takeSlot(meta);
    const { id: _, stepId: wireStep, agentId, ...kept } = keptOf(slot);
    if (agentId !== undefined && !this.#agents.has(agentId)) {
      this.#agents.set(agentId, 'open');
      emit({ type: 'agent-start', agentId, name: agentId, kind: 'agent' });
    }
    const isCarried = wireStep !== undefined && this.#carriedSteps.has(wireStep);
    // The UI's steps are nobody's, so what an agent says is in none of them.
    const current = this.#isOurs || agentId !== undefined ? undefined : this.#steps.current;
    const stepId = isCarried ? wireStep : current;
    return { ...kept, ...defined({ agentId, stepId }), ...(rest && { providerMetadata: rest }) };
  }

  /** An id for a part that comes whole: the wire's if the thread has none like it. */
  #take(wireId: string | undefined): string {
    const id = this.#ids.open(wireId);
    if (wireId !== undefined && id !== wireId) this.#renamed.set(wireId, id);
    return id;
  }

  #meta(value: unknown): Meta | undefined {
    return metaOf(value, this.#onLoss);
  }

  #unless(problem: string | undefined, chunk: UIMessageChunk, emit: Write): void {
    if (problem !== undefined) this.#malformed(chunk, problem, emit);
  }

  #malformed(chunk: unknown, problem: string, emit: Write): void {
    this.#raw(chunk, emit);
    const message = `A chunk of the type "${typeOf(chunk)}" was not understood. ${problem}`;
    emit({ type: 'notice', level: 'warning', message, code: 'malformed-chunk' });
  }

  #raw(chunk: unknown, emit: Write): void {
    emit({ type: 'raw', dialect, value: capJson(chunk, undefined, this.#onLoss) });
  }

  #lose(loss: Loss): void {
    this.#onLoss(loss);
  }
}

function typeOf(value: unknown): string {
  return isFields(value) ? (textOf(value.type) ?? 'none') : 'none';
}

/** The bytes of a `data:` URL, or where they are. */
function fileAt(url: string): { data: string } | { url: string } {
  const bytes = url.startsWith('data:') ? fromDataUrl(url) : undefined;
  return bytes ? { data: bytes.data } : { url };
}
