import {
  validateEvent,
  type AgentEvent,
  type Codec,
  type Emit,
  type EventOf,
  type FinishReason,
  type JsonObject,
  type Loss,
  type Meta,
  type OnLoss,
  type RunInput,
} from '@intertie/core';
import { capJson, createPartIds, toJson, type PartIds, type Attribution } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { DecodedAgents } from './decode-ui-agents.ts';
import { DecodedEnd } from './decode-ui-end.ts';
import { DecodedQuestions } from './decode-ui-questions.ts';
import { DecodedSteps } from './decode-ui-steps.ts';
import { DecodedTools } from './decode-ui-tools.ts';
import { DecodedWholeParts } from './decode-ui-whole-parts.ts';
import { DecodedWords } from './decode-ui-text-parts.ts';
import { keptOf, slotKey, takeSlot } from '../../shared/intertie-metadata.ts';
import {
  defined,
  asFields,
  isFields,
  jsonObjectOf,
  metaOf,
  asNonEmptyText,
  omit,
  asText,
} from '../../shared/read-fields.ts';
import { createExecutorOf, type ToolExecutors } from '../../full-stream/tool-executors.ts';
import { carriedEvents, extensionOf, type ExtensionName } from '../chunk/ui-extension.ts';
import type { UIDataChunk, UIFinishChunk7, UIMessageChunk, UIStartChunk } from '../chunk/ui-message-chunk.ts';
import { isUIMessageChunkType, validateUIMessageChunk } from '../chunk/validate-ui-message-chunk.ts';

export interface UIMessageDecoderOptions {
  /** The tool set behind the stream, or who runs each tool: whether a call without a result waits for the client. */
  tools?: ToolExecutors;
  onLoss?: OnLoss;
}

/**
 * Decodes a UI message stream of `ai` 6 or 7. Total: it takes anything and never throws. An unknown chunk becomes `raw`, a
 * malformed one `raw` and a notice. What our encoder wrote beyond the protocol (agents, state, notices, the slot in the
 * metadata) comes back. Put `seal` behind it.
 */
export function createUIMessageDecoder(
  run: RunInput,
  options: UIMessageDecoderOptions = {},
): Codec<unknown, AgentEvent> {
  const decoder = new UIMessageDecoder(run, options);
  return {
    feed: (chunk, emit) => decoder.feed(chunk, emit),
    end: (end, emit) => decoder.end(end.reason === 'eof', emit),
  };
}

type Write = Emit<AgentEvent>;
const dialect = 'ui-message-stream';

class UIMessageDecoder {
  #run: RunInput;
  #onLoss: OnLoss;
  #ids: PartIds;
  #steps: DecodedSteps;
  #words: DecodedWords;
  #parts: DecodedWholeParts;
  #tools: DecodedTools;
  #questions: DecodedQuestions;
  /** Whether our own encoder speaks: then ids are canonical, and steps come as events. */
  #isOurs = false;
  /** Part ids that had to change, by the wire's, for words that come after the part. */
  #renamed = new Map<string, string>();
  #agents: DecodedAgents;
  #carriedSteps = new Set<string>();
  #end = new DecodedEnd();
  #ended = false;

  constructor(run: RunInput, { tools, onLoss = () => undefined }: UIMessageDecoderOptions) {
    this.#run = run;
    this.#onLoss = onLoss;
    this.#ids = createPartIds(run);
    this.#steps = new DecodedSteps(run.runId);
    const context = {
      run,
      ids: this.#ids,
      executorOf: createExecutorOf(run, tools),
      onLoss,
      take: (wireId: string | undefined) => this.#take(wireId),
      idFor: (wireId: string) => this.#idFor(wireId),
      idOf: (wireId: string) => this.#tools.idOf(wireId),
      said: (meta: Meta | undefined, emit: Write) => this.#said(meta, emit),
      opened: (stepId: string | undefined) => this.#steps.opened(stepId),
      closed: (stepId: string | undefined, emit: Write) => this.#steps.closed(stepId, emit),
    };
    this.#words = new DecodedWords(context);
    this.#parts = new DecodedWholeParts(context);
    this.#tools = new DecodedTools(context);
    this.#questions = new DecodedQuestions(context);
    this.#agents = new DecodedAgents(run);
  }

  feed(value: unknown, emit: Write): void {
    const problem = validateUIMessageChunk(value, 7);
    if (this.#ended) {
      return this.#lose({ kind: 'late', what: typeOf(value), why: 'It came after the run had ended.' });
    }
    if (problem === undefined) return this.#decode(value as UIMessageChunk, emit);
    if (isUIMessageChunkType(asFields(value).type, 7)) {
      return this.#malformed(value, `${problem.path}: ${problem.message}`, emit);
    }
    this.#raw(value, emit);
  }

