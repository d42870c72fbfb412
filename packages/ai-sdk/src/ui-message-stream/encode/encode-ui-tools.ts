import type { Emit, EventOf, Fault, Json, JsonObject, Loss, Meta, OnLoss } from '@intertie/core';
import { isSettled, mergeMeta, type ToolPart } from '@intertie/core/internal';
import { isApproved } from '../../shared/ai-sdk-approval.ts';
import { emitDataEvent } from './emit-data-event.ts';
import {
  toCallFields,
  getCallMetadata,
  toFaultMetadata,
  hasOnlyMessage,
  toResultFields,
  type CallEvent,
  type UICall,
} from './encode-ui-call.ts';
import { splitMetadata, withIntertie } from '../../shared/intertie-metadata.ts';
import { defined } from '../../shared/read-fields.ts';
import type { UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import { defaultDenialText, toDenialId } from '../chunk/ui-question-id.ts';
import type { UIStepEncoder } from './encode-ui-steps.ts';

type DeniedEvent = Extract<EventOf<'tool-result'>, { status: 'denied' }>;
type Write = Emit<UIMessageChunk>;

export interface UIToolEncoderOptions {
  version: UIMessageVersion;
  /** Tools that the page has types for (parts `tool-<name>`), if known. */
  staticTools: ReadonlySet<string> | undefined;
  onLoss: OnLoss;
}

/** Encodes calls and their results as tool chunks. */
export class UIToolEncoder {
  #options: UIToolEncoderOptions;
  #steps: UIStepEncoder;
  #calls = new Map<string, UICall>();

  constructor(options: UIToolEncoderOptions, steps: UIStepEncoder) {
    this.#options = options;
    this.#steps = steps;
  }

  getCall(toolCallId: string): UICall | undefined {
    return this.#calls.get(toolCallId);
  }

  /** Adds a call that the client already has. */
  addBaseline(part: ToolPart): void {
    const meta = withIntertie(part.providerMetadata, getCallMetadata(part, this.#isDynamic(part)));
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

  /** Sends the metadata of calls that were never completed as data events, at the end of the run. */
  flushMetadata(emit: Write): void {
    for (const [id, call] of this.#calls) {
      if (call.state !== 'streaming' || call.meta === call.sent) continue;
      const { meta: providerMetadata } = splitMetadata(call.meta);
      const why = 'The call was never completed, and no other chunk can carry its metadata.';
      this.#options.onLoss({ kind: 'unsupported', what: 'metadata', why, id });
      if (providerMetadata) emitDataEvent({ type: 'metadata', id, providerMetadata }, emit);
    }
  }

  /** Forgets the calls of a discarded step, whether or not the client has removed their parts. */
  discardStep(stepId: string): void {
    for (const [id, call] of this.#calls) if (call.stepId === stepId) this.#calls.delete(id);
  }

  encodeInputStart(event: EventOf<'tool-input-start'>, emit: Write): void {
    const call = this.#openCall(event, emit);
    this.#steps.openPart(event.toolCallId, event.stepId);
    this.#emitStart(event, call, emit);
  }

  encodeInputDelta({ toolCallId, delta, providerMetadata }: EventOf<'tool-input-delta'>, emit: Write): boolean {
    const call = this.#calls.get(toolCallId);
    if (call === undefined) return false;
    if (providerMetadata) call.meta = mergeMeta(call.meta, providerMetadata);
    // Empty deltas are skipped: the client parses the whole input again for every delta.
    if (delta !== '') emit({ type: 'tool-input-delta', toolCallId, inputTextDelta: delta });
    return true;
  }

  /** Merges metadata for the next chunk of a call. Returns false if no such chunk will follow. */
  addMetadata(toolCallId: string, providerMetadata: Meta): boolean {
    const call = this.#calls.get(toolCallId);
    if (call?.state !== 'streaming') return false;
    call.meta = mergeMeta(call.meta, providerMetadata);
    return true;
  }

  encodeCall(event: EventOf<'tool-call'>, emit: Write): void {
    let call = this.#calls.get(event.toolCallId);
    const streamed = call !== undefined;
    if (call === undefined) call = this.#openCall(event, emit);
    else {
      call.meta = mergeMeta(call.meta, withIntertie(event.providerMetadata, getCallMetadata(event, call.dynamic)));
      if (event.executor === 'provider') call.providerExecuted = true;
    }
    call.state = 'complete';
    if (event.invalid) call.invalid = event.invalid;
    if (streamed && !this.#steps.hasCall(event.toolCallId)) {
      const why = 'Its UI step has ended, so the part stays in its streamed state until the result.';
      this.#options.onLoss({ kind: 'unsupported', what: 'tool-call', why, id: event.toolCallId });
      return;
    }
    this.#steps.closePart(event.toolCallId);
    this.#steps.addCall(event.toolCallId, call.stepId, call.providerExecuted === true);
    if (event.invalid) this.#emitInvalid(event, call, streamed, event.invalid, emit);
    else {
      call.sent = call.meta;
      emit({ type: 'tool-input-available', ...toCallFields(event, call), input: event.input });
    }
  }

  /** Returns false if the client does not have the call. */
  encodeResult(event: EventOf<'tool-result'>, emit: Write): boolean {
    const call = this.#calls.get(event.toolCallId);
    if (call === undefined) return false;
    const { toolCallId } = event;
    const resultMeta = mergeMeta(call.resultMeta, event.providerMetadata);
    if (resultMeta) call.resultMeta = resultMeta;
    const isFinal = event.status !== 'ok' || !event.preliminary;
    if (!isFinal && call.invalid) {
      const why = 'The client shows the invalid call as failed.';
      this.#options.onLoss({ kind: 'unsupported', what: 'preliminary result', why, id: toolCallId });
      return true;
    }
    if (!isFinal) call.hasPreliminary = true;
    else call.state = 'settled';
    const fields = { toolCallId, ...toResultFields(call) };
    switch (event.status) {
      case 'ok': {
        const intertie: JsonObject = event.content && isFinal ? { content: true } : {};
        if (event.content && !isFinal) this.#options.onLoss(toPreliminaryLoss(toolCallId));
        const providerMetadata = withIntertie(resultMeta, intertie);
        const extra = { ...(!isFinal && { preliminary: true }), ...(providerMetadata && { providerMetadata }) };
        emit({ type: 'tool-output-available', ...fields, output: event.output, ...extra });
        return true;
      }
      case 'error': {
        const { error } = event;
        // Already sent with `tool-input-error`.
        if (error.message === call.invalid?.message && !resultMeta && hasOnlyMessage(error)) return true;
        const providerMetadata = withIntertie(resultMeta, toFaultMetadata(error));
        const extra = providerMetadata && { providerMetadata };
        emit({ type: 'tool-output-error', ...fields, errorText: error.message, ...extra });
        return true;
      }
      case 'denied':
        this.#emitDenied(event, call, emit);
        return true;
    }
  }

  #openCall(event: CallEvent, emit: Write): UICall {
    const { toolCallId, toolName, stepId } = event;
    const dynamic = this.#isDynamic(event);
    const call: UICall = {
      state: 'streaming',
      toolName,
      dynamic,
      ...(stepId !== undefined && { stepId }),
      meta: withIntertie(event.providerMetadata, getCallMetadata(event, dynamic)),
      sent: undefined,
      ...(event.executor === 'provider' && { providerExecuted: true }),
    };
    this.#calls.set(toolCallId, call);
    this.#steps.enterStep(stepId, 'other', emit);
    this.#steps.addCall(toolCallId, stepId, call.providerExecuted === true);
    return call;
  }

  #emitStart(event: CallEvent, call: UICall, emit: Write): void {
    const { inputEncoding } = event;
    call.sent = call.meta;
    emit({ type: 'tool-input-start', ...toCallFields(event, call), ...(inputEncoding && { inputEncoding }) });
  }

  /** Sends the call's metadata first, because that of `tool-input-error` becomes the metadata of the result. */
  #emitInvalid(event: CallEvent & { input: Json }, call: UICall, streamed: boolean, invalid: Fault, emit: Write): void {
    if (!streamed || call.sent !== call.meta) this.#emitStart(event, call, emit);
    const { providerMetadata: _, ...fields } = toCallFields(event, call);
    const providerMetadata = withIntertie(undefined, toFaultMetadata(invalid));
    emit({
      type: 'tool-input-error',
      ...fields,
      input: event.input,
      errorText: invalid.message,
      ...(providerMetadata && { providerMetadata }),
    });
  }

  /**
   * The client requires a refused approval for a denied call. Without one, 7 gets a synthetic approval; 6, which has no chunk
   * for an answer, gets an error.
   */
  #emitDenied(event: DeniedEvent, call: UICall, emit: Write): void {
    const { toolCallId, reason } = event;
    if (call.hasPreliminary) {
      const why = 'The client keeps the preliminary output of a denied call.';
      this.#options.onLoss({ kind: 'unsupported', what: 'order', why, id: toolCallId });
    }
    if (!call.isRefused && this.#options.version === 6) {
      const providerMetadata = withIntertie(call.resultMeta, { denied: defined({ reason }) })!;
      const errorText = reason ?? defaultDenialText;
      return emit({ type: 'tool-output-error', toolCallId, ...toResultFields(call), errorText, providerMetadata });
    }
    if (reason !== undefined || event.providerMetadata) emitDataEvent(event, emit);
    if (!call.isRefused) {
      const approvalId = toDenialId(toolCallId);
      emit({ type: 'tool-approval-request', approvalId, toolCallId });
      emit({ type: 'tool-approval-response', approvalId, approved: false, ...defined({ reason }) });
    }
    emit({ type: 'tool-output-denied', toolCallId });
  }

  #isDynamic({ toolName, dynamic }: { toolName: string; dynamic?: boolean }): boolean {
    const { staticTools } = this.#options;
    return staticTools === undefined ? dynamic === true : !staticTools.has(toolName);
  }
}

function toPreliminaryLoss(id: string): Loss {
  const why = 'Only a final result can be marked as text and files.';
  return { kind: 'unsupported', what: 'preliminary result', why, id };
}
