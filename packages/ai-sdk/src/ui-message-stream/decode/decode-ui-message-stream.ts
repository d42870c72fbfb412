import {
  validateEvent,
  type AgentEvent,
  type Codec,
  type Emit,
  type End,
  type EventOf,
  type FinishReason,
  type JsonObject,
  type Meta,
  type OnLoss,
  type RunInput,
  createPartIds,
  toJson,
} from '@intertie/core';
import { capJson, type PartIds, type Attribution } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { UIAgentDecoder } from './decode-ui-agents.ts';
import { UIRunEndDecoder } from './decode-ui-end.ts';
import { UIQuestionDecoder } from './decode-ui-questions.ts';
import { UIStepDecoder } from './decode-ui-steps.ts';
import { UIToolDecoder } from './decode-ui-tools.ts';
import { UIWholePartDecoder } from './decode-ui-whole-parts.ts';
import type { UIDecoderContext } from './ui-decoder-context.ts';
import { UITextPartDecoder } from './decode-ui-text-parts.ts';
import { parseIdentity, metadataKey, splitMetadata } from '../../shared/intertie-metadata.ts';
import {
  defined,
  asFields,
  isFields,
  asJsonObject,
  parseMetadata,
  asNonEmptyText,
  omit,
  asText,
} from '../../shared/read-fields.ts';
import { createExecutorLookup, type ToolExecutors } from '../../full-stream/tool-executors.ts';
import { dataEventTypes, parseExtension, type ExtensionName } from '../chunk/ui-extension.ts';
import type { UIDataChunk, UIFinishChunk7, UIMessageChunk, UIStartChunk } from '../chunk/ui-message-chunk.ts';
import { isUIMessageChunkType, validateUIMessageChunk } from '../chunk/validate-ui-message-chunk.ts';

export interface UIMessageDecoderOptions {
  /** Tool set behind the stream, or the executor of each tool. Decides whether a call without a result waits for the client. */
  tools?: ToolExecutors;
  onLoss?: OnLoss;
}

/**
 * Decodes a UI message stream of ai 6 or 7. Accepts any value and never throws: an unknown chunk becomes `raw`, a malformed one
 * `raw` and a notice. Restores our additions to the protocol: agents, state, notices, metadata. Compose with
 * `seal`.
 */
export function createUIMessageDecoder(
  run: RunInput,
  options: UIMessageDecoderOptions = {},
): Codec<unknown, AgentEvent> {
  const decoder = new UIMessageDecoder(run, options);
  return {
    feed: (chunk, emit) => decoder.feed(chunk, emit),
    end: (end, emit) => decoder.end(end, emit),
  };
}

type Write = Emit<AgentEvent>;
const dialect = 'ui-message-stream';

class UIMessageDecoder {
  #run: RunInput;
  #onLoss: OnLoss;
  #ids: PartIds;
  #steps: UIStepDecoder;
  #textParts: UITextPartDecoder;
  #parts: UIWholePartDecoder;
  #tools: UIToolDecoder;
  #questions: UIQuestionDecoder;
  /** Whether our encoder wrote the stream: then ids are canonical, and steps are data events. */
  #isOurs = false;
  /** Changed part ids by wire id, for events that refer to the part later. */
  #renamedIds = new Map<string, string>();
  #agents: UIAgentDecoder;
  #knownSteps = new Set<string>();
  #runEnd = new UIRunEndDecoder();
  #hasEnded = false;

