import type { AgentEvent, Emit, EventOf, Fault, JsonObject, OnLoss } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import { askTool, toAskArguments, toAskCallId } from '../shared/questions.ts';
import { toText } from './encode-tool-items.ts';
import { encodeChatUsage } from './response-usage.ts';

export type ChatEncoderOptions = {
  id: string;
  model: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Whether a client reads the chunks, so that sent text cannot be retracted. */
  isStreamed: boolean;
  onLoss?: OnLoss;
};

export type ChatChunk = JsonObject;

type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls';
/** Text or reasoning of one part: what is sent, and what is not sent yet. */
type PartText = {
  id: string;
  kind: 'text' | 'reasoning';
  stepId: string | undefined;
  sent: string;
  pending: string;
  isEnded: boolean;
};
type ToolCall = { id: string; type: 'function'; function: { name: string; arguments: string } };

/** Separates the texts of an answer, which a chat completion joins. */
const textSeparator = '\n\n';

/**
 * Encodes a run as a chat completion: the text of the answer, its reasoning as `reasoning_content`, and the calls of client tools
 * and questions as `tool_calls`. Chat completions have no place for tools of the runtime, files and sources.
 */
export class ChatEncoder {
  #options: ChatEncoderOptions;
  #onLoss: OnLoss;
  /** Parts of which text was sent, without those of discarded steps. */
  #texts: PartText[] = [];
  #hasSentContent = false;
  #calls: ToolCall[] = [];
  #callIndexes = new Map<string, number>();
  /** Names and inputs of the tools that the runtime executes, for questions about them. */
  #runtimeCalls = new Map<string, { name: string; arguments: string }>();
  /** Parts to send in the order of their starts. Only the first is sent: deltas of parallel parts would be mixed. */
  #queue: PartText[] = [];
  #hasStarted = false;
  #reported = new Set<string>();
  #finish: FinishReason | undefined;
  #usage: JsonObject | undefined;
  #error: Fault | undefined;
  #isOver = false;

