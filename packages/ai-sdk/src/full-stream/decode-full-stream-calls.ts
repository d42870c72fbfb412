import {
  toFault,
  type AgentEvent,
  type Emit,
  type EventOf,
  type Fault,
  type FinishReason,
  type Json,
  type JsonObject,
  type MessageContent,
  type Meta,
  type OnLoss,
  type RunInput,
  toJson,
} from '@intertie/core';
import { mergeMeta, type CallBody, type Executor, type PartIds, type Attribution } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { toLateResultMeta } from '../messages/late-results.ts';
import {
  defined,
  asFields,
  asBoolean,
  isFields,
  toKey,
  parseMetadata,
  asNonEmptyText,
  asText,
  type Fields,
} from '../shared/read-fields.ts';
import type { ExecutorLookup } from './tool-executors.ts';

type Write = Emit<AgentEvent>;
type Call = {
  state: 'streaming' | 'open' | 'settled';
  toolName: string;
  executor?: Executor;
  dynamic?: boolean;
  /** Input object of the SDK. Results repeat the same reference, which distinguishes calls with the same id. */
  input?: unknown;
  stepId?: string;
};

/** State and functions of the surrounding decoder. */
export interface CallContext {
  run: RunInput;
  ids: PartIds;
  getExecutor: ExecutorLookup;
  /** Whether a provider tool can have several results, of which the last is final. */
  hasPartialResults(toolName: string): boolean;
  onLoss: OnLoss;
  /** Returns the current step and the metadata of a part. */
  getAttribution(part: Fields): Pick<Attribution, 'stepId' | 'providerMetadata'>;
  /** Returns the id of the last part or call that started. */
  getLastId(): string | undefined;
  /** Emits a part of a known type that is invalid here as `raw` with a notice. */
  reportMalformed(part: unknown, why: string, emit: Write): void;
}

/** Decodes tool calls, results and approvals of a `fullStream`. */
export class FullStreamCallDecoder {
  #context: CallContext;
  /** Calls of this run, by canonical id. */
  #calls = new Map<string, Call>();
  /** Canonical ids of concurrent calls with the same wire id, by wire id, in stream order. */
  #duplicates = new Map<string, string[]>();
  /** Latest result of calls that can get another one. */
  #heldResults = new Map<string, EventOf<'tool-result'> & { status: 'ok' }>();
  /** Open questions with the call of each. */
  #questions = new Map<string, string | undefined>();
  /** Reasons of denied calls, from their answers. */
  #denials = new Map<string, string>();

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** Restores the open calls and questions of a message whose run is resumed. */
  restore({ parts }: MessageContent): void {
    for (const part of parts) {
      if (part.type !== 'tool-invocation' || part.state !== 'call') continue;
      const { toolCallId, toolName, executor, stepId, approval } = part;
      this.#calls.set(toolCallId, { state: 'open', toolName, ...defined({ executor, stepId }) });
      if (approval && !approval.answer && !approval.automatic) this.#questions.set(approval.questionId, toolCallId);
    }
  }