  constructor(run: RunInput, { tools, onLoss = () => undefined }: UIMessageDecoderOptions) {
    this.#run = run;
    this.#onLoss = onLoss;
    this.#ids = createPartIds(run);
    this.#steps = new UIStepDecoder(run.runId);
    const context: UIDecoderContext = {
      run,
      ids: this.#ids,
      getExecutor: createExecutorLookup(run, tools),
      onLoss,
      claimId: (wireId) => this.#claimId(wireId),
      toPartId: (wireId) => this.#toPartId(wireId),
      findCallId: (wireId) => this.#tools.findCallId(wireId),
      getAttribution: (meta, emit) => this.#getAttribution(meta, emit),
      addOpenPart: (stepId) => this.#steps.addOpenPart(stepId),
      removeOpenPart: (stepId, emit) => this.#steps.removeOpenPart(stepId, emit),
    };
    this.#textParts = new UITextPartDecoder(context);
    this.#parts = new UIWholePartDecoder(context);
    this.#tools = new UIToolDecoder(context);
    this.#questions = new UIQuestionDecoder(context);
    this.#agents = new UIAgentDecoder(run);
  }

  feed(value: unknown, emit: Write): void {
    const problem = validateUIMessageChunk(value, 7);
    if (this.#hasEnded) {
      return this.#onLoss({ kind: 'late', what: getType(value), why: 'It came after the run had ended.' });
    }
    if (problem === undefined) return this.#decode(value as UIMessageChunk, emit);
    if (isUIMessageChunkType(asFields(value).type, 7)) {
      return this.#emitMalformed(value, `${problem.path}: ${problem.message}`, emit);
    }
    this.#emitRaw(value, emit);
  }

  /** Ends a run without a last chunk, if the stream had an error or a message id of its own. Else `seal` ends the run. */
  end(end: End, emit: Write): void {
    if (this.#hasEnded) return;
    this.#tools.settleInvalid(emit);
    const ended = this.#runEnd.toInterrupted(end);
    if (ended) this.#emitRunEnd(ended, emit);
  }

  #decode(chunk: UIMessageChunk, emit: Write): void {
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return this.#textParts.decodeDelta(chunk, emit);
      case 'text-start':
      case 'reasoning-start':
        return this.#textParts.decodeStart(chunk, emit);
      case 'text-end':
      case 'reasoning-end':
        return this.#textParts.decodeEnd(chunk, emit);
      case 'tool-input-start':
        return this.#tools.decodeInputStart(chunk, emit);
      case 'tool-input-delta':
        return this.#reportProblem(this.#tools.decodeInputDelta(chunk, emit), chunk, emit);
      case 'tool-input-available':
      case 'tool-input-error':
        if (chunk.type === 'tool-input-available' && this.#questions.decodeQuestionPart(chunk, emit)) return;
        return this.#tools.decodeInput(chunk, emit);
      case 'tool-output-available':
      case 'tool-output-error':
      case 'tool-output-denied':
        if (this.#questions.decodeAnswerPart(chunk, emit)) return;
        return this.#reportProblem(this.#tools.decodeOutput(chunk, emit), chunk, emit);
      case 'tool-approval-request':
        return this.#reportProblem(this.#questions.decodeRequest(chunk, emit), chunk, emit);
      case 'tool-approval-response':
        return this.#reportProblem(this.#questions.decodeResponse(chunk, emit), chunk, emit);
      case 'start':
        return this.#decodeStart(chunk, emit);
      case 'message-metadata':
        return this.#decodeMetadata(chunk.messageMetadata, emit);
      case 'start-step':
        this.#tools.nextStep();
        if (!this.#isOurs) this.#steps.start(emit);
        return;
      case 'finish-step':
        // Our encoder's UI steps are not the steps of the run, and do not settle anything.
        if (this.#isOurs) return;
        this.#tools.settleInvalid(emit);
        return this.#steps.finish(emit);
      case 'reset-step':
        if (!this.#isOurs) this.#resetStep(emit);
        return;
      case 'source-url':
      case 'source-document':
        return this.#parts.decodeSource(chunk, emit);
      case 'file':
      case 'reasoning-file':
        return this.#parts.decodeFile(chunk, emit);
      case 'custom':
        return this.#parts.decodeCustom(chunk, emit);
      case 'steering-message':
        return this.#parts.decodeSteering(chunk, emit);
      case 'finish':
        return this.#decodeFinish(chunk, emit);
      case 'abort':
        return this.#emitRunEnd(this.#runEnd.decodeAbort(chunk.reason), emit);
      case 'error':
        return this.#decodeError(chunk.errorText, emit);
      default:
        return this.#decodeData(chunk, emit);
    }
  }

  #decodeStart({ messageId, messageMetadata }: UIStartChunk, emit: Write): void {
    const runId = asNonEmptyText(asFields(asFields(messageMetadata)[metadataKey]).runId);
    this.#isOurs ||= runId !== undefined;
    if (messageId !== undefined && messageId !== this.#run.messageId) {
      this.#runEnd.wireIds = { messageId, ...defined({ runId }) };
    }
    this.#decodeMetadata(messageMetadata, emit);
  }

  #decodeMetadata(value: unknown, emit: Write): void {
    if (value === undefined || value === null) return;
    const json = toJson(value, this.#onLoss);
    let metadata = asJsonObject(json);
    if (metadata === undefined) {
      const why = 'Message metadata must be an object; the value was stored under "value".';
      this.#onLoss({ kind: 'repaired', what: 'messageMetadata', why });
      metadata = { value: json };
    }
    // Drops our own metadata: its run id is that of the wire, and this run has another.
    const { [metadataKey]: _, ...others } = metadata;
    if (Object.keys(others).length > 0) emit({ type: 'metadata', metadata: others });
  }

  #decodeFinish({ finishReason, messageMetadata }: UIFinishChunk7, emit: Write): void {
    this.#tools.settleInvalid(emit);
    this.#decodeMetadata(messageMetadata, emit);
    this.#emitRunEnd(this.#runEnd.decodeFinish(finishReason, this.#listPending(finishReason)), emit);
  }

  #listPending(finishReason: FinishReason | undefined): Waiting[] {
    const open = this.#questions.listOpen((toolCallId) => this.#tools.isSettled(toolCallId));
    const asking = new Set(open.flatMap(({ toolCallId }) => toolCallId ?? []));
    const questions = open.map(({ questionId }): Waiting => ({ type: 'question', questionId }));
    return [...questions, ...this.#tools.listPending(finishReason, asking)];
  }

  #decodeError(message: string, emit: Write): void {
    const ended = this.#runEnd.decodeError(message);
    if (ended) this.#emitRunEnd(ended, emit);
    else emit({ type: 'notice', level: 'error', message, code: 'stream-error' });
  }

  #emitRunEnd(event: EventOf<'run-end'>, emit: Write): void {
    this.#tools.settleInvalid(emit);
    this.#hasEnded = true;
    emit(event);
  }

