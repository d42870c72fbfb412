import {
  type AgentEvent,
  type Emit,
  type Encoder,
  type End,
  type EventOf,
  type JsonObject,
  type MessageContent,
  type OnLoss,
} from '@intertie/core';
import { toInterruptedOutcome, unfoldContent } from '@intertie/core/internal';
import type { Flavour, ResponseEvent, ResponseObject } from '../shared/response-event.ts';
import { createResponse, createResponseFields } from '../shared/response-object.ts';
import type { ResponseIdentity, ResponseProgress } from '../shared/response-object.ts';
import { TextItems } from './encode-text-items.ts';
import { ToolItems } from './encode-tool-items.ts';
import { OutputItems, type ItemEntry } from './output-items.ts';
import { encodeUsage } from './response-usage.ts';

export type ResponsesEncoderOptions = {
  response: ResponseIdentity;
  /** Default: `openai`. */
  flavour?: Flavour;
  onLoss?: OnLoss;
};

/** Encoder of a run as a response. */
export interface ResponsesEncoder extends Encoder<ResponseEvent> {
  /** Writes `response.created`. Called by the first `feed` if it was not called before. */
  start(emit: Emit<ResponseEvent>): void;
  /** Returns the response as far as it is written. */
  readonly response: ResponseObject;
  readonly isOver: boolean;
}

/** Creates an encoder of canonical events as events of the Responses API. */
export function createResponsesEncoder(options: ResponsesEncoderOptions): ResponsesEncoder {
  return new RunResponseEncoder(options);
}

class RunResponseEncoder implements ResponsesEncoder {
  readonly version = '1';
  readonly optionsKey: string;
  #fields: JsonObject & { id: string };
  #onLoss: OnLoss;
  #flavour: Flavour;
  #progress: Omit<ResponseProgress, 'output'>;
  #wasQueued: boolean;
  #sequence = 0;
  #hasStarted = false;
  #phase: 'before' | 'baseline' | 'running' | 'ended' = 'before';
  #items: OutputItems;
  #texts: TextItems;
  #tools: ToolItems;
  #withheld = new Set<string>();
  #reported = new Set<string>();
  #seen = new Set<string>();
  #emit: Emit<ResponseEvent> = () => undefined;

  constructor({ response, flavour = 'openai', onLoss = () => undefined }: ResponsesEncoderOptions) {
    this.#fields = createResponseFields(response, flavour);
    this.#wasQueued = response.wasQueued === true;
    this.#progress = { status: this.#wasQueued ? 'queued' : 'in_progress' };
    this.#flavour = flavour;
    this.#onLoss = onLoss;
    this.optionsKey = flavour;
    this.#items = new OutputItems(this.#write);
    this.#texts = new TextItems(this.#items, flavour);
    this.#tools = new ToolItems(this.#items, flavour, response.model);
  }

