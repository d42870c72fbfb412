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
  type ResumePoint,
  type RunInput,
  type Usage,
  createPartIds,
  toJson,
} from '@intertie/core';
import { capJson, mergeMeta, sumUsage, type PartIds, type Attribution } from '@intertie/core/internal';
import { FullStreamCallDecoder } from './decode-full-stream-calls.ts';
import { parseFileBody } from '../shared/file-body.ts';
import { toProviderDataName } from '../shared/provider-data.ts';
import {
  defined,
  asFields,
  asNumber,
  isFields,
  toKey,
  parseMetadata,
  asText,
  type Fields,
} from '../shared/read-fields.ts';
import { createExecutorLookup, isImageTool, type ToolExecutors } from './tool-executors.ts';
import { decodeUserContent } from '../shared/user-content.ts';

export interface FullStreamDecoderOptions {
  /** Tool set of the call, or the executor of each tool. Decides whether a call without a result waits for the client. */
  tools?: ToolExecutors;
  /** Provider as its model names it (`anthropic.messages`). Recorded with each step to attribute provider-executed tools. */
  provider?: string;
  onLoss?: OnLoss;
  /** Whether `raw` parts, the provider's own chunks, are passed on. Default: true. */
  includeRaw?: boolean;
  /** Whether the model reports the provider's own finish reason. Models of specification v2 do not. Default: true. */
  reportsFinishReason?: boolean;
  /** Point at which the run is resumed. The decoder continues its ids, steps, usage and open calls. */
  from?: ResumePoint;
}

/**
 * Decodes `streamText().fullStream` (`stream` in 7): every `TextStreamPart` of ai 6 and 7. Assigns part ids that are unique in
 * the thread. Recognizes parts by their fields, accepts any value and never throws; unknown parts become `raw`. Compose with
 * `seal`.
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
      // The first error of the stream is the cause; a failure at its end is a consequence.
      if (end.reason !== 'aborted') decoder.fail(emit);
    },
  };
}

type Kind = 'text' | 'reasoning';

/** Parts that can occur between two results of one call. */
const partsBetweenResults: ReadonlySet<string> = new Set(['tool-result', 'tool-error', 'raw', 'ping']);

class PartDecoder {
  #run: RunInput;
  #onLoss: OnLoss;
  #includeRaw: boolean;
  #reportsFinishReason: boolean;
  #provider: string | undefined;
  #ids: PartIds;
  /** Id of the last part or call that started. */
  #lastId: string | undefined;
  #stepId: string | undefined;
  #steps = 0;
  #models = new Set<string>();
  /** Usage of the steps before the point at which the run was resumed. */
  #earlierUsage: Usage[] = [];
  /** Open parts by wire id. One map per kind, so that a delta needs no composed key. */
  #parts: { readonly [Key in Kind]: Map<string, string> } = { text: new Map(), reasoning: new Map() };
  #calls: FullStreamCallDecoder;
  #cause: Fault | undefined;
  #hasEnded = false;
  #hasReportedRequest = false;

