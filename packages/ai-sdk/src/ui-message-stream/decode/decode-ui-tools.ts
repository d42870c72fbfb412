import type { AgentEvent, Emit, EventOf, Fault, FinishReason, Json } from '@intertie/core';
import { toJson } from '@intertie/core';
import { isSettled, mergeMeta, type Executor } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { parseFault, toToolResult, type OutputChunk } from './decode-ui-result.ts';
import { splitMetadata } from '../../shared/intertie-metadata.ts';
import { defined, parseMetadata, omit } from '../../shared/read-fields.ts';
import type {
  UIToolInputAvailableChunk,
  UIToolInputDeltaChunk,
  UIToolInputErrorChunk,
  UIToolInputStartChunk,
} from '../chunk/ui-message-chunk.ts';
import type { UIDecoderContext } from './ui-decoder-context.ts';

type CallChunk = UIToolInputStartChunk | UIToolInputAvailableChunk | UIToolInputErrorChunk;
type Write = Emit<AgentEvent>;

type Call = {
  id: string;
  state: 'streaming' | 'complete' | 'settled';
  /** The `tool-input-start`, whose fields take precedence over those of later chunks. */
  opening?: EventOf<'tool-input-start'>;
  /** Whether the input is streaming. */
  isOpen: boolean;
  stepId?: string;
  /** Number of the UI step in which the input was completed. */
  uiStep: number;
  /** Input text so far. */
  text: string;
  executor?: Executor;
  /** Error of an invalid call whose error result has not been emitted. */
  invalid?: Fault;
  /** Whether the result came as a data event, and its chunk will follow. */
  isCarried?: boolean;
};

/** Decodes tool chunks. Methods return a problem if a chunk refers to an unknown call. */
export class UIToolDecoder {
  #context: UIDecoderContext;
  /** Calls by wire id. */
  #calls = new Map<string, Call>();
  #uiStep = 0;