  /** Without a last word, the first error is the cause. Otherwise `seal` says that the wire was cut. */
  end(isEof: boolean, emit: Write): void {
    if (this.#ended) return;
    this.#tools.settleInvalid(emit);
    const ended = isEof ? this.#end.cut() : undefined;
    if (ended) this.#write(ended, emit);
  }

  #decode(chunk: UIMessageChunk, emit: Write): void {
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return this.#words.delta(chunk, emit);
      case 'text-start':
      case 'reasoning-start':
        return this.#words.start(chunk, emit);
      case 'text-end':
      case 'reasoning-end':
        return this.#words.end(chunk, emit);
      case 'tool-input-start':
        return this.#tools.inputStart(chunk, emit);
      case 'tool-input-delta':
        return this.#unless(this.#tools.inputDelta(chunk, emit), chunk, emit);
      case 'tool-input-available':
      case 'tool-input-error':
        if (chunk.type === 'tool-input-available' && this.#questions.ask(chunk, emit)) return;
        return this.#tools.input(chunk, emit);
      case 'tool-output-available':
      case 'tool-output-error':
      case 'tool-output-denied':
        if (this.#questions.answer(chunk, emit)) return;
        return this.#unless(this.#tools.output(chunk, emit), chunk, emit);
      case 'tool-approval-request':
        return this.#unless(this.#questions.request(chunk, emit), chunk, emit);
      case 'tool-approval-response':
        return this.#unless(this.#questions.respond(chunk, emit), chunk, emit);
      case 'start':
        return this.#start(chunk, emit);
      case 'message-metadata':
        return this.#metadata(chunk.messageMetadata, emit);
      case 'start-step':
        this.#tools.nextStep();
        if (!this.#isOurs) this.#steps.start(emit);
        return;
      case 'finish-step':
        // Our own steps are the encoder's, and say nothing of what is over.
        if (this.#isOurs) return;
        this.#tools.settleInvalid(emit);
        return this.#steps.finish(emit);
      case 'reset-step':
        if (!this.#isOurs) this.#reset(emit);
        return;
      case 'source-url':
      case 'source-document':
        return this.#parts.source(chunk, emit);
      case 'file':
      case 'reasoning-file':
        return this.#parts.file(chunk, emit);
      case 'custom':
        return this.#parts.custom(chunk, emit);
      case 'steering-message':
        return this.#parts.steering(chunk, emit);
      case 'finish':
        return this.#finish(chunk, emit);
      case 'abort':
        return this.#write(this.#end.abort(chunk.reason), emit);
      case 'error':
        return this.#error(chunk.errorText, emit);
      default:
        return this.#dataChunk(chunk, emit);
    }
  }

  #start({ messageId, messageMetadata }: UIStartChunk, emit: Write): void {
    if (messageId !== undefined && messageId !== this.#run.messageId) this.#end.wireMessageId = messageId;
    this.#isOurs ||= asNonEmptyText(asFields(asFields(messageMetadata)[slotKey]).runId) !== undefined;
    this.#metadata(messageMetadata, emit);
  }

  #metadata(value: unknown, emit: Write): void {
    if (value === undefined || value === null) return;
    const json = toJson(value, this.#onLoss);
    let metadata = jsonObjectOf(json);
    if (metadata === undefined) {
      const why = 'The metadata of a message is an object; it is kept under "value".';
      this.#lose({ kind: 'repaired', what: 'messageMetadata', why });
      metadata = { value: json };
    }
    // The run that it names is the wire's, and ours has its own id.
    const { [slotKey]: _, ...rest } = metadata;
    if (Object.keys(rest).length > 0) emit({ type: 'metadata', metadata: rest });
  }

  #finish({ finishReason, messageMetadata }: UIFinishChunk7, emit: Write): void {
    this.#tools.settleInvalid(emit);
    this.#metadata(messageMetadata, emit);
    this.#write(this.#end.finish(finishReason, this.#waitingFor(finishReason)), emit);
  }

  #waitingFor(finishReason: FinishReason | undefined): Waiting[] {
    const open = this.#questions.open((toolCallId) => this.#tools.isSettled(toolCallId));
    const asking = new Set(open.flatMap(({ toolCallId }) => toolCallId ?? []));
    const questions = open.map(({ questionId }): Waiting => ({ type: 'question', questionId }));
    return [...questions, ...this.#tools.waitingFor(finishReason, asking)];
  }

  #error(message: string, emit: Write): void {
    const ended = this.#end.fail(message);
    if (ended) this.#write(ended, emit);
    else emit({ type: 'notice', level: 'error', message, code: 'stream-error' });
  }

  #write(event: EventOf<'run-end'>, emit: Write): void {
    this.#tools.settleInvalid(emit);
    this.#ended = true;
    emit(event);
  }

  #reset(emit: Write): void {
    const stepId = this.#steps.current;
    if (stepId !== undefined) {
      this.#words.endStep(stepId, emit);
      this.#tools.endInputs(stepId, emit);
      this.#tools.forget(stepId);
    }
    this.#steps.discard(emit);
  }

