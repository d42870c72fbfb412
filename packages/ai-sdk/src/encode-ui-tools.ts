import {
  mergeMeta,
  type Emit,
  type EventOf,
  type Fault,
  type Json,
  type JsonObject,
  type Loss,
  type Meta,
  type OnLoss,
  type QuestionPart,
  type ToolPart,
} from '@intertie/core';
import { keptSlot, takeSlot, withSlot } from './intertie-slot.ts';
import { defined, jsonObjectOf } from './read-fields.ts';
import { extensionId } from './ui-extension.ts';
import type { UIMessageChunk, UIMessageVersion } from './ui-message-chunk.ts';
import { questionCallId } from './ui-question-id.ts';
import type { UISteps } from './ui-steps.ts';

type CallEvent = EventOf<'tool-input-start' | 'tool-call'>;
type Write = Emit<UIMessageChunk>;

/** A call as the client knows it. */
type Call = {
  state: 'streaming' | 'complete' | 'settled';
  toolName: string;
  /** Said on every chunk of the call, and always the same: two values make two parts. */
  dynamic: boolean;
  stepId?: string;
  /** With the slot. The client replaces what it has, so the whole is sent each time. */
  meta: Meta | undefined;
  /** What of it the client has. */
  sent: Meta | undefined;
  resultMeta?: Meta;
  providerExecuted?: true;
  invalid?: Fault;
  questionId?: string;
};

export interface UIToolsOptions {
  version: UIMessageVersion;
  /** If given: the tools that the page has types for, and thus parts `tool-<name>`. */
  staticTools: ReadonlySet<string> | undefined;
  onLoss: OnLoss;
}

/** Writes calls, results, questions and answers as the tool chunks of a UI message stream. */
export class UITools {
  #options: UIToolsOptions;
  #steps: UISteps;
  #calls = new Map<string, Call>();
  /** The call that a question is the approval of; undefined if it is a tool part of its own. */
  #questions = new Map<string, string | undefined>();

  constructor(options: UIToolsOptions, steps: UISteps) {
    this.#options = options;
    this.#steps = steps;
  }

