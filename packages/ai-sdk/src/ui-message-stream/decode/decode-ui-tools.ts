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
import { faultOf, resultOf, type OutputChunk } from './decode-ui-result.ts';
import { takeSlot } from '../../shared/intertie-metadata.ts';
import { defined, metaOf, omit } from '../../shared/read-fields.ts';
import type { ExecutorOf } from '../../full-stream/tool-executors.ts';
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
  executorOf: ExecutorOf;
  onLoss: OnLoss;
  /** Who says it and in which step, and the metadata that is not ours. */
  said(meta: Meta | undefined, emit: Write): Attribution;
  opened(stepId: string | undefined): void;
  closed(stepId: string | undefined, emit: Write): void;
}

/** Decodes the tool chunks of a UI message stream. Gives a reason where a chunk fits nothing. */
export class DecodedTools {
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
  idOf(wireId: string): string | undefined {
    return this.#calls.get(wireId)?.id;
  }

  inputStart(chunk: UIToolInputStartChunk, emit: Write): void {
    const known = this.#calls.get(chunk.toolCallId);
    if (known?.state === 'streaming') {
      // The client begins the input anew. What was said of the call holds, and what is new is added.
      known.text = '';
      const { providerMetadata, ...said } = this.#callBody(chunk, known.id, emit);
      if (known.opening) known.opening = { ...said, ...known.opening };
      if (providerMetadata) emit({ type: 'metadata', id: known.id, providerMetadata });
      return;
    }
    const event: EventOf<'tool-input-start'> = {
      type: 'tool-input-start',
      ...this.#callBody(chunk, this.#context.ids.open(chunk.toolCallId), emit),
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
    this.#context.opened(stepId);
    emit(event);
  }

  inputDelta({ toolCallId: wireId, inputTextDelta: delta }: UIToolInputDeltaChunk, emit: Write): string | undefined {
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

  input(chunk: UIToolInputAvailableChunk | UIToolInputErrorChunk, emit: Write): void {
    const { slot } = takeSlot(metaOf(chunk.providerMetadata, this.#context.onLoss));
    const known = this.#calls.get(chunk.toolCallId);
    if (known && known.state !== 'streaming' && known.uiStep === this.#uiStep) {
      const why = 'The call is complete already; the first input counts.';
      return this.#lose({ kind: 'repaired', what: chunk.type, why, id: known.id });
    }
    const streamed = known?.state === 'streaming' ? known : undefined;
    if (streamed) this.#endInput(streamed, emit);
    const id = streamed?.id ?? this.#context.ids.open(chunk.toolCallId);
    const said = this.#callBody(chunk, id, emit);
    const invalid = chunk.type === 'tool-input-error' ? faultOf(chunk.errorText, slot.error) : undefined;
    if (invalid) delete said.providerMetadata;
    const event: EventOf<'tool-call'> = {
      type: 'tool-call',
      ...said,
      ...(streamed?.opening && asOpened(streamed.opening)),
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

  output(chunk: OutputChunk, emit: Write): string | undefined {
    const call = this.#calls.get(chunk.toolCallId);
    if (call === undefined) return 'There is no call of that id.';
    if (call.state === 'settled') {
      const { isCarried } = call;
      call.isCarried = false;
      if (!isCarried) {
        this.#lose({ kind: 'late', what: chunk.type, why: 'The call has its result already.', id: call.id });
      }
      return undefined;
    }
    if (call.state === 'streaming') this.#completeBare(call, emit);
    const result = resultOf(chunk, this.#context.onLoss);
    if (result.status !== 'ok' || !result.preliminary) this.#settle(call);
    emit({ type: 'tool-result', toolCallId: call.id, ...result });
    return undefined;
  }

  /** A result that came as it is. Its chunk, if one follows, says nothing new. */
  carried(event: EventOf<'tool-result'>, emit: Write): void {
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
  forget(stepId: string): void {
    for (const [wireId, call] of this.#calls) if (call.stepId === stepId) this.#calls.delete(wireId);
  }

  /** The calls that wait for the client. `asking`: those that wait for an answer first. */
  waitingFor(finishReason: FinishReason | undefined, asking: ReadonlySet<string>): Waiting[] {
    const waiting: Waiting[] = [];
    for (const { id, state, executor } of this.#calls.values()) {
      if (state !== 'complete' || asking.has(id)) continue;
      const isClients = executor === 'client' || (executor === undefined && finishReason === 'tool-calls');
      if (isClients) waiting.push({ type: 'tool', toolCallId: id });
    }
    return waiting;
  }

  #callBody(chunk: CallChunk, toolCallId: string, emit: Write): Omit<EventOf<'tool-input-start'>, 'type'> {
    const { onLoss, executorOf } = this.#context;
    const wireMeta = metaOf(chunk.providerMetadata, onLoss);
    const { slot } = takeSlot(wireMeta);
    const { providerMetadata, ...attribution } = this.#context.said(wireMeta, emit);
    const renamed = toolCallId === chunk.toolCallId ? undefined : { 'ai-sdk': { toolCallId: chunk.toolCallId } };
    const executor = slot.executor ?? executorOf(chunk.toolName, chunk.providerExecuted);
    const encoding = chunk.type === 'tool-input-start' ? chunk.inputEncoding : slot.inputEncoding;
    const toolMetadata = chunk.toolMetadata === undefined ? slot.toolMetadata : toJson(chunk.toolMetadata, onLoss);
    return {
      toolCallId,
      toolName: chunk.toolName,
      ...(isExecutor(executor) && { executor }),
      ...(typeof slot.dynamic === 'boolean' ? { dynamic: slot.dynamic } : chunk.dynamic && { dynamic: true }),
      ...((encoding === 'json' || encoding === 'text') && { inputEncoding: encoding }),
      ...defined({ title: chunk.title, toolMetadata, providerMetadata: mergeMeta(providerMetadata, renamed) }),
      ...attribution,
    };
  }

  #endInput(call: Call, emit: Write): void {
    if (!call.isOpen) return;
    call.isOpen = false;
    emit({ type: 'tool-input-end', toolCallId: call.id });
    this.#context.closed(call.stepId, emit);
  }

  /** A result for a call whose input nobody has called complete: what was streamed is taken for all of it. */
  #completeBare(call: Call, emit: Write): void {
    const why = 'Its result came before its input was complete; the input is what had been streamed.';
    this.#lose({ kind: 'repaired', what: 'tool-call', why, id: call.id });
    this.#endInput(call, emit);
    const { opening, id: toolCallId } = call;
    call.state = 'complete';
    const said = opening ? asOpened(opening) : { toolName: this.#baselineName(toolCallId) };
    emit({ type: 'tool-call', toolCallId, ...said, input: parsed(call.text) });
  }

  #baselineName(toolCallId: string): string {
    for (const part of this.#context.run.message?.parts ?? []) {
      if (part.type === 'tool-invocation' && part.toolCallId === toolCallId) return part.toolName;
    }
    return '';
  }

  #settle(call: Call): void {
    call.state = 'settled';
    delete call.invalid;
  }

  #lose(loss: Loss): void {
    this.#context.onLoss(loss);
  }
}

function isExecutor(value: unknown): value is Executor {
  return value === 'provider' || value === 'runtime' || value === 'client';
}

/** What `tool-input-start` said of the call, and `tool-call` repeats. */
function asOpened(opening: EventOf<'tool-input-start'>): Omit<EventOf<'tool-input-start'>, 'type' | 'toolCallId'> {
  const said = omit(opening, 'type', 'toolCallId', 'providerMetadata');
  return said;
}

function parsed(text: string): Json {
  if (text === '') return {};
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