  constructor(run: RunInput, options: FullStreamDecoderOptions) {
    const { tools, provider, onLoss = () => undefined, includeRaw = true, reportsFinishReason = true, from } = options;
    this.#run = run;
    this.#provider = provider;
    this.#onLoss = onLoss;
    this.#includeRaw = includeRaw;
    this.#reportsFinishReason = reportsFinishReason;
    const ids = createPartIds(run, from);
    this.#ids = {
      next: () => (this.#lastId = ids.next()),
      open: (wireId) => (this.#lastId = ids.open(wireId)),
      of: (wireId) => ids.of(wireId),
      toolCallId: (wireId) => ids.toolCallId(wireId),
    };
    this.#calls = new FullStreamCallDecoder({
      run,
      ids: this.#ids,
      getExecutor: createExecutorLookup(run, tools),
      hasPartialResults: (toolName) => isImageTool(toolName, tools),
      onLoss,
      getAttribution: (part) => this.#getAttribution(part),
      getLastId: () => this.#lastId,
      reportMalformed: (part, why, emit) => this.#reportMalformed(part, why, emit),
    });
    if (from) this.#restore(from);
  }

  #restore({ events, message }: ResumePoint): void {
    this.#calls.restore(message.content);
    for (const event of events) {
      if (event.type === 'step-start') this.#steps += 1;
      if (event.type === 'notice' && event.level === 'error') this.#cause = toCause(event);
      if (event.type !== 'step-end') continue;
      // Only the error of the last step ends a run.
      if (event.finishReason !== 'error') this.#cause = undefined;
      if (event.response?.modelId !== undefined) this.#models.add(event.response.modelId);
      if (event.usage) this.#earlierUsage.push(...event.usage);
    }
  }

  feed(value: unknown, emit: Emit<AgentEvent>): void {
    if (this.#hasEnded) {
      this.#onLoss({
        kind: 'late',
        what: asText(asFields(value).type) ?? 'none',
        why: 'It came after the run had ended.',
      });
    } else if (!isFields(value) || typeof value.type !== 'string') {
      this.#reportMalformed(value, 'A part must be an object with a type.', emit);
    } else this.#decode(value.type, value, emit);
  }

  releaseResults(emit: Emit<AgentEvent>): void {
    this.#calls.releaseResults(emit);
  }

  /** Ends the run with the first error, if the stream stopped without an end of its own. */
  fail(emit: Emit<AgentEvent>): void {
    if (this.#hasEnded || this.#cause === undefined) return;
    this.#emitEnd({ type: 'run-end', outcome: 'error', error: this.#cause }, emit);
  }

  #decode(type: string, part: Fields, emit: Emit<AgentEvent>): void {
    if (!partsBetweenResults.has(type)) this.#calls.releaseResults(emit);
    switch (type) {
      case 'start':
      case 'ping':
        // `seal` writes `run-start`; a ping only keeps the connection alive.
        return;
      case 'text-start':
      case 'reasoning-start':
        return this.#startPart(type === 'text-start' ? 'text' : 'reasoning', part, emit);
      case 'text-delta':
      case 'reasoning-delta':
        return this.#appendDelta(type === 'text-delta' ? 'text' : 'reasoning', part, emit);
      case 'text-end':
      case 'reasoning-end':
        return this.#endPart(type === 'text-end' ? 'text' : 'reasoning', part, emit);
      case 'tool-input-start':
        return this.#calls.decodeInputStart(part, emit);
      case 'tool-input-delta':
        return this.#calls.decodeInputDelta(part, emit);
      case 'tool-input-end':
        return this.#calls.decodeInputEnd(part, emit);
      case 'tool-call':
        return this.#calls.decodeCall(part, emit);
      case 'tool-result':
      case 'tool-error':
      case 'tool-output-denied':
        return this.#calls.decodeResult(type, part, emit);
      case 'tool-approval-request':
        return this.#calls.decodeQuestion(part, emit);
      case 'tool-approval-response':
        return this.#calls.decodeAnswer(part, emit);
      case 'file':
      case 'reasoning-file':
        return this.#decodeFile(part, type === 'reasoning-file', emit);
      case 'source':
        return this.#decodeSource(part, emit);
      case 'custom':
        return this.#decodeCustom(part, emit);
      case 'steering-message':
        return this.#decodeSteering(part, emit);
      case 'start-step':
        return this.#startStep(part, emit);
      case 'finish-step':
        return this.#endStep(part, emit);
      case 'finish':
        return this.#decodeFinish(part, emit);
      case 'abort': {
        const reason = asText(part.reason);
        return this.#emitEnd({ type: 'run-end', outcome: 'aborted', ...(reason !== undefined && { reason }) }, emit);
      }
      case 'error':
        return this.#decodeError(part, emit);
      case 'raw':
        if (this.#includeRaw) this.#emitRaw(part, emit);
        else this.#onLoss({ kind: 'withheld', what: 'raw', why: 'The option "includeRaw" is off.' });
        return;
      default:
        this.#emitRaw(part, emit);
    }
  }

  #startPart(kind: Kind, part: Fields, emit: Emit<AgentEvent>): void {
    const id = this.#ids.next();
    this.#parts[kind].set(toKey(part.id), id);
    emit({ type: `${kind}-start`, id, ...this.#getAttribution(part) });
  }

  #appendDelta(kind: Kind, part: Fields, emit: Emit<AgentEvent>): void {
    const id = this.#parts[kind].get(toKey(part.id));
    const delta = asText(part.text);
    if (id === undefined) return this.#reportMalformed(part, `No ${kind} with that id is open.`, emit);
    if (delta === undefined) return this.#reportMalformed(part, 'The delta has no text.', emit);
    const type = kind === 'text' ? 'text-delta' : 'reasoning-delta';
    const providerMetadata = parseMetadata(part.providerMetadata, this.#onLoss);
    // An empty delta can carry a signature.
    if (providerMetadata) emit({ type, id, delta, providerMetadata });
    else if (delta !== '') emit({ type, id, delta });
  }

  #endPart(kind: Kind, part: Fields, emit: Emit<AgentEvent>): void {
    const key = toKey(part.id);
    const id = this.#parts[kind].get(key);
    if (id === undefined) return this.#reportMalformed(part, `No ${kind} with that id is open.`, emit);
    this.#parts[kind].delete(key);
    const citations = Array.isArray(part.citations) ? (toJson(part.citations, this.#onLoss) as Json[]) : undefined;
    if (kind === 'reasoning') emit({ type: 'reasoning-end', id, ...this.#parseMetadata(part) });
    else emit({ type: 'text-end', id, ...(citations && { citations }), ...this.#parseMetadata(part) });
  }

  #decodeFile(part: Fields, reasoning: boolean, emit: Emit<AgentEvent>): void {
    const file = asFields(part.file);
    const body = parseFileBody({ data: file.base64, mediaType: file.mediaType, filename: part.filename }, this.#onLoss);
    if (body === undefined) return this.#reportMalformed({ type: part.type }, 'The file has no content.', emit);
    const { providerMetadata, ...attribution } = this.#getAttribution(part);
    const metadata = mergeMeta(parseMetadata(file.providerMetadata, this.#onLoss), providerMetadata);
    emit({
      type: 'file',
      id: this.#ids.next(),
      ...body,
      ...(reasoning && { reasoning: true }),
      ...attribution,
      ...(metadata && { providerMetadata: metadata }),
    });
  }

  #decodeSource(part: Fields, emit: Emit<AgentEvent>): void {
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
      ...this.#getAttribution(part),
    });
  }

  #decodeCustom(part: Fields, emit: Emit<AgentEvent>): void {
    const name = toProviderDataName(asText(part.kind) ?? 'custom');
    emit({ type: 'data', id: this.#ids.next(), name, data: null, ...this.#getAttribution(part) });
  }

  /** A steering message precedes the step that it steers, so it has no step. */
  #decodeSteering(part: Fields, emit: Emit<AgentEvent>): void {
    const parts = decodeUserContent(asFields(part.message).content, this.#onLoss);
    emit({ type: 'interjection', id: this.#ids.next(), role: 'user', parts });
  }

  #startStep(part: Fields, emit: Emit<AgentEvent>): void {
    this.#stepId = `${this.#run.runId}:step-${this.#steps}`;
    this.#steps += 1;
    if (!this.#hasReportedRequest && asFields(part.request).body !== undefined) {
      this.#hasReportedRequest = true;
      const why = 'The request to the provider can contain keys, and repeats the history.';
      this.#onLoss({ kind: 'withheld', what: 'start-step.request', why });
    }
    const warnings = Array.isArray(part.warnings) ? (this.#toJson(part.warnings) as Json[]) : [];
    emit({ type: 'step-start', stepId: this.#stepId, ...(warnings.length > 0 && { warnings }) });
  }

  #endStep(part: Fields, emit: Emit<AgentEvent>): void {
    const stepId = this.#stepId;
    if (stepId === undefined) return this.#reportMalformed(part, 'No step is open.', emit);
    this.#stepId = undefined;
    this.#parts.text.clear();
    this.#parts.reasoning.clear();
    const { id, modelId, timestamp } = asFields(part.response);
    const response = defined({ id: asText(id), modelId: asText(modelId), timestamp: toTimestamp(timestamp) });
    if (response.modelId !== undefined) this.#models.add(response.modelId);
    const usage = decodeUsage(part.usage, response.modelId, this.#onLoss);
    const own: JsonObject = defined({
      performance: part.performance === undefined ? undefined : this.#toJson(part.performance),
      provider: this.#provider,
    });
    const metadata = mergeMeta(
      parseMetadata(part.providerMetadata, this.#onLoss),
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

  #decodeFinish(part: Fields, emit: Emit<AgentEvent>): void {
    const finishReason = mapFinishReason(part.finishReason);
    const model = this.#models.size === 1 ? [...this.#models][0] : undefined;
    const usage = this.#addEarlierUsage(decodeUsage(part.totalUsage, model, this.#onLoss));
    const rawFinishReason = asText(part.rawFinishReason);
    // Provider packages start with `other` and no raw reason, and replace both when the provider finishes; some of 7 report a
    // truncated stream as `interrupted`. Usage does not prove an end: some providers send it with every chunk. Google's
    // interactions have a status instead of a reason, `in_progress` until the provider finishes.
    const isUnfinished =
      finishReason === 'other' && (rawFinishReason === undefined || rawFinishReason === 'in_progress');
    const cut = isUnfinished && (this.#reportsFinishReason || usage.length === 0);
    this.#emitEnd(
      {
        type: 'run-end',
        finishReason,
        ...defined({ rawFinishReason }),
        ...(usage.length > 0 && { usage }),
        ...this.#toOutcome(cut ? 'interrupted' : finishReason),
      },
      emit,
    );
  }

  #addEarlierUsage(usage: Usage[]): Usage[] {
    return this.#earlierUsage.length === 0 ? usage : sumUsage([...this.#earlierUsage, ...usage]);
  }

  #toOutcome(finishReason: FinishReason): Outcome {
    if (finishReason === 'error') {
      const error = this.#cause ?? { message: 'The model finished with an unspecified error.' };
      return { outcome: 'error', error };
    }
    if (finishReason === 'interrupted') {
      const message =
        'The provider’s stream ended without a finish reason. Retry the run, or continue from its message.';
      return { outcome: 'error', error: this.#cause ?? { message, code: 'truncated' } };
    }
    const waitingFor = this.#calls.listPending(finishReason);
    return waitingFor.length > 0 ? { outcome: 'paused', waitingFor } : { outcome: 'complete' };
  }

  #decodeError(part: Fields, emit: Emit<AgentEvent>): void {
    const fault = toFault(part.error);
    this.#cause ??= fault;
    const { message, code, data } = fault;
    emit({ type: 'notice', level: 'error', message, ...defined({ code, stepId: this.#stepId, data }) });
  }

  #emitEnd(event: EventOf<'run-end'>, emit: Emit<AgentEvent>): void {
    this.#hasEnded = true;
    emit(event);
  }

  #emitRaw(part: unknown, emit: Emit<AgentEvent>): void {
    emit({ type: 'raw', dialect: 'ai-sdk', value: capJson(part, undefined, this.#onLoss) });
  }

  /** Emits a part of a known type that is invalid here as `raw`, with a notice. */
  #reportMalformed(part: unknown, why: string, emit: Emit<AgentEvent>): void {
    this.#emitRaw(part, emit);
    const message = `Ignored an invalid ${asText(asFields(part).type) ?? 'part'} in the model's stream. ${why}`;
    emit({ type: 'notice', level: 'warning', message, code: 'malformed' });
  }

  #getAttribution(part: Fields): Pick<Attribution, 'stepId' | 'providerMetadata'> {
    const attribution: Attribution = {};
    if (this.#stepId !== undefined) attribution.stepId = this.#stepId;
    const providerMetadata = parseMetadata(part.providerMetadata, this.#onLoss);
    if (providerMetadata) attribution.providerMetadata = providerMetadata;
    return attribution;
  }

  #parseMetadata(part: Fields): { providerMetadata?: Meta } {
    const providerMetadata = parseMetadata(part.providerMetadata, this.#onLoss);
    return providerMetadata ? { providerMetadata } : {};
  }

  #toJson(value: unknown): Json {
    return value === undefined ? null : toJson(value, this.#onLoss);
  }
}

function toCause({ message, code, data }: EventOf<'notice'>): Fault {
  return { message, ...defined({ code, data }) };
}

function toTimestamp(value: unknown): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  return asText(value);
}

/** Decodes `LanguageModelUsage` of 6 and 7. Counts that are not reported stay absent: zero would be a claim. */
function decodeUsage(value: unknown, model: string | undefined, onLoss: OnLoss): Usage[] {
  const usage = asFields(value);
  const input = asFields(usage.inputTokenDetails);
  const output = asFields(usage.outputTokenDetails);
  const counts = defined({
    inputTokens: asNumber(usage.inputTokens),
    outputTokens: asNumber(usage.outputTokens),
    totalTokens: asNumber(usage.totalTokens),
    reasoningTokens: asNumber(output.reasoningTokens) ?? asNumber(usage.reasoningTokens),
    cacheReadTokens: asNumber(input.cacheReadTokens) ?? asNumber(usage.cachedInputTokens),
    cacheWriteTokens: asNumber(input.cacheWriteTokens),
    raw: usage.raw === undefined ? undefined : toJson(usage.raw, onLoss),
  });
  return Object.keys(counts).length === 0 ? [] : [{ ...(model !== undefined && { model }), ...counts }];
}

const finishReasons: ReadonlySet<unknown> = new Set<FinishReason>([
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'interrupted',
  'other',
]);

/** The AI SDK's finish reasons equal ours. A reason of a later version becomes `other`. */
function mapFinishReason(value: unknown): FinishReason {
  return finishReasons.has(value) ? (value as FinishReason) : 'other';
}