  has(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  hasQuestion(questionId: string): boolean {
    return this.#questions.has(questionId);
  }

  /** The client has this call already. */
  learn(part: ToolPart): void {
    const meta = withSlot(part.providerMetadata, callSlot(part, this.#isDynamic(part)));
    const settled = part.state === 'result' || part.state === 'error' || part.state === 'denied';
    this.#calls.set(part.toolCallId, {
      state: settled ? 'settled' : part.state === 'call' ? 'complete' : 'streaming',
      toolName: part.toolName,
      dynamic: this.#isDynamic(part),
      meta,
      sent: meta,
      ...(part.resultMetadata && { resultMeta: part.resultMetadata }),
      ...(part.executor === 'provider' && { providerExecuted: true }),
      ...(part.approval && { questionId: part.approval.questionId }),
    });
    if (part.approval) this.#questions.set(part.approval.questionId, part.toolCallId);
  }

  learnQuestion({ questionId }: QuestionPart): void {
    this.#questions.set(questionId, undefined);
  }

  /** The run is over: metadata that waited for a call that never came. */
  end(emit: Write): void {
    for (const [id, call] of this.#calls) {
      if (call.state !== 'streaming' || call.meta === call.sent) continue;
      const { meta: providerMetadata } = takeSlot(call.meta);
      const why = 'The call was never completed, and its chunks have no other place for metadata.';
      this.#lose({ kind: 'unsupported', what: 'metadata', why, id });
      if (providerMetadata) carry({ type: 'metadata', id, providerMetadata }, emit);
    }
  }

  /** The turn was retried: nothing more is said of its calls, whether or not the client has dropped their parts. */
  forget(stepId: string): void {
    for (const [id, call] of this.#calls) if (call.stepId === stepId) this.#calls.delete(id);
  }

  inputStart(event: EventOf<'tool-input-start'>, emit: Write): void {
    const call = this.#open(event, emit);
    this.#steps.hold(event.toolCallId, event.stepId);
    this.#writeStart(event, call, emit);
  }

  inputDelta({ toolCallId, delta, providerMetadata }: EventOf<'tool-input-delta'>, emit: Write): boolean {
    const call = this.#calls.get(toolCallId);
    if (call === undefined) return false;
    if (providerMetadata) call.meta = mergeMeta(call.meta, providerMetadata);
    // The client reads the whole input again for every chunk of it.
    if (delta !== '') emit({ type: 'tool-input-delta', toolCallId, inputTextDelta: delta });
    return true;
  }

  /** Whether there was still a chunk to come that could carry it. */
  addMetadata(toolCallId: string, providerMetadata: Meta): boolean {
    const call = this.#calls.get(toolCallId);
    if (call?.state !== 'streaming') return false;
    call.meta = mergeMeta(call.meta, providerMetadata);
    return true;
  }

  call(event: EventOf<'tool-call'>, emit: Write): void {
    let call = this.#calls.get(event.toolCallId);
    const streamed = call !== undefined;
    if (call === undefined) call = this.#open(event, emit);
    else {
      call.meta = mergeMeta(call.meta, withSlot(event.providerMetadata, callSlot(event, call.dynamic)));
      if (event.executor === 'provider') call.providerExecuted = true;
    }
    call.state = 'complete';
    if (event.invalid) call.invalid = event.invalid;
    if (streamed && !this.#steps.hasCall(event.toolCallId)) {
      const why = 'Its UI step is over, so the part stays as it was streamed until its result.';
      this.#lose({ kind: 'unsupported', what: 'tool-call', why, id: event.toolCallId });
      return;
    }
    this.#steps.release(event.toolCallId);
    if (event.invalid) this.#writeInvalid(event, call, streamed, event.invalid, emit);
    else {
      call.sent = call.meta;
      emit({ type: 'tool-input-available', ...callFields(event, call), input: event.input });
    }
  }

  /** Whether the client knows the call. */
  result(event: EventOf<'tool-result'>, emit: Write): boolean {
    const call = this.#calls.get(event.toolCallId);
    if (call === undefined) return false;
    const { toolCallId } = event;
    const resultMeta = mergeMeta(call.resultMeta, event.providerMetadata);
    if (resultMeta) call.resultMeta = resultMeta;
    const isFinal = event.status !== 'ok' || !event.preliminary;
    if (!isFinal && call.invalid) {
      const why = 'The client shows the call as failed: it was invalid, and never run.';
      this.#lose({ kind: 'unsupported', what: 'preliminary result', why, id: toolCallId });
      return true;
    }
    if (isFinal) {
      call.state = 'settled';
      if (!call.providerExecuted) this.#steps.addResult(toolCallId);
    }
    const said = { toolCallId, ...resultFields(call) };
    switch (event.status) {
      case 'ok': {
        const slot: JsonObject = event.content && isFinal ? { content: true } : {};
        if (event.content && !isFinal) this.#lose(contentOfPreliminary(toolCallId));
        const providerMetadata = withSlot(resultMeta, slot);
        const more = { ...(!isFinal && { preliminary: true }), ...(providerMetadata && { providerMetadata }) };
        emit({ type: 'tool-output-available', ...said, output: event.output, ...more });
        return true;
      }
      case 'error': {
        const { error } = event;
        // `tool-input-error` has said it, and the client shows it.
        if (error.message === call.invalid?.message && !resultMeta && isPlain(error)) return true;
        const providerMetadata = withSlot(resultMeta, faultSlot(error));
        const more = providerMetadata && { providerMetadata };
        emit({ type: 'tool-output-error', ...said, errorText: error.message, ...more });
        return true;
      }
      case 'denied':
        if (event.reason !== undefined || event.providerMetadata) carry(event, emit);
        emit({ type: 'tool-output-denied', toolCallId });
        return true;
    }
  }

  /** Whether a question can be asked as the approval of its call. */
  canAsk(event: EventOf<'question'>): boolean {
    return this.#callOf(event) !== undefined;
  }

  /** `isAnswered`: and ai 6 has no chunk to say so. It must not be asked again. */
  question(event: EventOf<'question'>, isAnswered: boolean, emit: Write): void {
    const call = this.#callOf(event);
    if (call === undefined) return this.#ask(event, emit);
    call.questionId = event.questionId;
    this.#questions.set(event.questionId, event.toolCallId);
    if (isAnswered) return carry(event, emit);
    this.#requestApproval(event, event.toolCallId!, emit);
  }

  /** Whether the client knows the question. */
  answer(event: EventOf<'answer'>, emit: Write): boolean {
    if (!this.#questions.has(event.questionId)) return false;
    const toolCallId = this.#questions.get(event.questionId);
    if (toolCallId === undefined) this.#answerPart(event, emit);
    else this.#respond(event, toolCallId, emit);
    return true;
  }

  /** The call that a question is the approval of. A call that is over, or asked about, cannot be asked about. */
  #callOf({ toolCallId }: EventOf<'question'>): Call | undefined {
    const call = toolCallId === undefined ? undefined : this.#calls.get(toolCallId);
    const isOver = call?.state === 'settled' || call?.invalid !== undefined || call?.questionId !== undefined;
    return isOver ? undefined : call;
  }

  #open(event: CallEvent, emit: Write): Call {
    const { toolCallId, toolName, stepId } = event;
    const dynamic = this.#isDynamic(event);
    const call: Call = {
      state: 'streaming',
      toolName,
      dynamic,
      ...(stepId !== undefined && { stepId }),
      meta: withSlot(event.providerMetadata, callSlot(event, dynamic)),
      sent: undefined,
      ...(event.executor === 'provider' && { providerExecuted: true }),
    };
    this.#calls.set(toolCallId, call);
    this.#steps.enter(stepId, 'other', emit);
    this.#steps.addCall(toolCallId);
    return call;
  }

  #writeStart(event: CallEvent, call: Call, emit: Write): void {
    const { inputEncoding } = event;
    call.sent = call.meta;
    emit({ type: 'tool-input-start', ...callFields(event, call), ...(inputEncoding && { inputEncoding }) });
  }