  constructor(context: UIDecoderContext) {
    this.#context = context;
    for (const part of context.run.message?.parts ?? []) {
      if (part.type !== 'tool-invocation') continue;
      const { toolCallId: id, state } = part;
      this.#calls.set(id, {
        id,
        state: isSettled(state) ? 'settled' : state === 'call' ? 'complete' : 'streaming',
        isOpen: false,
        uiStep: 0,
        text: part.argsText ?? '',
        ...defined({ executor: part.executor }),
      });
    }
  }

  nextStep(): void {
    this.#uiStep += 1;
  }

  /** Returns the canonical id of a call. */
  findCallId(wireId: string): string | undefined {
    return this.#calls.get(wireId)?.id;
  }

  decodeInputStart(chunk: UIToolInputStartChunk, emit: Write): void {
    const known = this.#calls.get(chunk.toolCallId);
    if (known?.state === 'streaming') {
      // The client restarts the input. Earlier fields of the call take precedence; new ones are added.
      known.text = '';
      const { providerMetadata, ...fields } = this.#toCallBody(chunk, known.id, emit);
      if (known.opening) known.opening = { ...fields, ...known.opening };
      if (providerMetadata) emit({ type: 'metadata', id: known.id, providerMetadata });
      return;
    }
    const event: EventOf<'tool-input-start'> = {
      type: 'tool-input-start',
      ...this.#toCallBody(chunk, this.#context.ids.open(chunk.toolCallId), emit),
    };
    const { stepId, executor } = event;
    this.#calls.set(chunk.toolCallId, {
      id: event.toolCallId,
      state: 'streaming',
      opening: event,
      isOpen: true,
      uiStep: this.#uiStep,
      text: '',
      ...defined({ stepId, executor }),
    });
    this.#context.addOpenPart(stepId);
    emit(event);
  }

  decodeInputDelta(
    { toolCallId: wireId, inputTextDelta: delta }: UIToolInputDeltaChunk,
    emit: Write,
  ): string | undefined {
    const call = this.#calls.get(wireId);
    if (!call?.isOpen) return 'No input of that call is open.';
    call.text += delta;
    emit({ type: 'tool-input-delta', toolCallId: call.id, delta });
    return undefined;
  }

  /** Takes a canonical id. */
  isSettled(toolCallId: string): boolean {
    for (const { id, state } of this.#calls.values()) if (id === toolCallId) return state === 'settled';
    return false;
  }

  decodeInput(chunk: UIToolInputAvailableChunk | UIToolInputErrorChunk, emit: Write): void {
    const { intertie } = splitMetadata(parseMetadata(chunk.providerMetadata, this.#context.onLoss));
    const known = this.#calls.get(chunk.toolCallId);
    if (known && known.state !== 'streaming' && known.uiStep === this.#uiStep) {
      const why = 'The call is already complete; its first input is used.';
      return this.#context.onLoss({ kind: 'repaired', what: chunk.type, why, id: known.id });
    }
    const streamed = known?.state === 'streaming' ? known : undefined;
    if (streamed) this.#endInput(streamed, emit);
    const id = streamed?.id ?? this.#context.ids.open(chunk.toolCallId);
    const fields = this.#toCallBody(chunk, id, emit);
    const invalid = chunk.type === 'tool-input-error' ? parseFault(chunk.errorText, intertie.error) : undefined;
    if (invalid) delete fields.providerMetadata;
    const event: EventOf<'tool-call'> = {
      type: 'tool-call',
      ...fields,
      ...(streamed?.opening && omitOwnFields(streamed.opening)),
      input: toJson(chunk.input ?? null, this.#context.onLoss),
      ...(invalid && { invalid }),
    };
    this.#calls.set(chunk.toolCallId, {
      id,
      state: 'complete',
      isOpen: false,
      uiStep: this.#uiStep,
      text: '',
      ...defined({ stepId: event.stepId, executor: event.executor, invalid }),
    });
    emit(event);
  }

  decodeOutput(chunk: OutputChunk, emit: Write): string | undefined {
    const call = this.#calls.get(chunk.toolCallId);
    if (call === undefined) return 'There is no call with that id.';
    if (call.state === 'settled') {
      const { isCarried } = call;
      call.isCarried = false;
      if (!isCarried) {
        this.#context.onLoss({ kind: 'late', what: chunk.type, why: 'The call already has a result.', id: call.id });
      }
      return undefined;
    }
    if (call.state === 'streaming') this.#completeCall(call, emit);
    const result = toToolResult(chunk, this.#context.onLoss);
    if (result.status !== 'ok' || !result.preliminary) this.#settle(call);
    emit({ type: 'tool-result', toolCallId: call.id, ...result });
    return undefined;
  }

  /** Decodes a result from a data event. A chunk for it that follows is ignored. */
  decodeDataEvent(event: EventOf<'tool-result'>, emit: Write): void {
    const call = this.#calls.get(event.toolCallId);
    if (call && (event.status !== 'ok' || !event.preliminary)) {
      this.#settle(call);
      call.isCarried = true;
    }
    emit({ ...event, toolCallId: call?.id ?? event.toolCallId });
  }

  /** Emits the error results of invalid calls that have none. */
  settleInvalid(emit: Write): void {
    for (const call of this.#calls.values()) {
      if (!call.invalid || call.state !== 'complete') continue;
      const { invalid } = call;
      this.#settle(call);
      emit({ type: 'tool-result', toolCallId: call.id, status: 'error', error: invalid });
    }
  }

  /** Ends the inputs that a step left open. */
  endInputs(stepId: string, emit: Write): void {
    for (const call of this.#calls.values()) if (call.stepId === stepId) this.#endInput(call, emit);
  }

  /** Forgets the calls of a discarded step. */
  discardStep(stepId: string): void {
    for (const [wireId, call] of this.#calls) if (call.stepId === stepId) this.#calls.delete(wireId);
  }

  /** Lists the calls that wait for the client. `asking` contains calls that wait for an answer first. */
  listPending(finishReason: FinishReason | undefined, asking: ReadonlySet<string>): Waiting[] {
    const waiting: Waiting[] = [];
    for (const { id, state, executor } of this.#calls.values()) {
      if (state !== 'complete' || asking.has(id)) continue;
      // Routes in other languages often finish without a reason.
      const mayWait = finishReason === undefined || finishReason === 'tool-calls';
      const isForClient = executor === 'client' || (executor === undefined && mayWait);
      if (isForClient) waiting.push({ type: 'tool', toolCallId: id });
    }
    return waiting;
  }

  #toCallBody(chunk: CallChunk, toolCallId: string, emit: Write): Omit<EventOf<'tool-input-start'>, 'type'> {
    const { onLoss, getExecutor } = this.#context;
    const wireMeta = parseMetadata(chunk.providerMetadata, onLoss);
    const { intertie } = splitMetadata(wireMeta);
    const { providerMetadata, ...attribution } = this.#context.getAttribution(wireMeta, emit);
    const renamed = toolCallId === chunk.toolCallId ? undefined : { 'ai-sdk': { toolCallId: chunk.toolCallId } };
    const executor = intertie.executor ?? getExecutor(chunk.toolName, chunk.providerExecuted);
    const encoding = chunk.type === 'tool-input-start' ? chunk.inputEncoding : intertie.inputEncoding;
    const toolMetadata = chunk.toolMetadata === undefined ? intertie.toolMetadata : toJson(chunk.toolMetadata, onLoss);
    return {
      toolCallId,
      toolName: chunk.toolName,
      ...(isExecutor(executor) && { executor }),
      ...(typeof intertie.dynamic === 'boolean' ? { dynamic: intertie.dynamic } : chunk.dynamic && { dynamic: true }),
      ...((encoding === 'json' || encoding === 'text') && { inputEncoding: encoding }),
      ...defined({ title: chunk.title, toolMetadata, providerMetadata: mergeMeta(providerMetadata, renamed) }),
      ...attribution,
    };
  }

  #endInput(call: Call, emit: Write): void {
    if (!call.isOpen) return;
    call.isOpen = false;
    emit({ type: 'tool-input-end', toolCallId: call.id });
    this.#context.removeOpenPart(call.stepId, emit);
  }

  /** Completes a call that gets a result while its input is streaming. */
  #completeCall(call: Call, emit: Write): void {
    const why = 'Its result came before its input was complete; the streamed input is used.';
    this.#context.onLoss({ kind: 'repaired', what: 'tool-call', why, id: call.id });
    this.#endInput(call, emit);
    const { opening, id: toolCallId } = call;
    call.state = 'complete';
    const fields = opening ? omitOwnFields(opening) : { toolName: this.#findBaselineName(toolCallId) };
    emit({ type: 'tool-call', toolCallId, ...fields, input: parseInput(call.text) });
  }

  #findBaselineName(toolCallId: string): string {
    for (const part of this.#context.run.message?.parts ?? []) {
      if (part.type === 'tool-invocation' && part.toolCallId === toolCallId) return part.toolName;
    }
    return '';
  }

  #settle(call: Call): void {
    call.state = 'settled';
    delete call.invalid;
  }
}

function isExecutor(value: unknown): value is Executor {
  return value === 'provider' || value === 'runtime' || value === 'client';
}

/** Returns the fields of `tool-input-start` that `tool-call` repeats. */
function omitOwnFields(opening: EventOf<'tool-input-start'>): Omit<EventOf<'tool-input-start'>, 'type' | 'toolCallId'> {
  return omit(opening, 'type', 'toolCallId', 'providerMetadata');
}

function parseInput(text: string): Json {
  if (text === '') return {};
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
