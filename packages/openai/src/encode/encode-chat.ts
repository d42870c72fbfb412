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
  onLoss?: OnLoss;
};

export type ChatChunk = JsonObject;

type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls';
/** Part that is being written. `pending`: its text that is not sent yet. */
type QueuedText = { id: string; kind: 'text' | 'reasoning'; pending: string; isEmpty: boolean; isEnded: boolean };
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
  #content = '';
  #reasoning = '';
  #calls: ToolCall[] = [];
  #callIndexes = new Map<string, number>();
  /** Names and inputs of the tools that the runtime executes, for questions about them. */
  #runtimeCalls = new Map<string, { name: string; arguments: string }>();
  /** Parts in the order of their starts. Only the first is sent: deltas of parallel parts would be mixed. */
  #queue: QueuedText[] = [];
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
    const message = {
      role: 'assistant',
      content: this.#content === '' && this.#calls.length > 0 ? null : this.#content,
      refusal: null,
      annotations: [],
      ...(this.#reasoning !== '' && { reasoning_content: this.#reasoning }),
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
          pending: '',
          isEmpty: true,
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
        if (event.discarded) this.#lose('step-end discarded', 'Text that was already sent cannot be retracted.');
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

  #sendText(text: QueuedText, emit: Emit<ChatChunk>): void {
    const { kind, pending, isEmpty } = text;
    text.pending = '';
    text.isEmpty = false;
    if (kind === 'reasoning') {
      this.#reasoning += pending;
      return this.#write({ reasoning_content: pending }, emit);
    }
    const content = isEmpty && this.#content !== '' ? textSeparator + pending : pending;
    this.#content += content;
    this.#write({ content }, emit);
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