  get response(): ResponseObject {
    return createResponse(this.#fields, { ...this.#progress, output: this.#items.output });
  }

  get isOver(): boolean {
    return this.#phase === 'ended';
  }

  start(emit: Emit<ResponseEvent>): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#emit = emit;
    this.#write('response.created', { response: this.response });
    // Also of a run that has started since: the numbers of events must not depend on when a client reads them.
    if (this.#wasQueued) this.#write('response.queued', { response: this.response });
  }

  feed(event: AgentEvent, emit: Emit<ResponseEvent>): void {
    this.start(emit);
    this.#emit = emit;
    if (this.#phase === 'ended') {
      if (event.type !== 'checkpoint') this.#lose('late', event.type, 'It came after the end of the run.');
      return;
    }
    if (event.type === 'run-start') return this.#startRun();
    if (event.type === 'message-snapshot') return this.#snapshot(event.content);
    this.#begin();
    this.#encode(event);
  }

  /** Ends a run whose events ended without `run-end`, so that the client does not take it for complete. */
  end(end: End, emit: Emit<ResponseEvent>): void {
    if (this.#phase === 'ended') return;
    this.start(emit);
    this.#emit = emit;
    this.#begin();
    this.#endRun({ type: 'run-end', ...toInterruptedOutcome(end) });
  }

  #write = (type: string, fields: JsonObject): void => {
    this.#emit({ type, sequence_number: this.#sequence++, ...fields });
  };

  #startRun(): void {
    if (this.#phase !== 'before') return;
    this.#phase = 'baseline';
    this.#progress = { status: 'in_progress' };
    this.#write('response.in_progress', { response: this.response });
  }

  #begin(): void {
    if (this.#phase === 'before') this.#startRun();
    this.#phase = 'running';
  }

  #encode(event: AgentEvent): void {
    switch (event.type) {
      case 'text-start':
      case 'reasoning-start':
        if (this.#admit(event, event.id)) this.#texts.start(event);
        return;
      case 'text-delta':
      case 'reasoning-delta':
        return void this.#texts.delta(event);
      case 'text-end':
      case 'reasoning-end':
        return this.#texts.end(event.id);
      case 'tool-input-start':
        if (this.#admit(event, event.toolCallId)) this.#tools.start(event);
        return;
      case 'tool-input-delta':
        return void this.#tools.delta(event);
      case 'tool-call':
        if (this.#admit(event, event.toolCallId)) this.#tools.call(event);
        return;
      case 'tool-result':
        return void this.#tools.result(event);
      case 'question':
        if (!event.automatic) this.#tools.ask(event);
        return;
      case 'source':
        if (event.sourceType === 'url' && this.#admit(event, event.id)) this.#texts.cite(event);
        else if (event.sourceType !== 'url') this.#lose('unsupported', 'source', 'Only web pages can be cited.');
        return;
      case 'file':
        if (this.#admit(event, event.id)) this.#file(event);
        return;
      case 'step-end':
        if (event.discarded) for (const entry of this.#items.ofStep(event.stepId)) this.#withdraw(entry);
        return;
      case 'run-end':
        return this.#endRun(event);
      // Ends of streamed input and answers repeat what the client has; checkpoints are for the server.
      case 'tool-input-end':
      case 'answer':
      case 'checkpoint':
      case 'step-start':
        return;
      default:
        this.#lose('unsupported', event.type, 'The Responses API has no place for it.');
    }
  }

  /** Whether a part is for the client. Text between agents must never read as the answer. */
  #admit({ internal }: { internal?: true }, id: string): boolean {
    this.#seen.add(id);
    if (this.#withheld.has(id)) return false;
    if (!internal) return true;
    this.#withheld.add(id);
    this.#lose('withheld', 'internal part', 'Messages between agents are not part of the answer.');
    return false;
  }

  #file({ id, mimeType = '', data, stepId }: EventOf<'file'>): void {
    const isImage = mimeType.startsWith('image/');
    if (!isImage || data === undefined || this.#flavour === 'open-responses') {
      return this.#lose('unsupported', 'file', 'A response can only contain images, with their bytes.');
    }
    const format = mimeType.slice('image/'.length).replace('svg+xml', 'svg');
    const body = { id: `ig_${id}`, type: 'image_generation_call' };
    const entry = this.#items.add({ ...body, status: 'in_progress', result: null, output_format: format }, stepId);
    this.#items.writeOf(entry, 'response.image_generation_call.in_progress');
    this.#items.writeOf(entry, 'response.image_generation_call.completed');
    this.#items.close(entry, { status: 'completed', result: data });
  }

  /** Closes an item and removes it from the answer. A client that has read it learns so from the final response. */
  #withdraw(entry: ItemEntry): void {
    this.#texts.endItem(entry);
    this.#tools.endItem(entry);
    entry.isWithdrawn = true;
  }

  /** Registers a baseline, which earlier responses contain. Of a later snapshot, encodes the parts that are new. */
  #snapshot({ parts, ...content }: MessageContent): void {
    const isBaseline = this.#phase !== 'running';
    this.#begin();
    const news = parts.filter((part) => !this.#seen.has(getPartId(part) ?? ''));
    for (const part of news) {
      const id = getPartId(part);
      if (id !== undefined) this.#seen.add(id);
      if (isBaseline && part.type === 'tool-invocation') this.#tools.register(part);
    }
    if (isBaseline) return;
    this.#lose('repaired', 'message-snapshot', 'Items that were already sent cannot be corrected.');
    for (const event of unfoldContent({ ...content, parts: news })) this.#encode(event);
  }

  #endRun(event: EventOf<'run-end'>): void {
    this.#texts.endAll();
    this.#tools.endAll();
    if (this.#texts.uncited > 0) this.#lose('unsupported', 'source', 'The answer has no text that could cite it.');
    const usage = encodeUsage(event.usage, this.#loseEach);
    const [type, progress] = toEnd(event);
    this.#phase = 'ended';
    this.#progress = { ...progress, usage };
    this.#write(`response.${type}`, { response: this.response });
  }

  /** Reports each kind of loss once per run. */
  #lose(kind: Parameters<OnLoss>[0]['kind'], what: string, why: string): void {
    this.#loseEach({ kind, what, why });
  }

  #loseEach: OnLoss = (loss) => {
    const key = `${loss.what} ${loss.why}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#onLoss(loss);
  };
}

function getPartId(part: MessageContent['parts'][number]): string | undefined {
  if (part.type === 'tool-invocation') return part.toolCallId;
  return part.type === 'question' ? part.questionId : part.id;
}

type EndType = 'completed' | 'failed' | 'incomplete';

/** A paused run is complete for OpenAI clients: they answer its open calls with a new request. */
function toEnd(event: EventOf<'run-end'>): [EndType, Omit<ResponseProgress, 'output'>] {
  const { finishReason, at: completedAt } = event;
  if (event.outcome === 'error') {
    return ['failed', { status: 'failed', error: { code: 'server_error', message: event.error.message } }];
  }
  if (event.outcome === 'aborted') return ['incomplete', { status: 'cancelled' }];
  if (finishReason === 'length') return ['incomplete', { status: 'incomplete', reason: 'max_output_tokens' }];
  if (finishReason === 'content-filter') return ['incomplete', { status: 'incomplete', reason: 'content_filter' }];
  return ['completed', { status: 'completed', completedAt }];
}