  #resetStep(emit: Write): void {
    const stepId = this.#steps.current;
    if (stepId !== undefined) {
      this.#textParts.endStep(stepId, emit);
      this.#tools.endInputs(stepId, emit);
      this.#tools.discardStep(stepId);
    }
    this.#steps.discard(emit);
  }

  #decodeData(chunk: UIDataChunk, emit: Write): void {
    const extension = parseExtension(chunk);
    if (extension) this.#decodeExtension(extension.name, extension.id, chunk, emit);
    else this.#parts.decodeData(chunk, emit);
  }

  /** Decodes a data chunk of our encoder. Validated like all wire data. */
  #decodeExtension(name: ExtensionName, id: string, chunk: UIDataChunk, emit: Write): void {
    const data = toJson(chunk.data ?? null, this.#onLoss);
    const body = asJsonObject(data);
    if (name === 'state') return emit({ type: 'state-snapshot', state: data });
    if (body === undefined) return this.#emitMalformed(chunk, 'data: must be an object.', emit);
    if (name === 'agent') return this.#agents.decodeData(id, body, (event) => this.#useValid(event, chunk, emit, emit));
    if (name === 'event') return this.#decodeDataEvent(chunk, body, emit);
    if (name === 'notice') return void this.#useValid({ type: name, ...body }, chunk, emit, emit);
    const others = omit(body, 'agentId', 'stepId');
    const attribution = this.#getAttribution(
      { ...this.#parseMetadata(chunk.providerMetadata), [metadataKey]: body },
      emit,
    );
    this.#useValid({ type: name, ...others, ...attribution, id: this.#claimId(id) }, chunk, emit, emit);
  }

  #decodeDataEvent(chunk: UIDataChunk, data: JsonObject, emit: Write): void {
    this.#useValid(data, chunk, emit, (event) => {
      if (!dataEventTypes.has(event.type)) return this.#emitRaw(chunk, emit);
      switch (event.type) {
        case 'step-start':
          this.#knownSteps.add(event.stepId);
          return emit(event);
        case 'step-end':
          this.#knownSteps.delete(event.stepId);
          this.#tools.endInputs(event.stepId, emit);
          if (event.discarded) this.#tools.discardStep(event.stepId);
          return emit(event);
        case 'tool-result':
          return this.#tools.decodeDataEvent(event, emit);
        case 'question':
        case 'answer':
          return this.#questions.decodeDataEvent(event, emit);
        case 'metadata':
          if (event.id === undefined) return emit(event);
          return emit({ ...event, id: this.#tools.findCallId(event.id) ?? this.#renamedIds.get(event.id) ?? event.id });
        case 'run-end':
          return this.#runEnd.setDataEvent(event);
      }
    });
  }

  #useValid(event: unknown, chunk: UIDataChunk, emit: Write, use: (event: AgentEvent) => void): boolean {
    const problem = validateEvent(event);
    if (problem === undefined) use(event as AgentEvent);
    else this.#emitMalformed(chunk, `data: ${problem.message}`, emit);
    return problem === undefined;
  }

  /** Returns agent, step and metadata of a part. Starts an agent that was never announced. */
  #getAttribution(meta: Meta | undefined, emit: Write): Attribution {
    const { intertie, meta: others } = splitMetadata(meta);
    const { id: _, stepId: wireStep, agentId, ...identity } = parseIdentity(intertie);
    if (agentId !== undefined) this.#agents.ensureStarted(agentId, emit);
    const isKnown = wireStep !== undefined && this.#knownSteps.has(wireStep);
    // UI steps belong to no agent, so content of an agent is in none of them.
    const current = this.#isOurs || agentId !== undefined ? undefined : this.#steps.current;
    const stepId = isKnown ? wireStep : current;
    return { ...identity, ...defined({ agentId, stepId }), ...(others && { providerMetadata: others }) };
  }

  /** Returns the id for a part: canonical in our streams; in others only unique while the part is open, so a new one. */
  #toPartId(wireId: string): string {
    if (this.#isOurs) return this.#claimId(wireId);
    const id = this.#ids.next();
    this.#renamedIds.set(wireId, id);
    return id;
  }

  /** Claims the id of a complete part: that of the wire, unless the thread already uses it. */
  #claimId(wireId: string | undefined): string {
    const id = this.#ids.open(wireId);
    if (wireId !== undefined && id !== wireId) this.#renamedIds.set(wireId, id);
    return id;
  }

  #parseMetadata(value: unknown): Meta | undefined {
    return parseMetadata(value, this.#onLoss);
  }

  #reportProblem(problem: string | undefined, chunk: UIMessageChunk, emit: Write): void {
    if (problem !== undefined) this.#emitMalformed(chunk, problem, emit);
  }

  #emitMalformed(chunk: unknown, problem: string, emit: Write): void {
    this.#emitRaw(chunk, emit);
    const message = `Invalid chunk of type "${getType(chunk)}". ${problem}`;
    emit({ type: 'notice', level: 'warning', message, code: 'malformed-chunk' });
  }

  #emitRaw(chunk: unknown, emit: Write): void {
    emit({ type: 'raw', dialect, value: capJson(chunk, undefined, this.#onLoss) });
  }
}

function getType(value: unknown): string {
  return isFields(value) ? (asText(value.type) ?? 'none') : 'none';
}