  /** The metadata of `tool-input-error` becomes that of the result, so the call's own goes ahead of it. */
  #writeInvalid(event: CallEvent & { input: Json }, call: Call, streamed: boolean, invalid: Fault, emit: Write): void {
    if (!streamed || call.sent !== call.meta) this.#writeStart(event, call, emit);
    if (!call.providerExecuted) this.#steps.addResult(event.toolCallId);
    const { providerMetadata: _, ...said } = callFields(event, call);
    const providerMetadata = withSlot(undefined, faultSlot(invalid));
    emit({
      type: 'tool-input-error',
      ...said,
      input: event.input,
      errorText: invalid.message,
      ...(providerMetadata && { providerMetadata }),
    });
  }

  #requestApproval(event: EventOf<'question'>, toolCallId: string, emit: Write): void {
    const {
      type: _,
      at: __,
      origin: ___,
      questionId: approvalId,
      toolCallId: ____,
      providerMetadata,
      ...asked
    } = event;
    const { kind, reason, automatic, ...details } = asked;
    const { 'ai-sdk': own = {}, ...others } = providerMetadata ?? {};
    const { signature, approvalDescriptor, inputSchemaInput, ...rest } = own;
    const meta: Meta = { ...others, ...(Object.keys(rest).length > 0 && { 'ai-sdk': rest }) };
    const is7 = this.#options.version === 7;
    const more = {
      ...details,
      ...(kind !== 'approval' && { kind }),
      ...(!is7 && defined({ reason, automatic })),
      ...(Object.keys(meta).length > 0 && { providerMetadata: meta }),
    };
    const hasMore = Object.keys(more).length > 0;
    if (hasMore && approvalDescriptor !== undefined) carry(event, emit);
    const descriptor = approvalDescriptor ?? (hasMore ? { intertie: more } : undefined);
    emit({
      type: 'tool-approval-request',
      approvalId,
      toolCallId,
      ...(descriptor !== undefined && { approvalDescriptor: descriptor }),
      ...(inputSchemaInput !== undefined && { inputSchemaInput }),
      ...(typeof signature === 'string' && { signature }),
      ...(is7 && defined({ reason, isAutomatic: automatic })),
    });
  }

  #respond(event: EventOf<'answer'>, toolCallId: string, emit: Write): void {
    const { questionId, approved, reason, value, cancelled, by, providerMetadata } = event;
    const canSay = this.#options.version === 7 && this.#calls.get(toolCallId)?.state !== 'settled';
    if (!canSay) {
      const why =
        this.#options.version === 6
          ? 'ai 6 has no chunk for it; the client that answered knows, others learn it from the result.'
          : 'The call is settled, and its state does not go back.';
      this.#lose({ kind: 'unsupported', what: 'answer', why, id: questionId });
    }
    const more = [value, cancelled, by, providerMetadata].some((said) => said !== undefined);
    if (!canSay || more || approved === undefined) carry(event, emit);
    if (!canSay) return;
    emit({
      type: 'tool-approval-response',
      approvalId: questionId,
      approved: approved ?? cancelled !== true,
      ...(reason !== undefined && { reason }),
    });
  }

  /** A question about nothing is a dynamic tool that the page answers with `addToolOutput`. */
  #ask(event: EventOf<'question'>, emit: Write): void {
    const { type: _, at: __, origin: ___, agentId, questionId, providerMetadata, ...input } = event;
    this.#questions.set(questionId, undefined);
    this.#steps.note(undefined);
    const toolCallId = questionCallId(questionId);
    this.#steps.addCall(toolCallId);
    emit({
      type: 'tool-input-available',
      toolCallId,
      toolName: event.reason || 'question',
      input,
      dynamic: true,
      ...defined({ providerMetadata: withSlot(providerMetadata, { question: true, ...defined({ agentId }) }) }),
    });
  }

  #answerPart(event: EventOf<'answer'>, emit: Write): void {
    const { type: _, at: __, origin: ___, questionId, value, providerMetadata, ...answer } = event;
    const toolCallId = questionCallId(questionId);
    this.#steps.addResult(toolCallId);
    const said = {
      toolCallId,
      dynamic: true,
      ...defined({ providerMetadata: withSlot(providerMetadata, { answer }) }),
    };
    if (event.cancelled) {
      if (value !== undefined) carry(event, emit);
      emit({ type: 'tool-output-error', ...said, errorText: event.reason || 'The question was cancelled.' });
      return;
    }
    // The output is the value, or where there is none the answer itself.
    emit({ type: 'tool-output-available', ...said, output: value === undefined ? answer : value });
  }

  #isDynamic({ toolName, dynamic }: { toolName: string; dynamic?: boolean }): boolean {
    const { staticTools } = this.#options;
    return staticTools === undefined ? dynamic === true : !staticTools.has(toolName);
  }

  #lose(loss: Loss): void {
    this.#options.onLoss(loss);
  }
}

