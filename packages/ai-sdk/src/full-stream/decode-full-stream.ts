import {
  toFault,
  type AgentEvent,
  type Codec,
  type Emit,
  type EventOf,
  type Fault,
  type FinishReason,
  type Json,
  type JsonObject,
  type Meta,
  type OnLoss,
  type Outcome,
  type RunInput,
  type Usage,
} from '@intertie/core';
import { capJson, createPartIds, mergeMeta, toJson, type PartIds, type Attribution } from '@intertie/core/internal';
import { FullStreamCalls } from './decode-full-stream-calls.ts';
import { decodeUsage } from '../shared/decode-usage.ts';
import { fileBodyOf } from '../shared/file-body.ts';
import { mapFinishReason } from '../shared/map-finish-reason.ts';
import { providerDataName } from '../shared/provider-data.ts';
import { defined, asFields, isFields, keyOf, metaOf, asText, type Fields } from '../shared/read-fields.ts';
import { createExecutorOf, isImageTool, type ToolExecutors } from './tool-executors.ts';
import { decodeUserContent } from '../shared/user-content.ts';

export interface FullStreamDecoderOptions {
  /** The tool set of the call, or who runs each tool: whether a call without a result waits for the client. */
  tools?: ToolExecutors;
  /** The provider as its model names it (`anthropic.messages`). Recorded with each step: tools that it ran are its own. */
  provider?: string;
  onLoss?: OnLoss;
  /** Whether the provider's own chunks are passed on, where the call asked for them. Default: yes. */
  includeRaw?: boolean;
  /** Whether the model reports the provider's own finish reason. Models of specification v2 do not. Default: true. */
  reportsFinishReason?: boolean;
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
  const decoder = new PartDecoder(run, options);
  return {
    feed: (part, emit) => decoder.feed(part, emit),
    end: (end, emit) => {
      decoder.releaseResults(emit);
      // The first thing that went wrong is the cause; what the wire says at its end is the last symptom.
      if (end.reason !== 'aborted') decoder.fail(emit);
    },
  };
}

type Kind = 'text' | 'reasoning';

/** Parts that may stand between two results of one call. */
const besideResults: ReadonlySet<string> = new Set(['tool-result', 'tool-error', 'raw', 'ping']);

class PartDecoder {
  #run: RunInput;
  #onLoss: OnLoss;
  #includeRaw: boolean;
  #reportsFinishReason: boolean;
  #provider: string | undefined;
  #ids: PartIds;
  /** The last part or call that began. */
  #lastId: string | undefined;
  #stepId: string | undefined;
  #steps = 0;
  #models = new Set<string>();
  /** The parts that are open, by wire id. Most of a stream are deltas: no key is made for each. */
  #parts: { readonly [Key in Kind]: Map<string, string> } = { text: new Map(), reasoning: new Map() };
  #calls: FullStreamCalls;
  #cause: Fault | undefined;
  #ended = false;
  #requestWithheld = false;

