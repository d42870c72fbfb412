import {
  toFault,
  type AgentEvent,
  type Emit,
  type EventOf,
  type Fault,
  type FinishReason,
  type Json,
  type JsonObject,
  type Meta,
  type OnLoss,
  type RunInput,
} from '@intertie/core';
import {
  mergeMeta,
  toJson,
  type CallBody,
  type Executor,
  type PartIds,
  type Attribution,
} from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { lateResult } from '../messages/late-results.ts';
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
  /** The input as the SDK has it: its results refer to the same value. */
  input?: unknown;
  stepId?: string;
};

/** What the calls need of the decoder around them. */
export interface CallContext {
  run: RunInput;
  ids: PartIds;
  getExecutor: ExecutorLookup;
  /** Whether a tool of the provider may have several results, the last of which is final. */
  hasPartialResults(toolName: string): boolean;
  onLoss: OnLoss;
  /** In which step a part is, and its metadata. */
  getAttribution(part: Fields): Pick<Attribution, 'stepId' | 'providerMetadata'>;
  /** The last part or call that began. */
  getLastId(): string | undefined;
  /** A part of a known type that does not fit where it is. */
  reportMalformed(part: unknown, why: string, emit: Write): void;
}

/** Decodes the calls of a `fullStream`, their results and their approvals. */
export class FullStreamCallDecoder {
  #context: CallContext;
  /** The calls of this run, by our id. */
  #calls = new Map<string, Call>();
  /** Calls of this run that share a wire id with an unsettled call before them, by wire id, in their order. */
  #duplicates = new Map<string, string[]>();
  /** Last results of calls that may get another one. */
  #heldResults = new Map<string, EventOf<'tool-result'> & { status: 'ok' }>();
  /** Questions that nobody has answered, and the call of each. */
  #questions = new Map<string, string | undefined>();
  /** Why a call was denied, where the answer said so. */
  #denials = new Map<string, string>();

  constructor(context: CallContext) {
    this.#context = context;
  }

  decodeInputStart(part: Fields, emit: Write): void {
    emit({ type: 'tool-input-start', ...this.#openCall(part, part.id, 'streaming') });
  }

  /** Our id of the call, if its input is open. */
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
    // A wire id that comes again after its call is complete is another call.
    const call =
      known !== undefined && streamed?.state === 'streaming'
        ? this.#completeCall(known, streamed, part)
        : this.#openCall(part, wireId, 'open');
    // The provider has run its own tool, whatever the SDK thinks of the call: its result will follow.
    const invalid = part.invalid === true && call.executor !== 'provider' ? toToolFault(part.error) : undefined;
    if (part.invalid === true && invalid === undefined) {
      const { message } = toToolFault(part.error);
      emit({ type: 'notice', level: 'warning', message, code: 'invalid-call', toolCallId: call.toolCallId });
    }
    this.#calls.get(call.toolCallId)!.input = part.input;
    emit({ type: 'tool-call', input: this.#toJson(part.input), ...(invalid && { invalid }), ...call });
  }

  decodeResult(type: 'tool-result' | 'tool-error' | 'tool-output-denied', part: Fields, emit: Write): void {
    // Approved and denied calls of an earlier run get their results before the first step: those are of the baseline.
    const toolCallId = this.#findUnsettledDuplicate(part) ?? this.#context.ids.of(toKey(part.toolCallId));
    if (toolCallId === undefined) return this.#context.reportMalformed(part, 'There is no call of that id.', emit);
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

  /** Emits the results that were held: the stream continues with something else, so they are final. */
  releaseResults(emit: Write): void {
    if (this.#heldResults.size === 0) return;
    const held = [...this.#heldResults.values()];
    this.#heldResults.clear();
    for (const result of held) emit(result);
  }

  /** Where the result of a provider's tool came, unless that is right after its call. It goes back in the same place. */
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
    return lateResult(isNext ? undefined : last, stepId === call.stepId ? undefined : stepId);
  }

  decodeQuestion(part: Fields, emit: Write): void {
    const questionId = asNonEmptyText(part.approvalId);
    if (questionId === undefined) return this.#context.reportMalformed(part, 'An approval request has an id.', emit);
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
      return this.#context.reportMalformed(part, 'An approval response names its request.', emit);
    const toolCallId = this.#questions.get(questionId);
    this.#questions.delete(questionId);
    const reason = asText(part.reason);
    if (toolCallId !== undefined && reason !== undefined) this.#denials.set(toolCallId, reason);
    emit({ type: 'answer', questionId, approved: part.approved === true, ...(reason !== undefined && { reason }) });
  }

  /** `streamText` has run every tool that it could: what is left is the client's, unless the answer was cut short. */
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

  /** A further result follows: the one before it was preliminary, though `streamText` does not pass that on. */
  #emitHeldAsPreliminary(toolCallId: string, emit: Write): void {
    const held = this.#heldResults.get(toolCallId);
    if (held === undefined) return;
    this.#heldResults.delete(toolCallId);
    emit({ ...held, preliminary: true });
  }

  /** Our id of the call whose input goes on. */
  #findStreamingCall(part: Fields, emit: Write): string | undefined {
    const toolCallId = this.#context.ids.of(toKey(part.id));
    if (toolCallId !== undefined && this.#calls.get(toolCallId)?.state === 'streaming') return toolCallId;
    this.#context.reportMalformed(part, 'No tool input of that id is open.', emit);
    return undefined;
  }

  /** Of several calls with the result's wire id: the one with the result's input, or else the first without a result. */
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

  /** What `tool-input-start` said holds: of an invalid call the SDK says `dynamic`, whatever it said before. */
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
   * Adds the remaining fields of a part to its call. The provider's id is kept where ours differs, on the opening and on the
   * complete call: readers of either must find it.
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

/** A provider's tool may fail with a value of its own, which goes back to it as it was. */
function toToolFault(error: unknown): Fault {
  const fault = toFault(error);
  const isOwn = isFields(error) && !(error instanceof Error) && typeof error.message !== 'string';
  return isOwn ? { ...fault, data: toJson(error) } : fault;
}

/** What the person said who denied a call of the baseline. */
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
 * What the model wrote, before the tool's schema transformed it. `streamText` hides it behind a private symbol, and demands
 * it back with the approval: the input is validated again then, and a transformed one fails. Undefined: there is none.
 */
function getInputBeforeSchema(toolCall: unknown): { value: unknown } | undefined {
  if (!isFields(toolCall)) return undefined;
  const key = Object.getOwnPropertySymbols(toolCall).find(
    (symbol) => symbol.description === 'ai-sdk-tool-call-input-schema-input',
  );
  return key === undefined ? undefined : { value: Reflect.get(toolCall, key) as unknown };
}