  decodeInputStart(part: Fields, emit: Write): void {
    emit({ type: 'tool-input-start', ...this.#openCall(part, part.id, 'streaming') });
  }

  decodeInputDelta(part: Fields, emit: Write): void {
    const toolCallId = this.#findStreamingCall(part, emit);
    if (toolCallId === undefined) return;
    const delta = asText(part.delta) ?? '';
    const providerMetadata = parseMetadata(part.providerMetadata, this.#context.onLoss);
    if (providerMetadata) emit({ type: 'tool-input-delta', toolCallId, delta, providerMetadata });
    else emit({ type: 'tool-input-delta', toolCallId, delta });
  }

  decodeInputEnd(part: Fields, emit: Write): void {
    const toolCallId = this.#findStreamingCall(part, emit);
    if (toolCallId !== undefined) emit({ type: 'tool-input-end', toolCallId, ...this.#parseMetadata(part) });
  }

  decodeCall(part: Fields, emit: Write): void {
    const wireId = asNonEmptyText(part.toolCallId);
    const known = wireId === undefined ? undefined : this.#context.ids.of(wireId);
    const streamed = known === undefined ? undefined : this.#calls.get(known);
    // A wire id that repeats after its call is complete belongs to another call.
    const call =
      known !== undefined && streamed?.state === 'streaming'
        ? this.#completeCall(known, streamed, part)
        : this.#openCall(part, wireId, 'open');
    // The provider ran its own tool even if the SDK considers the call invalid, and its result will follow.
    const invalid = part.invalid === true && call.executor !== 'provider' ? toToolFault(part.error) : undefined;
    if (part.invalid === true && invalid === undefined) {
      const { message } = toToolFault(part.error);
      emit({ type: 'notice', level: 'warning', message, code: 'invalid-call', toolCallId: call.toolCallId });
    }
    this.#calls.get(call.toolCallId)!.input = part.input;
    emit({ type: 'tool-call', input: this.#toJson(part.input), ...(invalid && { invalid }), ...call });
  }

  decodeResult(type: 'tool-result' | 'tool-error' | 'tool-output-denied', part: Fields, emit: Write): void {
    // Results before the first step settle calls of the baseline that were approved or denied.
    const toolCallId = this.#findUnsettledDuplicate(part) ?? this.#context.ids.of(toKey(part.toolCallId));
    if (toolCallId === undefined) return this.#context.reportMalformed(part, 'There is no call with that id.', emit);
    const call = this.#calls.get(toolCallId);
    const result = { type: 'tool-result', toolCallId } as const;
    const providerMetadata = mergeMeta(
      parseMetadata(part.providerMetadata, this.#context.onLoss),
      this.#getResultPosition(toolCallId),
    );
    const metadata = defined({ providerMetadata });
    if (type === 'tool-result') {
      const isPreliminary = part.preliminary === true;
      if (call && !isPreliminary) call.state = 'settled';
      const ok = { ...result, status: 'ok', output: this.#toJson(part.output), ...metadata } as const;
      if (isPreliminary) return emit({ ...ok, preliminary: true });
      if (call?.executor !== 'provider' || !this.#context.hasPartialResults(call.toolName)) return emit(ok);
      this.#emitHeldAsPreliminary(toolCallId, emit);
      this.#heldResults.set(toolCallId, ok);
      return;
    }
    this.#emitHeldAsPreliminary(toolCallId, emit);
    if (call) call.state = 'settled';
    if (type === 'tool-error') return emit({ ...result, status: 'error', error: toToolFault(part.error), ...metadata });
    const reason = this.#denials.get(toolCallId) ?? findDenialReason(this.#context.run, toolCallId);
    emit({ ...result, status: 'denied', ...(reason !== undefined && { reason }), ...metadata });
  }

  /** Emits the held results as final. Called when the stream continues with another part. */
  releaseResults(emit: Write): void {
    if (this.#heldResults.size === 0) return;
    const held = [...this.#heldResults.values()];
    this.#heldResults.clear();
    for (const result of held) emit(result);
  }

  /** Records the position of a provider tool's result that does not directly follow its call, to send it back there. */
  #getResultPosition(toolCallId: string): Meta | undefined {
    const { run } = this.#context;
    const call: Pick<Call, 'executor' | 'stepId'> | undefined =
      this.#calls.get(toolCallId) ??
      run.message?.parts.find((part) => part.type === 'tool-invocation' && part.toolCallId === toolCallId);
    if (call?.executor !== 'provider') return undefined;
    const last = this.#context.getLastId();
    const { stepId } = this.#context.getAttribution({});
    const isNext = last === toolCallId;
    if (isNext && stepId === call.stepId) return undefined;
    return toLateResultMeta(isNext ? undefined : last, stepId === call.stepId ? undefined : stepId);
  }

  decodeQuestion(part: Fields, emit: Write): void {
    const questionId = asNonEmptyText(part.approvalId);
    if (questionId === undefined)
      return this.#context.reportMalformed(part, 'An approval request must have an id.', emit);
    const toolCallId = this.#context.ids.of(toKey(asFields(part.toolCall).toolCallId));
    const before = getInputBeforeSchema(part.toolCall);
    const proof = defined({
      signature: asText(part.signature),
      inputSchemaInput: before && this.#toJson(before.value),
    });
    const providerMetadata = Object.keys(proof).length > 0 ? { 'ai-sdk': proof as JsonObject } : undefined;
    this.#questions.set(questionId, toolCallId);
    emit({
      type: 'question',
      questionId,
      kind: 'approval',
      ...defined({ toolCallId, reason: asText(part.reason) }),
      ...(part.isAutomatic === true && { automatic: true }),
      ...(providerMetadata && { providerMetadata }),
    });
  }

  decodeAnswer(part: Fields, emit: Write): void {
    const questionId = asNonEmptyText(part.approvalId);
    if (questionId === undefined)
      return this.#context.reportMalformed(part, 'An approval response must name its request.', emit);
    const toolCallId = this.#questions.get(questionId);
    this.#questions.delete(questionId);
    const reason = asText(part.reason);
    if (toolCallId !== undefined && reason !== undefined) this.#denials.set(toolCallId, reason);
    emit({ type: 'answer', questionId, approved: part.approved === true, ...(reason !== undefined && { reason }) });
  }

  /** Lists open questions and client calls. `streamText` has run all other tools, unless the response was cut short. */
  listPending(finishReason: FinishReason): Waiting[] {
    const askedCalls = new Set(this.#questions.values());
    const mayWaitForClient = finishReason === 'tool-calls' || finishReason === 'stop';
    const waiting: Waiting[] = [];
    for (const [toolCallId, { state, executor = mayWaitForClient ? 'client' : undefined }] of this.#calls) {
      if (state === 'open' && executor === 'client' && !askedCalls.has(toolCallId))
        waiting.push({ type: 'tool', toolCallId });
    }
    for (const questionId of this.#questions.keys()) waiting.push({ type: 'question', questionId });
    return waiting;
  }

  /** Emits the held result as preliminary because another one follows; `streamText` drops the provider's flag. */
  #emitHeldAsPreliminary(toolCallId: string, emit: Write): void {
    const held = this.#heldResults.get(toolCallId);
    if (held === undefined) return;
    this.#heldResults.delete(toolCallId);
    emit({ ...held, preliminary: true });
  }

  /** Returns the canonical id of the call whose input is streaming. */
  #findStreamingCall(part: Fields, emit: Write): string | undefined {
    const toolCallId = this.#context.ids.of(toKey(part.id));
    if (toolCallId !== undefined && this.#calls.get(toolCallId)?.state === 'streaming') return toolCallId;
    this.#context.reportMalformed(part, 'No tool input with that id is open.', emit);
    return undefined;
  }

  /** Finds the call of a result among calls with one wire id: by its input object, else the first without a result. */
  #findUnsettledDuplicate(part: Fields): string | undefined {
    const duplicates = this.#duplicates.get(toKey(part.toolCallId));
    const unsettled = duplicates?.filter((id) => this.#calls.get(id)?.state === 'open');
    return unsettled?.find((id) => this.#calls.get(id)?.input === part.input) ?? unsettled?.[0];
  }

  #openCall(part: Fields, wireId: unknown, state: Call['state']): CallBody & Attribution {
    const before = this.#context.ids.of(toKey(wireId));
    const toolCallId = this.#context.ids.open(asNonEmptyText(wireId));
    if (before !== undefined && this.#calls.get(before)?.state === 'open') {
      const duplicates = this.#duplicates.get(toKey(wireId)) ?? [before];
      this.#duplicates.set(toKey(wireId), [...duplicates, toolCallId]);
    }
    const toolName = asText(part.toolName) ?? '';
    const origin = defined({
      executor: this.#context.getExecutor(toolName, part.providerExecuted),
      dynamic: asBoolean(part.dynamic),
    });
    const { stepId } = this.#context.getAttribution({});
    this.#calls.set(toolCallId, { state, toolName, ...origin, ...defined({ stepId }) });
    return this.#toCallBody({ toolCallId, toolName, ...origin }, part, asNonEmptyText(wireId));
  }

  /** Completes a streamed call. `tool-input-start` takes precedence: the SDK marks every invalid call as `dynamic`. */
  #completeCall(toolCallId: string, call: Call, part: Fields): CallBody & Attribution {
    call.state = 'open';
    const { toolName } = call;
    const origin = defined({
      executor: call.executor ?? this.#context.getExecutor(toolName, part.providerExecuted ?? false),
      dynamic: call.dynamic ?? (part.invalid === true ? undefined : asBoolean(part.dynamic)),
    });
    Object.assign(call, origin);
    return this.#toCallBody({ toolCallId, toolName, ...origin }, part, asNonEmptyText(part.toolCallId));
  }

  /**
   * Adds the remaining fields of a part to its call. Records the provider's id if it differs from ours, both on
   * `tool-input-start` and on `tool-call`: a reader may see only one of them.
   */
  #toCallBody(call: CallBody & Attribution, part: Fields, wireId: string | undefined): CallBody & Attribution {
    const { title, inputEncoding, toolMetadata } = part;
    if (typeof title === 'string') call.title = title;
    if (inputEncoding === 'json' || inputEncoding === 'text') call.inputEncoding = inputEncoding;
    if (toolMetadata !== undefined) call.toolMetadata = this.#toJson(toolMetadata);
    const { stepId, providerMetadata } = this.#context.getAttribution(part);
    if (stepId !== undefined) call.stepId = stepId;
    const isRenamed = wireId !== undefined && wireId !== call.toolCallId;
    const metadata = isRenamed ? mergeMeta(providerMetadata, { 'ai-sdk': { toolCallId: wireId } }) : providerMetadata;
    if (metadata) call.providerMetadata = metadata;
    return call;
  }

  #parseMetadata(part: Fields): { providerMetadata?: Meta } {
    const providerMetadata = parseMetadata(part.providerMetadata, this.#context.onLoss);
    return providerMetadata ? { providerMetadata } : {};
  }

  #toJson(value: unknown): Json {
    return value === undefined ? null : toJson(value, this.#context.onLoss);
  }
}

/** Keeps an error that is a plain value as `data`: provider tools expect it back unchanged. */
function toToolFault(error: unknown): Fault {
  const fault = toFault(error);
  const isOwn = isFields(error) && !(error instanceof Error) && typeof error.message !== 'string';
  return isOwn ? { ...fault, data: toJson(error) } : fault;
}

/** Finds the reason for which a call of the baseline was denied. */
function findDenialReason({ message, answers }: RunInput, toolCallId: string): string | undefined {
  for (const part of message?.parts ?? []) {
    if (part.type !== 'tool-invocation' || part.toolCallId !== toolCallId || !part.approval) continue;
    const { questionId, answer } = part.approval;
    const given = answer ?? answers.find((other) => 'questionId' in other && other.questionId === questionId);
    return given && 'reason' in given ? given.reason : undefined;
  }
  return undefined;
}

/**
 * Returns the model's input before the tool's schema transformed it, if there is one. `streamText` stores it under a private
 * symbol and requires it with the approval: it validates the input again, and a transformed one fails.
 */
function getInputBeforeSchema(toolCall: unknown): { value: unknown } | undefined {
  if (!isFields(toolCall)) return undefined;
  const key = Object.getOwnPropertySymbols(toolCall).find(
    (symbol) => symbol.description === 'ai-sdk-tool-call-input-schema-input',
  );
  return key === undefined ? undefined : { value: Reflect.get(toolCall, key) as unknown };
}