  #dataChunk(chunk: UIDataChunk, emit: Write): void {
    const extension = extensionOf(chunk);
    if (extension) this.#extension(extension.name, extension.id, chunk, emit);
    else this.#parts.data(chunk, emit);
  }

  /** What our encoder has no chunk for. It is checked as everything that comes from a wire. */
  #extension(name: ExtensionName, id: string, chunk: UIDataChunk, emit: Write): void {
    const data = toJson(chunk.data ?? null, this.#onLoss);
    const body = jsonObjectOf(data);
    if (name === 'state') return emit({ type: 'state-snapshot', state: data });
    if (body === undefined) return this.#malformed(chunk, 'data: it is an object.', emit);
    if (name === 'agent') return this.#agents.read(id, body, (event) => this.#valid(event, chunk, emit, emit));
    if (name === 'event') return this.#carried(chunk, body, emit);
    if (name === 'notice') return void this.#valid({ type: name, ...body }, chunk, emit, emit);
    const rest = omit(body, 'agentId', 'stepId');
    const said = this.#said({ ...this.#meta(chunk.providerMetadata), [slotKey]: body }, emit);
    this.#valid({ type: name, ...rest, ...said, id: this.#take(id) }, chunk, emit, emit);
  }

  #carried(chunk: UIDataChunk, data: JsonObject, emit: Write): void {
    this.#valid(data, chunk, emit, (event) => {
      if (!carriedEvents.has(event.type)) return this.#raw(chunk, emit);
      switch (event.type) {
        case 'step-start':
          this.#carriedSteps.add(event.stepId);
          return emit(event);
        case 'step-end':
          this.#carriedSteps.delete(event.stepId);
          this.#tools.endInputs(event.stepId, emit);
          if (event.discarded) this.#tools.forget(event.stepId);
          return emit(event);
        case 'tool-result':
          return this.#tools.carried(event, emit);
        case 'question':
        case 'answer':
          return this.#questions.carried(event, emit);
        case 'metadata':
          if (event.id === undefined) return emit(event);
          return emit({ ...event, id: this.#tools.idOf(event.id) ?? this.#renamed.get(event.id) ?? event.id });
        case 'run-end':
          return this.#end.carried(event);
      }
    });
  }

  #valid(event: unknown, chunk: UIDataChunk, emit: Write, use: (event: AgentEvent) => void): boolean {
    const problem = validateEvent(event);
    if (problem === undefined) use(event as AgentEvent);
    else this.#malformed(chunk, `data: ${problem.message}`, emit);
    return problem === undefined;
  }

  /** Who says it and in which step. An agent that nobody has introduced is introduced by its id. */
  #said(meta: Meta | undefined, emit: Write): Attribution {
    const { slot, meta: rest } = takeSlot(meta);
    const { id: _, stepId: wireStep, agentId, ...kept } = keptOf(slot);
    if (agentId !== undefined) this.#agents.introduce(agentId, emit);
    const isCarried = wireStep !== undefined && this.#carriedSteps.has(wireStep);
    // The UI's steps are nobody's, so what an agent says is in none of them.
    const current = this.#isOurs || agentId !== undefined ? undefined : this.#steps.current;
    const stepId = isCarried ? wireStep : current;
    return { ...kept, ...defined({ agentId, stepId }), ...(rest && { providerMetadata: rest }) };
  }

  /** Ids of our own are canonical; those of others are only unique while their part is open. */
  #idFor(wireId: string): string {
    if (this.#isOurs) return this.#take(wireId);
    const id = this.#ids.next();
    this.#renamed.set(wireId, id);
    return id;
  }

  /** An id for a part that comes whole: the wire's if the thread has none like it. */
  #take(wireId: string | undefined): string {
    const id = this.#ids.open(wireId);
    if (wireId !== undefined && id !== wireId) this.#renamed.set(wireId, id);
    return id;
  }

  #meta(value: unknown): Meta | undefined {
    return metaOf(value, this.#onLoss);
  }

  #unless(problem: string | undefined, chunk: UIMessageChunk, emit: Write): void {
    if (problem !== undefined) this.#malformed(chunk, problem, emit);
  }

  #malformed(chunk: unknown, problem: string, emit: Write): void {
    this.#raw(chunk, emit);
    const message = `A chunk of the type "${typeOf(chunk)}" was not understood. ${problem}`;
    emit({ type: 'notice', level: 'warning', message, code: 'malformed-chunk' });
  }

  #raw(chunk: unknown, emit: Write): void {
    emit({ type: 'raw', dialect, value: capJson(chunk, undefined, this.#onLoss) });
  }

  #lose(loss: Loss): void {
    this.#onLoss(loss);
  }
}

function typeOf(value: unknown): string {
  return isFields(value) ? (asText(value.type) ?? 'none') : 'none';
}
