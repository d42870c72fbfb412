import {
  equalJson,
  mergeMeta,
  toJson,
  validateEvent,
  type AgentEvent,
  type Emit,
  type EventOf,
  type Executor,
  type Fault,
  type FinishReason,
  type Json,
  type JsonObject,
  type Loss,
  type Meta,
  type OnLoss,
  type PartIds,
  type RunInput,
  type Said,
  type ToolResult,
  type Waiting,
} from '@intertie/core';
import { takeSlot } from './intertie-slot.ts';
import { defined, fieldsOf, flagOf, isFields, jsonObjectOf, metaOf, textOf } from './read-fields.ts';
import type { ExecutorOf } from './tool-executors.ts';
import type {
  UIToolApprovalRequestChunk7,
  UIToolApprovalResponseChunk,
  UIToolInputAvailableChunk,
  UIToolInputDeltaChunk,
  UIToolInputErrorChunk,
  UIToolInputStartChunk,
  UIToolOutputAvailableChunk,
  UIToolOutputDeniedChunk,
  UIToolOutputErrorChunk,
} from './ui-message-chunk.ts';
import { questionIdOf } from './ui-question-id.ts';

type CallChunk = UIToolInputStartChunk | UIToolInputAvailableChunk | UIToolInputErrorChunk;
type OutputChunk = UIToolOutputAvailableChunk | UIToolOutputErrorChunk | UIToolOutputDeniedChunk;
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
  said(meta: Meta | undefined, emit: Write): Said;
  opened(stepId: string | undefined): void;
  closed(stepId: string | undefined, emit: Write): void;
}

/** Decodes the tool chunks of a UI message stream. Gives a reason where a chunk fits nothing. */
export class DecodedTools {
  #context: ToolContext;
  /** By the wire's id. */
  #calls = new Map<string, Call>();
  /** Questions that are tools on the wire, and whether they are answered. */
  #asked = new Map<string, boolean>();
  /** Approvals, the call of each, and whether it is answered. */
  #approvals = new Map<string, { toolCallId: string; answered: boolean }>();
  #uiStep = 0;

  constructor(context: ToolContext) {
    this.#context = context;
    for (const part of context.run.message?.parts ?? []) {
      if (part.type === 'question') this.#asked.set(part.questionId, part.answer !== undefined);
      if (part.type !== 'tool-invocation') continue;
      const { toolCallId: id, state, approval } = part;
      const settled = state !== 'call' && state !== 'partial-call';
      this.#calls.set(id, {
        id,
        state: settled ? 'settled' : state === 'call' ? 'complete' : 'streaming',
        isOpen: false,
        uiStep: 0,
        text: part.argsText ?? '',
        ...defined({ executor: part.executor }),
      });
      if (approval)
        this.#approvals.set(approval.questionId, { toolCallId: id, answered: approval.answer !== undefined });
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

