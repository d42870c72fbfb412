import type { Emit, EventOf, Fault, Json, JsonObject, Loss, Meta, OnLoss } from '@intertie/core';
import { isSettled, mergeMeta, type ToolPart } from '@intertie/core/internal';
import { isApproved } from '../../shared/ai-sdk-approval.ts';
import { carry } from '../chunk/carry-event.ts';
import {
  callFields,
  callSlot,
  faultSlot,
  isPlain,
  resultFields,
  type CallEvent,
  type UICall,
} from './encode-ui-call.ts';
import { takeSlot, withSlot } from '../../shared/intertie-metadata.ts';
import { defined } from '../../shared/read-fields.ts';
import type { UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import { deniedText, denialId } from '../chunk/ui-question-id.ts';
import type { UISteps } from './ui-steps.ts';

type DeniedEvent = Extract<EventOf<'tool-result'>, { status: 'denied' }>;
type Write = Emit<UIMessageChunk>;

export interface UIToolsOptions {
  version: UIMessageVersion;
  /** If given: the tools that the page has types for, and thus parts `tool-<name>`. */
  staticTools: ReadonlySet<string> | undefined;
  onLoss: OnLoss;
}

/** Writes calls and their results as the tool chunks of a UI message stream. */
export class UITools {
  #options: UIToolsOptions;
  #steps: UISteps;
  #calls = new Map<string, UICall>();

  constructor(options: UIToolsOptions, steps: UISteps) {
    this.#options = options;
    this.#steps = steps;
  }

  get(toolCallId: string): UICall | undefined {
    return this.#calls.get(toolCallId);
  }

  /** The client has this call already. */
  learn(part: ToolPart): void {
    const meta = withSlot(part.providerMetadata, callSlot(part, this.#isDynamic(part)));
    this.#calls.set(part.toolCallId, {
      state: isSettled(part.state) ? 'settled' : part.state === 'call' ? 'complete' : 'streaming',
      toolName: part.toolName,
      dynamic: this.#isDynamic(part),
      meta,
      sent: meta,
      ...(part.resultMetadata && { resultMeta: part.resultMetadata }),
      ...(part.preliminary && { hasPreliminary: true }),
      ...(part.executor === 'provider' && { providerExecuted: true }),
      ...(part.approval && { questionId: part.approval.questionId }),
      ...(part.approval && isApproved(part.approval) === false && { isRefused: true }),
    });
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
    this.#steps.addCall(event.toolCallId, call.stepId, call.providerExecuted === true);
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
    if (!isFinal) call.hasPreliminary = true;
    else call.state = 'settled';
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
        this.#deny(event, call, emit);
        return true;
    }
  }

  #open(event: CallEvent, emit: Write): UICall {
    const { toolCallId, toolName, stepId } = event;
    const dynamic = this.#isDynamic(event);
    const call: UICall = {
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
    this.#steps.addCall(toolCallId, stepId, call.providerExecuted === true);
    return call;
  }

  #writeStart(event: CallEvent, call: UICall, emit: Write): void {
    const { inputEncoding } = event;
    call.sent = call.meta;
    emit({ type: 'tool-input-start', ...callFields(event, call), ...(inputEncoding && { inputEncoding }) });
  }

  /** The metadata of `tool-input-error` becomes that of the result, so the call's own goes ahead of it. */
  #writeInvalid(
    event: CallEvent & { input: Json },
    call: UICall,
    streamed: boolean,
    invalid: Fault,
    emit: Write,
  ): void {
    if (!streamed || call.sent !== call.meta) this.#writeStart(event, call, emit);
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

  /**
   * The client wants a call that is denied to have an approval that says so. Where nobody has said no, 7 is told of one that is
   * made up; 6 has no chunk for an answer, and is told of an error.
   */
  #deny(event: DeniedEvent, call: UICall, emit: Write): void {
    const { toolCallId, reason } = event;
    if (call.hasPreliminary) {
      const why = 'The client keeps the preliminary output of a call that is denied.';
      this.#lose({ kind: 'unsupported', what: 'order', why, id: toolCallId });
    }
    if (!call.isRefused && this.#options.version === 6) {
      const providerMetadata = withSlot(call.resultMeta, { denied: defined({ reason }) })!;
      const errorText = reason ?? deniedText;
      return emit({ type: 'tool-output-error', toolCallId, ...resultFields(call), errorText, providerMetadata });
    }
    if (reason !== undefined || event.providerMetadata) carry(event, emit);
    if (!call.isRefused) {
      const approvalId = denialId(toolCallId);
      emit({ type: 'tool-approval-request', approvalId, toolCallId });
      emit({ type: 'tool-approval-response', approvalId, approved: false, ...defined({ reason }) });
    }
    emit({ type: 'tool-output-denied', toolCallId });
  }

  #isDynamic({ toolName, dynamic }: { toolName: string; dynamic?: boolean }): boolean {
    const { staticTools } = this.#options;
    return staticTools === undefined ? dynamic === true : !staticTools.has(toolName);
  }

  #lose(loss: Loss): void {
    this.#options.onLoss(loss);
  }
}

function contentOfPreliminary(id: string): Loss {
  const why = 'That it is made of text and files is only said of the final result.';
  return { kind: 'unsupported', what: 'preliminary result', why, id };
}
