import type {
  AgentEvent,
  Emit,
  EventOf,
  Fault,
  FinishReason,
  Json,
  Loss,
  Meta,
  OnLoss,
  RunInput,
} from '@intertie/core';
import { isSettled, mergeMeta, toJson, type Executor, type PartIds, type Attribution } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { parseFault, toToolResult, type OutputChunk } from './decode-ui-result.ts';
import { splitMetadata } from '../../shared/intertie-metadata.ts';
import { defined, parseMetadata, omit } from '../../shared/read-fields.ts';
import type { ExecutorLookup } from '../../full-stream/tool-executors.ts';
import type {
  UIToolInputAvailableChunk,
  UIToolInputDeltaChunk,
  UIToolInputErrorChunk,
  UIToolInputStartChunk,
} from '../chunk/ui-message-chunk.ts';

type CallChunk = UIToolInputStartChunk | UIToolInputAvailableChunk | UIToolInputErrorChunk;
type Write = Emit<AgentEvent>;

type Call = {
  id: string;
  state: 'streaming' | 'complete' | 'settled';
  /** What the opening said: it holds. */
  opening?: EventOf<'tool-input-start'>;
  /** Whether its input is still being streamed. */
  isOpen: boolean;
  stepId?: string;
  /** The UI step in which it was completed. */
  uiStep: number;
  /** The input so far. */
  text: string;
  executor?: Executor;
  /** Never run, and its error result is still owed. */
  invalid?: Fault;
  /** Its result came as an event, and the chunk of it is still to come. */
  isCarried?: boolean;
};

/** What the tools need of the decoder around them. */
export interface ToolContext {
  run: RunInput;
  ids: PartIds;
  getExecutor: ExecutorLookup;
  onLoss: OnLoss;
  /** Who says it and in which step, and the metadata that is not ours. */
  getAttribution(meta: Meta | undefined, emit: Write): Attribution;
  addOpenPart(stepId: string | undefined): void;
  removeOpenPart(stepId: string | undefined, emit: Write): void;
}

/** Decodes the tool chunks of a UI message stream. Gives a reason where a chunk fits nothing. */
export class UIToolDecoder {
  #context: ToolContext;
  /** By the wire's id. */
  #calls = new Map<string, Call>();
  #uiStep = 0;

  constructor(context: ToolContext) {
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

  /** Our id of a call that the wire names. */
  findCallId(wireId: string): string | undefined {
    return this.#calls.get(wireId)?.id;
  }

  decodeInputStart(chunk: UIToolInputStartChunk, emit: Write): void {
    const known = this.#calls.get(chunk.toolCallId);
    if (known?.state === 'streaming') {
      // The client begins the input anew. What was said of the call holds, and what is new is added.
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

  /** By our id. */
  isSettled(toolCallId: string): boolean {
    for (const { id, state } of this.#calls.values()) if (id === toolCallId) return state === 'settled';
    return false;
  }

  decodeInput(chunk: UIToolInputAvailableChunk | UIToolInputErrorChunk, emit: Write): void {
    const { intertie } = splitMetadata(parseMetadata(chunk.providerMetadata, this.#context.onLoss));
    const known = this.#calls.get(chunk.toolCallId);
    if (known && known.state !== 'streaming' && known.uiStep === this.#uiStep) {
      const why = 'The call is complete already; the first input counts.';
      return this.#reportLoss({ kind: 'repaired', what: chunk.type, why, id: known.id });
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
    if (call === undefined) return 'There is no call of that id.';
    if (call.state === 'settled') {
      const { isCarried } = call;
      call.isCarried = false;
      if (!isCarried) {
        this.#reportLoss({ kind: 'late', what: chunk.type, why: 'The call has its result already.', id: call.id });
      }
      return undefined;
    }
    if (call.state === 'streaming') this.#completeCall(call, emit);
    const result = toToolResult(chunk, this.#context.onLoss);
    if (result.status !== 'ok' || !result.preliminary) this.#settle(call);
    emit({ type: 'tool-result', toolCallId: call.id, ...result });
    return undefined;
  }

  /** A result that came as it is. Its chunk, if one follows, says nothing new. */
  decodeDataEvent(event: EventOf<'tool-result'>, emit: Write): void {
    const call = this.#calls.get(event.toolCallId);
    if (call && (event.status !== 'ok' || !event.preliminary)) {
      this.#settle(call);
      call.isCarried = true;
    }
    emit({ ...event, toolCallId: call?.id ?? event.toolCallId });
  }

  /** Invalid calls whose error nobody has written: it follows now. */
  settleInvalid(emit: Write): void {
    for (const call of this.#calls.values()) {
      if (!call.invalid || call.state !== 'complete') continue;
      const { invalid } = call;
      this.#settle(call);
      emit({ type: 'tool-result', toolCallId: call.id, status: 'error', error: invalid });
    }
  }

  /** A step is over, and so are its inputs. */
  endInputs(stepId: string, emit: Write): void {
    for (const call of this.#calls.values()) if (call.stepId === stepId) this.#endInput(call, emit);
  }

  /** The step never happened, and neither did its calls. */
  discardStep(stepId: string): void {
    for (const [wireId, call] of this.#calls) if (call.stepId === stepId) this.#calls.delete(wireId);
  }

  /** The calls that wait for the client. `asking`: those that wait for an answer first. */
  listPending(finishReason: FinishReason | undefined, asking: ReadonlySet<string>): Waiting[] {
    const waiting: Waiting[] = [];
    for (const { id, state, executor } of this.#calls.values()) {
      if (state !== 'complete' || asking.has(id)) continue;
      const isForClient = executor === 'client' || (executor === undefined && finishReason === 'tool-calls');
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

  /** A result for a call whose input nobody has called complete: what was streamed is taken for all of it. */
  #completeCall(call: Call, emit: Write): void {
    const why = 'Its result came before its input was complete; the input is what had been streamed.';
    this.#reportLoss({ kind: 'repaired', what: 'tool-call', why, id: call.id });
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

  #reportLoss(loss: Loss): void {
    this.#context.onLoss(loss);
  }
}

function isExecutor(value: unknown): value is Executor {
  return value === 'provider' || value === 'runtime' || value === 'client';
}

/** What `tool-input-start` said of the call, and `tool-call` repeats. */
function omitOwnFields(opening: EventOf<'tool-input-start'>): Omit<EventOf<'tool-input-start'>, 'type' | 'toolCallId'> {
  const fields = omit(opening, 'type', 'toolCallId', 'providerMetadata');
  return fields;
}

function parseInput(text: string): Json {
  if (text === '') return {};
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