/** An event that has no chunk, or that its chunk does not hold, for readers who know it. */
export function carry(
  event: EventOf<'step-start' | 'step-end' | 'metadata' | 'tool-result' | 'question' | 'answer' | 'run-end'>,
  emit: Write,
): void {
  const { at: _, origin: __, ...data } = event;
  emit({ type: 'data-event', id: extensionId('event'), data, transient: true });
}

/** What the chunks of a call have no field for. */
function callSlot(event: CallEvent | ToolPart, isDynamic: boolean): JsonObject {
  const { executor, dynamic, inputEncoding, toolMetadata } = event;
  const slot = keptSlot({ ...event, id: undefined });
  if (executor === 'runtime' || executor === 'client') slot.executor = executor;
  if (dynamic !== undefined && (dynamic !== isDynamic || !dynamic)) slot.dynamic = dynamic;
  if (event.type !== 'tool-input-start' && inputEncoding !== undefined) slot.inputEncoding = inputEncoding;
  if (toolMetadata !== undefined && jsonObjectOf(toolMetadata) === undefined) slot.toolMetadata = toolMetadata;
  return slot;
}

type CallFields = {
  toolCallId: string;
  toolName: string;
  providerExecuted?: boolean;
  dynamic?: boolean;
  title?: string;
  toolMetadata?: JsonObject;
  providerMetadata?: Meta;
};

function callFields({ toolCallId, title, toolMetadata }: CallEvent, call: Call): CallFields {
  return {
    toolCallId,
    toolName: call.toolName,
    ...resultFields(call),
    ...defined({
      title,
      toolMetadata: toolMetadata === undefined ? undefined : jsonObjectOf(toolMetadata),
      providerMetadata: call.meta,
    }),
  };
}

function resultFields({ providerExecuted, dynamic }: Call): { providerExecuted?: true; dynamic?: true } {
  return { ...(providerExecuted && { providerExecuted }), ...(dynamic && { dynamic }) };
}

/** A fault that its message says all of. */
function isPlain(fault: Fault): boolean {
  return Object.keys(fault).length === 1;
}

/** What the text of an error does not say. */
function faultSlot(error: Fault): JsonObject {
  const { message: _, ...fault } = error;
  return Object.keys(fault).length > 0 ? { error: fault } : {};
}

function contentOfPreliminary(id: string): Loss {
  const why = 'That it is made of text and files is only said of the final result.';
  return { kind: 'unsupported', what: 'preliminary result', why, id };
}
