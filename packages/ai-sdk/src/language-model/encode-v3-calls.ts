import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { Emit, EventOf, Json, JsonObject, Meta, OnLoss } from '@intertie/core';
import { mergeMeta } from '@intertie/core/internal';
import { withIntertie } from '../shared/intertie-metadata.ts';
import { defined } from '../shared/read-fields.ts';
import { toV3Metadata, addMetadata } from './v3-metadata.ts';

type Write = Emit<LanguageModelV3StreamPart>;
type V3Part<Type extends LanguageModelV3StreamPart['type']> = Extract<LanguageModelV3StreamPart, { type: Type }>;
type CallEvent = EventOf<'tool-input-start' | 'tool-call'>;
type Call = {
  toolName: string;
  owner: 'caller' | 'run';
  isComplete: boolean;
  meta: Meta | undefined;
  hasReportedPreliminary?: true;
};

/** State and functions of the surrounding encoder. */
export interface V3CallContext {
  /** Names of the caller's tools. */
  callerTools: ReadonlySet<string> | undefined;
  onLoss: OnLoss;
  /** Whether the caller may see a call. If not, its later events are withheld too. */
  isVisible(event: CallEvent, id: string): boolean;
  isWithheld(id: string): boolean;
  /** Returns the metadata of a call with its identity and `details` in our fields. */
  getMetadata(event: CallEvent, details: JsonObject): Meta | undefined;
}

/** Encodes calls, results and approvals as parts of a V3 stream. */
export class V3CallEncoder {
  #context: V3CallContext;
  #calls = new Map<string, Call>();
  /** Inputs that stream before their executor is known. */
  #heldInputs = new Map<string, Array<EventOf<'tool-input-start' | 'tool-input-delta' | 'tool-input-end'>>>();
  #hasQuestion = false;

  constructor(context: V3CallContext) {
    this.#context = context;
  }

