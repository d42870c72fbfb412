import {
  capJson,
  createPartIds,
  mergeMeta,
  toFault,
  toJson,
  type AgentEvent,
  type CallBody,
  type Codec,
  type Emit,
  type EventOf,
  type Executor,
  type Fault,
  type FinishReason,
  type Json,
  type JsonObject,
  type Meta,
  type OnLoss,
  type Outcome,
  type PartIds,
  type RunInput,
  type Said,
  type Usage,
  type Waiting,
} from '@intertie/core';
import { decodeUsage } from './decode-usage.ts';
import { fileBodyOf } from './file-body.ts';
import { mapFinishReason } from './map-finish-reason.ts';
import { defined, fieldsOf, flagOf, isFields, metaOf, nameOf, textOf, type Fields } from './read-fields.ts';
import { inputBeforeSchema } from './schema-input.ts';
import { createExecutorOf, type ExecutorOf, type ToolExecutors } from './tool-executors.ts';
import { decodeUserContent } from './user-content.ts';

export interface FullStreamDecoderOptions {
  /** The tool set of the call, or who runs each tool: whether a call without a result waits for the client. */
  tools?: ToolExecutors;
  onLoss?: OnLoss;
  /** Whether the provider's own chunks are passed on, where the call asked for them. Default: yes. */
  includeRaw?: boolean;
}

/**
 * Decodes `streamText().fullStream` (the `stream` of 7): every `TextStreamPart` of 6 and 7. Parts get ids that are unique in
 * the thread. It knows the two majors by their parts, not by their types, so it takes anything and never throws; what it
 * does not know becomes `raw`. Put `seal` behind it.
 */
export function createFullStreamDecoder(
  run: RunInput,
  options: FullStreamDecoderOptions = {},
): Codec<unknown, AgentEvent> {
  const decoder = new FullStreamDecoder(run, options);
  return {
    feed: (part, emit) => decoder.feed(part, emit),
    end: (end, emit) => {
      // The first thing that went wrong is the cause; what the wire says at its end is the last symptom.
      if (end.reason !== 'aborted') decoder.fail(emit);
    },
  };
}

type Kind = 'text' | 'reasoning';
type Call = {
  state: 'streaming' | 'open' | 'settled';
  toolName: string;
  executor?: Executor;
  dynamic?: boolean;
};

class FullStreamDecoder {
  #run: RunInput;
  #onLoss: OnLoss;
  #includeRaw: boolean;
  #ids: PartIds;
  #executorOf: ExecutorOf;
  #stepId: string | undefined;
  #steps = 0;
  #models = new Set<string>();
  /** The parts that are open, by kind and wire id. */
  #parts = new Map<string, string>();
  /** The calls of this run, by our id. */
  #calls = new Map<string, Call>();
  /** Questions that nobody has answered, and the call of each. */
  #questions = new Map<string, string | undefined>();
  /** Why a call was denied, where the answer said so. */
  #denials = new Map<string, string>();
  #cause: Fault | undefined;
  #ended = false;
  #requestWithheld = false;

  constructor(run: RunInput, { tools, onLoss = () => undefined, includeRaw = true }: FullStreamDecoderOptions) {
    this.#run = run;
    this.#onLoss = onLoss;
    this.#includeRaw = includeRaw;
    this.#ids = createPartIds(run);
    this.#executorOf = createExecutorOf(run, tools);
  }

  feed(value: unknown, emit: Emit<AgentEvent>): void {
    if (this.#ended) {
      this.#onLoss({ kind: 'late', what: String(fieldsOf(value).type), why: 'It came after the run had ended.' });
    } else if (!isFields(value) || typeof value.type !== 'string') {
      this.#lost(value, 'Parts are objects with a type.', emit);
    } else this.#decode(value.type, value, emit);
  }