  constructor(run: RunInput, options: FullStreamDecoderOptions) {
    const { tools, provider, onLoss = () => undefined, includeRaw = true, reportsFinishReason = true } = options;
    this.#run = run;
    this.#provider = provider;
    this.#onLoss = onLoss;
    this.#includeRaw = includeRaw;
    this.#reportsFinishReason = reportsFinishReason;
    const ids = createPartIds(run);
    this.#ids = {
      next: () => (this.#lastId = ids.next()),
      open: (wireId) => (this.#lastId = ids.open(wireId)),
      of: (wireId) => ids.of(wireId),
      toolCallId: (wireId) => ids.toolCallId(wireId),
    };
    this.#calls = new FullStreamCalls({
      run,
      ids: this.#ids,
      executorOf: createExecutorOf(run, tools),
      hasPartialResults: (toolName) => isImageTool(toolName, tools),
      onLoss,
      said: (part) => this.#said(part),
      lastId: () => this.#lastId,
      lost: (part, why, emit) => this.#lost(part, why, emit),
    });
  }

  feed(value: unknown, emit: Emit<AgentEvent>): void {
    if (this.#ended) {
      this.#onLoss({
        kind: 'late',
        what: asText(asFields(value).type) ?? 'none',
        why: 'It came after the run had ended.',
      });
    } else if (!isFields(value) || typeof value.type !== 'string') {
      this.#lost(value, 'Parts are objects with a type.', emit);
    } else this.#decode(value.type, value, emit);
  }

  releaseResults(emit: Emit<AgentEvent>): void {
    this.#calls.releaseResults(emit);
  }

  /** The input is over without a last word. */
  fail(emit: Emit<AgentEvent>): void {
    if (this.#ended || this.#cause === undefined) return;
    this.#end({ type: 'run-end', outcome: 'error', error: this.#cause }, emit);
  }

  #decode(type: string, part: Fields, emit: Emit<AgentEvent>): void {
    if (!besideResults.has(type)) this.#calls.releaseResults(emit);
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
        return this.#calls.inputStart(part, emit);
      case 'tool-input-delta':
        return this.#calls.inputDelta(part, emit);
      case 'tool-input-end':
        return this.#calls.inputEnd(part, emit);
      case 'tool-call':
        return this.#calls.call(part, emit);
      case 'tool-result':
      case 'tool-error':
      case 'tool-output-denied':
        return this.#calls.result(type, part, emit);
      case 'tool-approval-request':
        return this.#calls.question(part, emit);
      case 'tool-approval-response':
        return this.#calls.answer(part, emit);
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
        const reason = asText(part.reason);
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
    this.#parts[kind].set(keyOf(part.id), id);
    emit({ type: `${kind}-start`, id, ...this.#said(part) });
  }

  #partDelta(kind: Kind, part: Fields, emit: Emit<AgentEvent>): void {
    const id = this.#parts[kind].get(keyOf(part.id));
    const delta = asText(part.text);
    if (id === undefined || delta === undefined) return this.#lost(part, `No ${kind} of that id is open.`, emit);
    const type = kind === 'text' ? 'text-delta' : 'reasoning-delta';
    const providerMetadata = metaOf(part.providerMetadata, this.#onLoss);
    // An empty delta may carry a signature; without one it says nothing.
    if (providerMetadata) emit({ type, id, delta, providerMetadata });
    else if (delta !== '') emit({ type, id, delta });
  }

  #partEnd(kind: Kind, part: Fields, emit: Emit<AgentEvent>): void {
    const key = keyOf(part.id);
    const id = this.#parts[kind].get(key);
    if (id === undefined) return this.#lost(part, `No ${kind} of that id is open.`, emit);
    this.#parts[kind].delete(key);
    const citations = Array.isArray(part.citations) ? (toJson(part.citations, this.#onLoss) as Json[]) : undefined;
    if (kind === 'reasoning') emit({ type: 'reasoning-end', id, ...this.#metadata(part) });
    else emit({ type: 'text-end', id, ...(citations && { citations }), ...this.#metadata(part) });
  }

  #file(part: Fields, reasoning: boolean, emit: Emit<AgentEvent>): void {
    const file = asFields(part.file);
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
        url: asText(part.url),
        title: asText(part.title),
        mediaType: asText(part.mediaType),
        filename: asText(part.filename),
      }),
      ...this.#said(part),
    });
  }

  #custom(part: Fields, emit: Emit<AgentEvent>): void {
    const name = providerDataName(asText(part.kind) ?? 'custom');
    emit({ type: 'data', id: this.#ids.next(), name, data: null, ...this.#said(part) });
  }

  /** It comes before the step that it steers, and belongs to none. */
  #steering(part: Fields, emit: Emit<AgentEvent>): void {
    const parts = decodeUserContent(asFields(part.message).content, this.#onLoss);
    emit({ type: 'interjection', id: this.#ids.next(), role: 'user', parts });
  }

  #stepStart(part: Fields, emit: Emit<AgentEvent>): void {
    this.#stepId = `${this.#run.runId}:step-${this.#steps}`;
    this.#steps += 1;
    if (!this.#requestWithheld && asFields(part.request).body !== undefined) {
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
    this.#parts.text.clear();
    this.#parts.reasoning.clear();
    const { id, modelId, timestamp } = asFields(part.response);
    const response = defined({ id: asText(id), modelId: asText(modelId), timestamp: timeOf(timestamp) });
    if (response.modelId !== undefined) this.#models.add(response.modelId);
    const usage = decodeUsage(part.usage, response.modelId, this.#onLoss);
    const own: JsonObject = defined({
      performance: part.performance === undefined ? undefined : this.#json(part.performance),
      provider: this.#provider,
    });
    const metadata = mergeMeta(
      metaOf(part.providerMetadata, this.#onLoss),
      Object.keys(own).length > 0 ? { 'ai-sdk': own } : undefined,
    );
    emit({
      type: 'step-end',
      stepId,
      finishReason: mapFinishReason(part.finishReason),
      ...defined({ rawFinishReason: asText(part.rawFinishReason) }),
      ...(usage.length > 0 && { usage }),
      ...(Object.keys(response).length > 0 && { response }),
      ...(metadata && { providerMetadata: metadata }),
    });
  }

  #finish(part: Fields, emit: Emit<AgentEvent>): void {
    const finishReason = mapFinishReason(part.finishReason);
    const model = this.#models.size === 1 ? [...this.#models][0] : undefined;
    const usage: Usage[] = decodeUsage(part.totalUsage, model, this.#onLoss);
    const said = defined({ rawFinishReason: asText(part.rawFinishReason) });
    // Provider packages start with the reason `other` and no reason of the provider's own, and replace both when the provider
    // finishes; some of 7 report a cut as `interrupted`. Usage proves nothing: some providers send it with every chunk. Google's
    // interactions have a status instead of a reason, which is `in_progress` until the provider finishes.
    const { rawFinishReason } = said;
    const isUnfinished =
      finishReason === 'other' && (rawFinishReason === undefined || rawFinishReason === 'in_progress');
    const cut = isUnfinished && (this.#reportsFinishReason || usage.length === 0);
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
      const message =
        'The provider’s stream ended without a finish reason. Retry the run, or continue from its message.';
      return { outcome: 'error', error: this.#cause ?? { message, code: 'truncated' } };
    }
    const waitingFor = this.#calls.waitingFor(finishReason);
    return waitingFor.length > 0 ? { outcome: 'paused', waitingFor } : { outcome: 'complete' };
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
    const message = `A ${asText(asFields(part).type) ?? 'part'} of the model’s stream was passed over. ${why}`;
    emit({ type: 'notice', level: 'warning', message, code: 'malformed' });
  }

  #said(part: Fields): Pick<Attribution, 'stepId' | 'providerMetadata'> {
    const said: Attribution = {};
    if (this.#stepId !== undefined) said.stepId = this.#stepId;
    const providerMetadata = metaOf(part.providerMetadata, this.#onLoss);
    if (providerMetadata) said.providerMetadata = providerMetadata;
    return said;
  }

  #metadata(part: Fields): { providerMetadata?: Meta } {
    const providerMetadata = metaOf(part.providerMetadata, this.#onLoss);
    return providerMetadata ? { providerMetadata } : {};
  }

  #json(value: unknown): Json {
    return value === undefined ? null : toJson(value, this.#onLoss);
  }
}

function timeOf(value: unknown): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  return asText(value);
}