  /** Whether the run waits for the caller: to run a tool, or to answer an approval. */
  get isWaiting(): boolean {
    if (this.#hasQuestion) return true;
    for (const { owner, isComplete } of this.#calls.values()) if (owner === 'caller' && isComplete) return true;
    return false;
  }

  encodeInput(event: EventOf<'tool-input-start' | 'tool-input-delta' | 'tool-input-end'>, emit: Write): void {
    const { toolCallId: id } = event;
    const held = this.#heldInputs.get(id);
    if (held) return void held.push(event);
    if (event.type === 'tool-input-start') {
      if (!this.#context.isVisible(event, id)) return;
      if (event.executor === undefined && this.#context.callerTools === undefined)
        return void this.#heldInputs.set(id, [event]);
      const { toolName } = event;
      const call = this.#openCall(event);
      const { inputEncoding, title } = event;
      emit({
        type: event.type,
        id,
        toolName,
        ...getOwnerFields(call),
        ...defined({ inputEncoding, title }),
        ...toV3Metadata(call.meta),
      });
      return;
    }
    const call = this.#calls.get(id);
    if (!call) {
      if (this.#context.isWithheld(id)) return;
      return this.#context.onLoss({ kind: 'repaired', what: event.type, why: 'No part with that id is open.', id });
    }
    call.meta = mergeMeta(call.meta, event.providerMetadata);
    if (event.type === 'tool-input-end') emit({ type: event.type, id });
    else emit({ type: event.type, id, delta: event.delta });
  }

  encodeCall(event: EventOf<'tool-call'>, emit: Write): void {
    const { toolCallId, toolName, input, providerMetadata, invalid } = event;
    if (!this.#context.isVisible(event, toolCallId)) return;
    const held = this.#heldInputs.get(toolCallId);
    this.#heldInputs.delete(toolCallId);
    if (held) {
      const { executor = 'runtime' } = event;
      for (const part of held) this.encodeInput(part.type === 'tool-input-start' ? { ...part, executor } : part, emit);
    }
    const call = this.#calls.get(toolCallId) ?? this.#openCall(event);
    call.isComplete = true;
    call.meta = mergeMeta(call.meta, providerMetadata);
    // The run contains the error result of an invalid call, so the caller must not run it.
    if (invalid) call.owner = 'run';
    const part: V3Part<'tool-call'> = { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) };
    emit(addMetadata(Object.assign(part, getOwnerFields(call)), call.meta));
  }

  encodeResult(event: EventOf<'tool-result'>, emit: Write): void {
    const { toolCallId: id } = event;
    const call = this.#calls.get(id);
    if (!call?.isComplete) {
      if (this.#context.isWithheld(id)) return;
      const why = 'The stream has no call for it. A result without a call corrupts the SDK’s history.';
      return this.#context.onLoss({ kind: 'withheld', what: 'tool-result', why, id });
    }
    if (call.owner === 'caller') {
      const why = 'The caller runs this call; V3 has results only for provider-executed calls.';
      return this.#context.onLoss({ kind: 'unsupported', what: 'tool-result', why, id });
    }
    if (event.status === 'ok' && event.preliminary) {
      if (call.hasReportedPreliminary) return;
      call.hasReportedPreliminary = true;
      const why = 'The SDK would treat a preliminary result as final.';
      return this.#context.onLoss({ kind: 'withheld', what: 'preliminary result', why, id });
    }
    const { toolName } = call;
    const { result, isError, intertie } = toV3Result(event);
    const part: V3Part<'tool-result'> = { type: 'tool-result', toolCallId: id, toolName, result, dynamic: true };
    if (isError) part.isError = true;
    emit(addMetadata(part, intertie ? withIntertie(event.providerMetadata, intertie) : event.providerMetadata));
  }

  /** Encodes an approval. The SDK supports it only for provider-executed calls that it has already received. */
  encodeQuestion(event: EventOf<'question'>, emit: Write): void {
    const { questionId: approvalId, toolCallId, providerMetadata } = event;
    const call = toolCallId === undefined ? undefined : this.#calls.get(toolCallId);
    if (toolCallId === undefined || !call?.isComplete || call.owner !== 'run' || event.kind !== 'approval') {
      const why = 'V3 supports only approvals of provider-executed calls.';
      return this.#context.onLoss({ kind: 'unsupported', what: 'question', why, id: approvalId });
    }
    this.#hasQuestion = true;
    const { reason, message } = event;
    const meta = withIntertie(providerMetadata, defined({ reason, message }));
    emit({ type: 'tool-approval-request', approvalId, toolCallId, ...toV3Metadata(meta) });
  }

  #openCall(event: CallEvent): Call {
    const { toolCallId, toolName, executor } = event;
    const isCallers =
      executor === 'client' || (executor === undefined && this.#context.callerTools?.has(toolName) === true);
    const isKnown = this.#context.callerTools === undefined || this.#context.callerTools.has(toolName);
    if (isCallers && !isKnown) {
      const why = `The caller has no tool "${toolName}", so the call cannot get a result. Add it to the tools of the call.`;
      this.#context.onLoss({ kind: 'unsupported', what: 'client tool', why, id: toolCallId });
    }
    const { title, toolMetadata } = event;
    const meta = this.#context.getMetadata(event, defined({ executor, title, toolMetadata }));
    const call: Call = { toolName, owner: isCallers && isKnown ? 'caller' : 'run', isComplete: false, meta };
    this.#calls.set(toolCallId, call);
    return call;
  }
}

/** Without `dynamic` the SDK looks up the tool in the caller's set and marks the call as invalid. */
function getOwnerFields({ owner }: Call): { providerExecuted?: true; dynamic?: true } {
  return owner === 'run' ? { providerExecuted: true, dynamic: true } : {};
}

type V3Result = { result: NonNullable<Json>; isError?: true; intertie?: JsonObject };

/** Converts a result. V3 results cannot be null. */
function toV3Result(event: EventOf<'tool-result'>): V3Result {
  switch (event.status) {
    case 'ok':
      return event.content
        ? { result: event.output ?? '', intertie: { content: true } }
        : { result: event.output ?? '' };
    case 'error': {
      const { message, ...details } = event.error;
      return { result: Object.keys(details).length > 0 ? event.error : message, isError: true };
    }
    case 'denied':
      return { result: event.reason ?? 'The call was denied.', isError: true, intertie: { denied: true } };
  }
}