  input(chunk: UIToolInputAvailableChunk | UIToolInputErrorChunk, emit: Write): void {
    const { slot } = takeSlot(metaOf(chunk.providerMetadata, this.#context.onLoss));
    const questionId = slot.question === true ? questionIdOf(chunk.toolCallId) : undefined;
    if (questionId !== undefined && chunk.type === 'tool-input-available') {
      return this.#question(questionId, chunk, slot, emit);
    }
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
    const questionId = questionIdOf(chunk.toolCallId);
    if (questionId !== undefined && this.#asked.has(questionId)) {
      this.#answerPart(questionId, chunk, emit);
      return undefined;
    }
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

  approvalRequest(chunk: UIToolApprovalRequestChunk7, emit: Write): string | undefined {
    if (this.#approvals.has(chunk.approvalId)) return undefined;
    if (chunk.approvalId === '') return 'An approval request has an id.';
    const call = this.#calls.get(chunk.toolCallId);
    if (call === undefined) return 'There is no call of that id.';
    this.#approvals.set(chunk.approvalId, { toolCallId: call.id, answered: false });
    emit(questionOf(chunk, call.id, this.#context.onLoss));
    return undefined;
  }

  approvalResponse(chunk: UIToolApprovalResponseChunk, emit: Write): string | undefined {
    const approval = this.#approvals.get(chunk.approvalId);
    if (approval === undefined) return 'There is no approval request of that id.';
    if (approval.answered) return undefined;
    approval.answered = true;
    const { meta } = takeSlot(metaOf(chunk.providerMetadata, this.#context.onLoss));
    emit({
      type: 'answer',
      questionId: chunk.approvalId,
      approved: chunk.approved,
      ...defined({ reason: chunk.reason, providerMetadata: meta }),
    });
    return undefined;
  }

  /** An event that came as it is. Its chunk, if one follows, says nothing new. */
  carried(event: EventOf<'tool-result' | 'question' | 'answer'>, emit: Write): void {
    switch (event.type) {
      case 'tool-result': {
        const call = this.#calls.get(event.toolCallId);
        if (call && (event.status !== 'ok' || !event.preliminary)) {
          this.#settle(call);
          call.isCarried = true;
        }
        return emit({ ...event, toolCallId: call?.id ?? event.toolCallId });
      }
      case 'question': {
        const { toolCallId, ...question } = event;
        const id = toolCallId === undefined ? undefined : this.idOf(toolCallId);
        if (id === undefined) this.#asked.set(event.questionId, false);
        else this.#approvals.set(event.questionId, { toolCallId: id, answered: false });
        return emit({ ...question, ...defined({ toolCallId: id }) });
      }
      case 'answer': {
        const approval = this.#approvals.get(event.questionId);
        if (approval) approval.answered = true;
        else this.#asked.set(event.questionId, true);
        return emit(event);
      }
    }
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

  waitingFor(finishReason: FinishReason | undefined): Waiting[] {
    const waiting: Waiting[] = [];
    const asking = new Set<string>();
    for (const [questionId, { toolCallId, answered }] of this.#approvals) {
      const call = [...this.#calls.values()].find(({ id }) => id === toolCallId);
      if (answered || call?.state === 'settled') continue;
      asking.add(toolCallId);
      waiting.push({ type: 'question', questionId });
    }
    for (const [questionId, answered] of this.#asked) if (!answered) waiting.push({ type: 'question', questionId });
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

  /** Our questions about nothing are dynamic tools on the wire. */
  #question(questionId: string, chunk: UIToolInputAvailableChunk, slot: JsonObject, emit: Write): void {
    const { providerMetadata } = this.#context.said(metaOf(chunk.providerMetadata, this.#context.onLoss), emit);
    const said = jsonObjectOf(toJson(chunk.input, this.#context.onLoss)) ?? {};
    const wireId = typeof said.toolCallId === 'string' ? said.toolCallId : undefined;
    const { toolCallId: _, ...body } = said;
    const question = {
      type: 'question',
      kind: 'input',
      ...body,
      questionId,
      ...defined({ toolCallId: wireId === undefined ? undefined : this.idOf(wireId), providerMetadata }),
      ...(typeof slot.agentId === 'string' && { agentId: slot.agentId }),
    };
    this.#asked.set(questionId, false);
    const plain: EventOf<'question'> = { type: 'question', kind: 'input', questionId };
    emit(validateEvent(question) === undefined ? (question as EventOf<'question'>) : plain);
  }

  #answerPart(questionId: string, chunk: OutputChunk, emit: Write): void {
    if (this.#asked.get(questionId)) return;
    this.#asked.set(questionId, true);
    const wireMeta = chunk.type === 'tool-output-denied' ? undefined : chunk.providerMetadata;
    const { slot, meta } = takeSlot(metaOf(wireMeta, this.#context.onLoss));
    const output = chunk.type === 'tool-output-available' ? this.#json(chunk.output) : undefined;
    const isValue = output !== undefined && (slot.answer === undefined || !equalJson(output, slot.answer));
    const plain: EventOf<'answer'> = {
      type: 'answer',
      questionId,
      ...(isValue && { value: output }),
      ...(output === undefined && { cancelled: true }),
    };
    const answer = {
      ...plain,
      ...jsonObjectOf(slot.answer ?? null),
      questionId,
      ...(meta && { providerMetadata: meta }),
    };
    emit(validateEvent(answer) === undefined ? answer : plain);
  }

  #json(value: unknown): Json {
    return toJson(value ?? null, this.#context.onLoss);
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
  const { type: _, toolCallId: __, providerMetadata: ___, ...said } = opening;
  return said;
}

function resultOf(chunk: OutputChunk, onLoss: OnLoss): ToolResult & { providerMetadata?: Meta } {
  if (chunk.type === 'tool-output-denied') return { status: 'denied' };
  const { slot, meta } = takeSlot(metaOf(chunk.providerMetadata, onLoss));
  const said = { ...(meta && { providerMetadata: meta }) };
  if (chunk.type === 'tool-output-error') {
    return { status: 'error', error: faultOf(chunk.errorText, slot.error), ...said };
  }
  return {
    status: 'ok',
    output: toJson(chunk.output ?? null, onLoss),
    ...(slot.content === true && { content: true }),
    ...(chunk.preliminary && { preliminary: true }),
    ...said,
  };
}

function questionOf(chunk: UIToolApprovalRequestChunk7, toolCallId: string, onLoss: OnLoss): EventOf<'question'> {
  const { approvalId: questionId, approvalDescriptor, inputSchemaInput, signature, reason, isAutomatic } = chunk;
  const details = isFields(approvalDescriptor)
    ? jsonObjectOf(toJson(fieldsOf(approvalDescriptor).intertie ?? null))
    : undefined;
  const own: JsonObject = {};
  if (signature !== undefined) own.signature = signature;
  if (approvalDescriptor !== undefined && details === undefined) {
    own.approvalDescriptor = toJson(approvalDescriptor, onLoss);
  }
  if (inputSchemaInput !== undefined) own.inputSchemaInput = toJson(inputSchemaInput, onLoss);
  const plain: EventOf<'question'> = {
    type: 'question',
    questionId,
    kind: 'approval',
    toolCallId,
    ...defined({ reason, automatic: isAutomatic === true ? (true as const) : undefined }),
    ...(Object.keys(own).length > 0 && { providerMetadata: { 'ai-sdk': own } }),
  };
  if (details === undefined) return plain;
  const providerMetadata = mergeMeta(metaOf(details.providerMetadata, onLoss), plain.providerMetadata);
  const full = { ...plain, ...details, questionId, toolCallId, ...defined({ providerMetadata }) };
  return validateEvent(full) === undefined ? full : plain;
}

function faultOf(message: string, said: Json | undefined): Fault {
  const { code, retryable, data } = jsonObjectOf(said ?? null) ?? {};
  return { message, ...defined({ code: textOf(code), retryable: flagOf(retryable), data }) };
}

function parsed(text: string): Json {
  if (text === '') return {};
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