  constructor(options: ChatEncoderOptions) {
    this.#options = options;
    this.#onLoss = options.onLoss ?? (() => undefined);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Error that ended the run. */
  get error(): Fault | undefined {
    return this.#error;
  }

  get usage(): JsonObject | undefined {
    return this.#usage;
  }

  /** The complete answer, for a request without `stream`. */
  get completion(): JsonObject {
    const content = this.#joinTexts('text', textSeparator);
    const reasoning = this.#joinTexts('reasoning', '');
    const message = {
      role: 'assistant',
      content: content === '' && this.#calls.length > 0 ? null : content,
      refusal: null,
      annotations: [],
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
    };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: this.#finish ?? 'stop' }];
    return { ...this.#fields('chat.completion'), choices, usage: this.#usage ?? null };
  }

  start(emit: Emit<ChatChunk>): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#write({ role: 'assistant', content: '' }, emit);
  }

  feed(event: AgentEvent, emit: Emit<ChatChunk>): void {
    this.start(emit);
    switch (event.type) {
      case 'text-start':
      case 'reasoning-start':
        if (event.internal) return this.#lose('internal part', 'Messages between agents are not part of the answer.');
        this.#queue.push({
          id: event.id,
          kind: event.type === 'text-start' ? 'text' : 'reasoning',
          stepId: event.stepId,
          sent: '',
          pending: '',
          isEnded: false,
        });
        return;
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end': {
        const text = this.#queue.find(({ id }) => id === event.id);
        if (text === undefined) return;
        if ('delta' in event) text.pending += event.delta;
        else text.isEnded = true;
        return this.#sendTexts(emit);
      }
      case 'tool-call':
        if (event.executor === 'client' && !event.invalid) {
          return this.#call(event.toolCallId, event.toolName, toText(event.input), emit);
        }
        this.#runtimeCalls.set(event.toolCallId, { name: event.toolName, arguments: toText(event.input) });
        return this.#lose('tool-call', 'Chat completions have no place for tools of the runtime.');
      case 'message-snapshot':
        for (const part of event.content.parts) if (part.type === 'tool-invocation') this.#register(part);
        return;
      case 'question':
        if (!event.automatic) this.#ask(event, emit);
        return;
      case 'step-end':
        if (event.discarded) this.#discardStep(event.stepId, emit);
        return;
      case 'run-end':
        return this.#end(event, emit);
      case 'file':
      case 'source':
      case 'data':
      case 'state-snapshot':
      case 'state-delta':
        return this.#lose(event.type, 'Chat completions have no place for it.');
    }
  }

  #register({ toolCallId, toolName, args = {} }: ToolPart): void {
    this.#runtimeCalls.set(toolCallId, { name: toolName, arguments: toText(args) });
  }

  /** Sends the first part, and the next ones as far as the parts before them have ended. */
  #sendTexts(emit: Emit<ChatChunk>): void {
    for (let [text] = this.#queue; text; [text] = this.#queue) {
      if (text.pending !== '') this.#sendText(text, emit);
      if (!text.isEnded) return;
      this.#queue.shift();
    }
  }

  #sendText(text: PartText, emit: Emit<ChatChunk>): void {
    const { kind, pending } = text;
    const isFirst = text.sent === '';
    if (isFirst) this.#texts.push(text);
    text.sent += pending;
    text.pending = '';
    if (kind === 'reasoning') return this.#write({ reasoning_content: pending }, emit);
    const content = isFirst && this.#hasSentContent ? textSeparator + pending : pending;
    this.#hasSentContent = true;
    this.#write({ content }, emit);
  }

  /** Removes the texts of a step from the complete answer and from the chunks to send. */
  #discardStep(stepId: string, emit: Emit<ChatChunk>): void {
    const isOther = (text: PartText): boolean => text.stepId !== stepId;
    const { length } = this.#texts;
    this.#texts = this.#texts.filter(isOther);
    this.#queue = this.#queue.filter(isOther);
    if (this.#options.isStreamed && this.#texts.length < length) {
      this.#lose('step-end discarded', 'Text that was already sent cannot be retracted.');
    }
    this.#sendTexts(emit);
  }

  #joinTexts(kind: PartText['kind'], separator: string): string {
    return this.#texts.flatMap((text) => (text.kind === kind ? [text.sent] : [])).join(separator);
  }

  #ask(question: EventOf<'question'>, emit: Emit<ChatChunk>): void {
    const { toolCallId } = question;
    const call = toolCallId === undefined ? undefined : this.#runtimeCalls.get(toolCallId);
    this.#call(toAskCallId(question), askTool, toText(toAskArguments(question, call)), emit);
  }

  #call(id: string, name: string, input: string, emit: Emit<ChatChunk>): void {
    if (this.#callIndexes.has(id)) return;
    const call: ToolCall = { id, type: 'function', function: { name, arguments: input } };
    const index = this.#calls.push(call) - 1;
    this.#callIndexes.set(id, index);
    this.#write({ tool_calls: [{ index, ...call }] }, emit);
  }

  #end(event: EventOf<'run-end'>, emit: Emit<ChatChunk>): void {
    for (const text of this.#queue) text.isEnded = true;
    this.#sendTexts(emit);
    this.#isOver = true;
    this.#usage = encodeChatUsage(event.usage, (loss) => this.#lose(loss.what, loss.why));
    if (event.outcome === 'error') {
      this.#error = event.error;
      return emit({ error: { message: this.#error.message, type: 'server_error', param: null, code: null } });
    }
    this.#finish = this.#getFinishReason(event);
    const choices = [{ index: 0, delta: {}, logprobs: null, finish_reason: this.#finish }];
    emit({ ...this.#fields('chat.completion.chunk'), choices, usage: this.#usage });
  }

  #getFinishReason({ outcome, finishReason }: EventOf<'run-end'>): FinishReason {
    if (finishReason === 'length') return 'length';
    if (finishReason === 'content-filter') return 'content_filter';
    return outcome === 'paused' && this.#calls.length > 0 ? 'tool_calls' : 'stop';
  }

  #write(delta: JsonObject, emit: Emit<ChatChunk>): void {
    emit({
      ...this.#fields('chat.completion.chunk'),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
    });
  }

  #fields(object: string): JsonObject {
    const { id, model, createdAt } = this.#options;
    const created = Math.floor(createdAt / 1000);
    return { id, object, created, model, service_tier: 'default', system_fingerprint: null };
  }

  #lose(what: string, why: string): void {
    if (this.#reported.has(what)) return;
    this.#reported.add(what);
    this.#onLoss({ kind: 'unsupported', what, why });
  }
}