  /** The input is over without a last word. */
  fail(emit: Emit<AgentEvent>): void {
    if (this.#ended || this.#cause === undefined) return;
    this.#end({ type: 'run-end', outcome: 'error', error: this.#cause }, emit);
  }

  #decode(type: string, part: Fields, emit: Emit<AgentEvent>): void {
    switch (type) {
      case 'start':
      case 'ping':
        // `seal` frames the run; a ping is a sign of life, and the skin has noticed it.
        return;
      case 'text-start':
      case 'reasoning-start':
        return this.#partStart(type === 'text-start' ? 'text' : 'reasoning', part, emit);
      case 'text-delta':
      case 'reasoning-delta':
        return this.#partDelta(type === 'text-delta' ? 'text' : 'reasoning', part, emit);
      case 'text-end':
      case 'reasoning-end':
        return this.#partEnd(type === 'text-end' ? 'text' : 'reasoning', part, emit);
      case 'tool-input-start':
        return this.#inputStart(part, emit);
      case 'tool-input-delta':
      case 'tool-input-end':
        return this.#inputGoesOn(type, part, emit);
      case 'tool-call':
        return this.#toolCall(part, emit);
      case 'tool-result':
      case 'tool-error':
      case 'tool-output-denied':
        return this.#toolResult(type, part, emit);
      case 'tool-approval-request':
        return this.#question(part, emit);
      case 'tool-approval-response':
        return this.#answer(part, emit);
      case 'file':
      case 'reasoning-file':
        return this.#file(part, type === 'reasoning-file', emit);
      case 'source':
        return this.#source(part, emit);
      case 'custom':
        return this.#custom(part, emit);
      case 'steering-message':
        return this.#steering(part, emit);
      case 'start-step':
        return this.#stepStart(part, emit);
      case 'finish-step':
        return this.#stepEnd(part, emit);
      case 'finish':
        return this.#finish(part, emit);
      case 'abort': {
        const reason = textOf(part.reason);
        return this.#end({ type: 'run-end', outcome: 'aborted', ...(reason !== undefined && { reason }) }, emit);
      }
      case 'error':
        return this.#error(part, emit);
      case 'raw':
        if (this.#includeRaw) this.#raw(part, emit);
        else this.#onLoss({ kind: 'withheld', what: 'raw', why: 'The provider’s own chunks were not asked for.' });
        return;
      default:
        this.#raw(part, emit);
    }
  }

  #partStart(kind: Kind, part: Fields, emit: Emit<AgentEvent>): void {
    const id = this.#ids.next();
    this.#parts.set(`${kind}:${String(part.id)}`, id);
    emit({ type: `${kind}-start`, id, ...this.#said(part) });
  }

  #partDelta(kind: Kind, part: Fields, emit: Emit<AgentEvent>): void {
    const id = this.#parts.get(`${kind}:${String(part.id)}`);
    const delta = textOf(part.text);
    if (id === undefined || delta === undefined) return this.#lost(part, `No ${kind} of that id is open.`, emit);
    const metadata = this.#metadata(part);
    // An empty delta may carry a signature; without one it says nothing.
    if (delta !== '' || metadata.providerMetadata) emit({ type: `${kind}-delta`, id, delta, ...metadata });
  }

  #partEnd(kind: Kind, part: Fields, emit: Emit<AgentEvent>): void {
    const key = `${kind}:${String(part.id)}`;
    const id = this.#parts.get(key);
    if (id === undefined) return this.#lost(part, `No ${kind} of that id is open.`, emit);
    this.#parts.delete(key);
    const citations = Array.isArray(part.citations) ? (toJson(part.citations, this.#onLoss) as Json[]) : undefined;
    if (kind === 'reasoning') emit({ type: 'reasoning-end', id, ...this.#metadata(part) });
    else emit({ type: 'text-end', id, ...(citations && { citations }), ...this.#metadata(part) });
  }

  #inputStart(part: Fields, emit: Emit<AgentEvent>): void {
    emit({ type: 'tool-input-start', ...this.#openCall(part, part.id, 'streaming') });
  }

  #inputGoesOn(type: 'tool-input-delta' | 'tool-input-end', part: Fields, emit: Emit<AgentEvent>): void {
    const toolCallId = this.#ids.of(String(part.id));
    if (toolCallId === undefined || this.#calls.get(toolCallId)?.state !== 'streaming') {
      return this.#lost(part, 'No tool input of that id is open.', emit);
    }
    if (type === 'tool-input-end') return emit({ type, toolCallId, ...this.#metadata(part) });
    emit({ type, toolCallId, delta: textOf(part.delta) ?? '', ...this.#metadata(part) });
  }

  #toolCall(part: Fields, emit: Emit<AgentEvent>): void {
    const wireId = nameOf(part.toolCallId);
    const known = wireId === undefined ? undefined : this.#ids.of(wireId);
    const streamed = known === undefined ? undefined : this.#calls.get(known);
    // A wire id that comes again after its call is complete is another call.
    const call =
      known !== undefined && streamed?.state === 'streaming'
        ? this.#completeCall(known, streamed, part)
        : this.#openCall(part, wireId, 'open');
    // The provider has run its own tool, whatever the SDK thinks of the call: its result will follow.
    const invalid = part.invalid === true && call.executor !== 'provider' ? faultOf(part.error) : undefined;
    if (part.invalid === true && invalid === undefined) {
      const { message } = faultOf(part.error);
      emit({ type: 'notice', level: 'warning', message, code: 'invalid-call', toolCallId: call.toolCallId });
    }
    emit({ type: 'tool-call', input: this.#json(part.input), ...(invalid && { invalid }), ...call });
  }

  #openCall(part: Fields, wireId: unknown, state: Call['state']): CallBody & Said {
    const toolCallId = this.#ids.open(nameOf(wireId));
    const toolName = textOf(part.toolName) ?? '';
    const said = defined({
      executor: this.#executorOf(toolName, part.providerExecuted),
      dynamic: flagOf(part.dynamic),
    });
    this.#calls.set(toolCallId, { state, toolName, ...said });
    const name = nameOf(wireId);
    return this.#callBody(
      { toolCallId, toolName, ...said },
      part,
      name === undefined || name === toolCallId ? undefined : { 'ai-sdk': { toolCallId: name } },
    );
  }

  /** What `tool-input-start` said holds: of an invalid call the SDK says `dynamic`, whatever it said before. */
  #completeCall(toolCallId: string, call: Call, part: Fields): CallBody & Said {
    call.state = 'open';
    const { toolName } = call;
    const said = defined({
      executor: call.executor ?? this.#executorOf(toolName, part.providerExecuted ?? false),
      dynamic: call.dynamic ?? (part.invalid === true ? undefined : flagOf(part.dynamic)),
    });
    Object.assign(call, said);
    return this.#callBody({ toolCallId, toolName, ...said }, part);
  }

  #callBody(call: CallBody, part: Fields, renamed?: Meta): CallBody & Said {
    const { inputEncoding } = part;
    const { providerMetadata, ...said } = this.#said(part);
    const metadata = mergeMeta(providerMetadata, renamed);
    return {
      ...call,
      ...defined({ title: textOf(part.title) }),
      ...((inputEncoding === 'json' || inputEncoding === 'text') && { inputEncoding }),
      ...(part.toolMetadata !== undefined && { toolMetadata: this.#json(part.toolMetadata) }),
      ...said,
      ...(metadata && { providerMetadata: metadata }),
    };
  }

  #toolResult(type: 'tool-result' | 'tool-error' | 'tool-output-denied', part: Fields, emit: Emit<AgentEvent>): void {
    // Approved and denied calls of an earlier run get their results before the first step: those are of the baseline.
    const toolCallId = this.#ids.of(String(part.toolCallId));
    if (toolCallId === undefined) return this.#lost(part, 'There is no call of that id.', emit);
    const call = this.#calls.get(toolCallId);
    const result = { type: 'tool-result' as const, toolCallId, ...this.#metadata(part) };
    if (type === 'tool-result' && part.preliminary === true) {
      return emit({ ...result, status: 'ok', output: this.#json(part.output), preliminary: true });
    }
    if (call) call.state = 'settled';
    if (type === 'tool-result') return emit({ ...result, status: 'ok', output: this.#json(part.output) });
    if (type === 'tool-error') return emit({ ...result, status: 'error', error: faultOf(part.error) });
    const reason = this.#denials.get(toolCallId) ?? denialOf(this.#run, toolCallId);
    emit({ ...result, status: 'denied', ...(reason !== undefined && { reason }) });
  }

  #question(part: Fields, emit: Emit<AgentEvent>): void {
    const questionId = nameOf(part.approvalId);
    if (questionId === undefined) return this.#lost(part, 'An approval request has an id.', emit);
    const toolCallId = this.#ids.of(String(fieldsOf(part.toolCall).toolCallId));
    const before = inputBeforeSchema(part.toolCall);
    const kept = defined({
      signature: textOf(part.signature),
      inputSchemaInput: before && this.#json(before.value),
    });
    const providerMetadata = Object.keys(kept).length > 0 ? { 'ai-sdk': kept as JsonObject } : undefined;
    this.#questions.set(questionId, toolCallId);
    emit({
      type: 'question',
      questionId,
      kind: 'approval',
      ...defined({ toolCallId, reason: textOf(part.reason) }),
      ...(part.isAutomatic === true && { automatic: true }),
      ...(providerMetadata && { providerMetadata }),
    });
  }

  #answer(part: Fields, emit: Emit<AgentEvent>): void {
    const questionId = nameOf(part.approvalId);
    if (questionId === undefined) return this.#lost(part, 'An approval response names its request.', emit);
    const toolCallId = this.#questions.get(questionId);
    this.#questions.delete(questionId);
    const reason = textOf(part.reason);
    if (toolCallId !== undefined && reason !== undefined) this.#denials.set(toolCallId, reason);
    emit({ type: 'answer', questionId, approved: part.approved === true, ...(reason !== undefined && { reason }) });
  }

  #file(part: Fields, reasoning: boolean, emit: Emit<AgentEvent>): void {
    const file = fieldsOf(part.file);
    const body = fileBodyOf({ data: file.base64, mediaType: file.mediaType, filename: part.filename }, this.#onLoss);
    if (body === undefined) return this.#lost({ type: part.type }, 'The file has no content.', emit);
    const { providerMetadata, ...said } = this.#said(part);
    const metadata = mergeMeta(metaOf(file.providerMetadata, this.#onLoss), providerMetadata);
    emit({
      type: 'file',
      id: this.#ids.next(),
      ...body,
      ...(reasoning && { reasoning: true }),
      ...said,
      ...(metadata && { providerMetadata: metadata }),
    });
  }

  #source(part: Fields, emit: Emit<AgentEvent>): void {
    emit({
      type: 'source',
      id: this.#ids.next(),
      sourceType: part.sourceType === 'document' ? 'document' : 'url',
      ...defined({
        url: textOf(part.url),
        title: textOf(part.title),
        mediaType: textOf(part.mediaType),
        filename: textOf(part.filename),
      }),
      ...this.#said(part),
    });
  }

  #custom(part: Fields, emit: Emit<AgentEvent>): void {
    const name = `provider:${textOf(part.kind) ?? 'custom'}`;
    emit({ type: 'data', id: this.#ids.next(), name, data: null, ...this.#said(part) });
  }

  /** It comes before the step that it steers, and belongs to none. */
  #steering(part: Fields, emit: Emit<AgentEvent>): void {
    const parts = decodeUserContent(fieldsOf(part.message).content, this.#onLoss);
    emit({ type: 'interjection', id: this.#ids.next(), role: 'user', parts });
  }

  #stepStart(part: Fields, emit: Emit<AgentEvent>): void {
    this.#stepId = `${this.#run.runId}:step-${this.#steps}`;
    this.#steps += 1;
    if (!this.#requestWithheld && fieldsOf(part.request).body !== undefined) {
      this.#requestWithheld = true;
      const why = 'What was sent to the provider may hold keys, and repeats the history.';
      this.#onLoss({ kind: 'withheld', what: 'start-step.request', why });
    }
    const warnings = Array.isArray(part.warnings) ? (this.#json(part.warnings) as Json[]) : [];
    emit({ type: 'step-start', stepId: this.#stepId, ...(warnings.length > 0 && { warnings }) });
  }

  #stepEnd(part: Fields, emit: Emit<AgentEvent>): void {
    const stepId = this.#stepId;
    if (stepId === undefined) return this.#lost(part, 'No step is open.', emit);
    this.#stepId = undefined;
    this.#parts.clear();
    const { id, modelId, timestamp } = fieldsOf(part.response);
    const response = defined({ id: textOf(id), modelId: textOf(modelId), timestamp: timeOf(timestamp) });
    if (response.modelId !== undefined) this.#models.add(response.modelId);
    const usage = decodeUsage(part.usage, response.modelId, this.#onLoss);
    const performance = part.performance === undefined ? undefined : this.#json(part.performance);
    const metadata = mergeMeta(
      metaOf(part.providerMetadata, this.#onLoss),
      performance === undefined ? undefined : { 'ai-sdk': { performance } },
    );
    emit({
      type: 'step-end',
      stepId,
      finishReason: mapFinishReason(part.finishReason),
      ...defined({ rawFinishReason: textOf(part.rawFinishReason) }),
      ...(usage.length > 0 && { usage }),
      ...(Object.keys(response).length > 0 && { response }),
      ...(metadata && { providerMetadata: metadata }),
    });
  }

  #finish(part: Fields, emit: Emit<AgentEvent>): void {
    const finishReason = mapFinishReason(part.finishReason);
    const model = this.#models.size === 1 ? [...this.#models][0] : undefined;
    const usage: Usage[] = decodeUsage(part.totalUsage, model, this.#onLoss);
    const said = defined({ rawFinishReason: textOf(part.rawFinishReason) });
    // A model's stream that ends without a last word is `interrupted` in 7 where the provider noticed; elsewhere the SDK
    // makes up a reason, and knows neither the provider's own word nor what was used.
    const cut = finishReason === 'other' && said.rawFinishReason === undefined && usage.length === 0;
    this.#end(
      {
        type: 'run-end',
        finishReason,
        ...said,
        ...(usage.length > 0 && { usage }),
        ...this.#outcome(cut ? 'interrupted' : finishReason),
      },
      emit,
    );
  }

  #outcome(finishReason: FinishReason): Outcome {
    if (finishReason === 'error') {
      const error = this.#cause ?? { message: 'The model ended its answer with an error and did not say which.' };
      return { outcome: 'error', error };
    }
    if (finishReason === 'interrupted') {
      const message = 'The provider’s stream ended before the model had finished. Ask again, or go on from here.';
      return { outcome: 'error', error: this.#cause ?? { message, code: 'truncated' } };
    }
    const waitingFor = this.#waitingFor(finishReason);
    return waitingFor.length > 0 ? { outcome: 'paused', waitingFor } : { outcome: 'complete' };
  }

  /** `streamText` has run every tool that it could: what is left is the client's, unless the answer was cut short. */
  #waitingFor(finishReason: FinishReason): Waiting[] {
    const asked = new Set(this.#questions.values());
    const mayBeClients = finishReason === 'tool-calls' || finishReason === 'stop';
    const waiting: Waiting[] = [];
    for (const [toolCallId, { state, executor = mayBeClients ? 'client' : undefined }] of this.#calls) {
      if (state === 'open' && executor === 'client' && !asked.has(toolCallId))
        waiting.push({ type: 'tool', toolCallId });
    }
    for (const questionId of this.#questions.keys()) waiting.push({ type: 'question', questionId });
    return waiting;
  }

  #error(part: Fields, emit: Emit<AgentEvent>): void {
    const fault = toFault(part.error);
    this.#cause ??= fault;
    const { message, code, data } = fault;
    emit({ type: 'notice', level: 'error', message, ...defined({ code, stepId: this.#stepId, data }) });
  }

  #end(event: EventOf<'run-end'>, emit: Emit<AgentEvent>): void {
    this.#ended = true;
    emit(event);
  }

  #raw(part: unknown, emit: Emit<AgentEvent>): void {
    emit({ type: 'raw', dialect: 'ai-sdk', value: capJson(part, undefined, this.#onLoss) });
  }

  /** A part of a known type that does not fit where it is: kept as it came, and said so. */
  #lost(part: unknown, why: string, emit: Emit<AgentEvent>): void {
    this.#raw(part, emit);
    const message = `A ${textOf(fieldsOf(part).type) ?? 'part'} of the model’s stream was passed over. ${why}`;
    emit({ type: 'notice', level: 'warning', message, code: 'malformed' });
  }

  #said(part: Fields): Said {
    return { ...(this.#stepId !== undefined && { stepId: this.#stepId }), ...this.#metadata(part) };
  }

  #metadata(part: Fields): { providerMetadata?: Meta } {
    const providerMetadata = metaOf(part.providerMetadata, this.#onLoss);
    return providerMetadata ? { providerMetadata } : {};
  }

  #json(value: unknown): Json {
    return value === undefined ? null : toJson(value, this.#onLoss);
  }
}

/** A provider's tool may fail with a value of its own, which goes back to it as it was. */
function faultOf(error: unknown): Fault {
  const fault = toFault(error);
  const isOwn = isFields(error) && !(error instanceof Error) && typeof error.message !== 'string';
  return isOwn ? { ...fault, data: toJson(error) } : fault;
}

function timeOf(value: unknown): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  return textOf(value);
}

/** What the person said who denied a call of the baseline. */
function denialOf({ message, answers }: RunInput, toolCallId: string): string | undefined {
  for (const part of message?.parts ?? []) {
    if (part.type !== 'tool-invocation' || part.toolCallId !== toolCallId || !part.approval) continue;
    const { questionId, answer } = part.approval;
    const given = answer ?? answers.find((other) => 'questionId' in other && other.questionId === questionId);
    return given && 'reason' in given ? given.reason : undefined;
  }
  return undefined;
}
