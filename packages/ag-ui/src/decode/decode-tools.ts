import type {
  AgentEvent,
  Emit,
  EventOf,
  Fault,
  Json,
  JsonObject,
  MessagePart,
  Meta,
  OnLoss,
  RunInput,
} from '@intertie/core';
import type { CallBody, Executor, PartIds, Attribution } from '@intertie/core/internal';
import { mergeMeta } from '@intertie/core/internal';
import { readMetadata } from './decode-agents.ts';
import { fromEncryptedValue, withEncryptedValue } from '../shared/encrypted-value.ts';
import { readLaterMeta, readMeta } from '../shared/event-meta.ts';
import { readToolMessage } from '../messages/read-tool-message.ts';
import type { AgentMessageList } from './agent-message-list.ts';
import { defined, isFields, isJsonObject, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

type Write = Emit<AgentEvent>;
type Call = {
  body: CallBody & Attribution;
  text: string;
  isOpen: boolean;
  isSettled: boolean;
  held?: EventOf<'tool-result'>;
};

export interface ToolDecoderContext {
  ids: PartIds;
  messages: AgentMessageList;
  onLoss: OnLoss;
}

/** Decodes tool calls by wire id. A call is complete at its end event; an earlier result is held until then. */
export class ToolDecoder {
  #ids: PartIds;
  #clientTools: ReadonlySet<string>;
  /** Calls of the message that the run continues, and whether they have a result. */
  #baseline: Map<string, boolean>;
  /** Calls by the message id of their results. */
  #results = new Map<string, string>();
  #onLoss: OnLoss;
  #messages: AgentMessageList;
  #calls = new Map<string, Call>();
  /** Calls that the agent suspended without streaming them, from the questions about them. */
  #suspended: Map<string, { toolName: string; args: Json }>;
  /** Calls that the agent streams again while they await their result. */
  #repeated = new Set<string>();

  constructor(run: RunInput, { ids, messages, onLoss }: ToolDecoderContext) {
    this.#ids = ids;
    this.#messages = messages;
    this.#onLoss = onLoss;
    this.#clientTools = new Set(run.tools.map(({ name }) => name));
    const parts = run.message?.parts ?? [];
    const answered = new Set(run.answers.flatMap((answer) => ('questionId' in answer ? [] : [answer.toolCallId])));
    this.#suspended = new Map(parts.flatMap(readSuspendedCall));
    this.#baseline = new Map(
      parts.flatMap((part) => {
        if (part.type !== 'tool-invocation') return [];
        const { toolCallId, state } = part;
        return [[toolCallId, (state !== 'call' && state !== 'partial-call') || answered.has(toolCallId)] as const];
      }),
    );
  }

  findId(wireId: string): string | undefined {
    return this.#calls.get(wireId)?.body.toolCallId ?? (this.#baseline.has(wireId) ? wireId : undefined);
  }

  has(wireId: string): boolean {
    return this.findId(wireId) !== undefined;
  }

  /** Whether a known call has no result yet. */
  isAwaitingResult(wireId: string): boolean {
    const call = this.#calls.get(wireId);
    return call ? !call.isSettled : this.#baseline.get(wireId) === false;
  }

  start(event: Fields, attribution: Attribution, emit: Write): boolean {
    const wireId = asNonEmptyText(event.toolCallId);
    const toolName = asText(event.toolCallName);
    if (wireId === undefined || toolName === undefined || this.#calls.get(wireId)?.isOpen) return false;
    if (this.isAwaitingResult(wireId)) {
      // An agent that resumes streams its interrupted call again. Clients apply the start of a call once.
      this.#repeated.add(wireId);
      return true;
    }
    const extra = readMetadata(event);
    const toolCallId = this.#ids.open(wireId);
    const renamed: Meta | undefined = toolCallId === wireId ? undefined : { 'ag-ui': { toolCallId: wireId } };
    const body: CallBody & Attribution = {
      toolCallId,
      toolName,
      ...callFields(extra),
      ...defined({ executor: this.#executor(toolName, extra) }),
      ...attribution,
      ...((renamed ?? attribution.providerMetadata) && {
        providerMetadata: { ...attribution.providerMetadata, ...renamed },
      }),
    };
    this.#calls.set(wireId, { body, text: '', isOpen: true, isSettled: false });
    this.#messages.addCall(toolCallId, wireId, event.parentMessageId);
    emit({ type: 'tool-input-start', ...body });
    return true;
  }

  args(event: Fields, emit: Write): boolean {
    if (this.#repeated.has(String(event.toolCallId))) return true;
    const call = this.#calls.get(String(event.toolCallId));
    const delta = asText(event.delta);
    if (call === undefined || !call.isOpen || delta === undefined) return false;
    call.text += delta;
    const meta = event.metadata === undefined ? undefined : this.#readLaterMeta(call, event);
    const { toolCallId } = call.body;
    if (meta) emit({ type: 'tool-input-delta', toolCallId, delta, providerMetadata: meta });
    else if (delta !== '') emit({ type: 'tool-input-delta', toolCallId, delta });
    return true;
  }

  end(event: Fields, emit: Write): boolean {
    if (this.#repeated.delete(String(event.toolCallId))) return true;
    const call = this.#calls.get(String(event.toolCallId));
    if (call === undefined || !call.isOpen) return false;
    call.isOpen = false;
    const { toolCallId, inputEncoding } = call.body;
    const extra = readMetadata(event);
    const meta = this.#readLaterMeta(call, event);
    emit({ type: 'tool-input-end', toolCallId });
    if (extra.cut === true) {
      // A separate event: if the step has ended, its input has too, and the end of the input cannot carry metadata.
      if (meta) emit({ type: 'metadata', id: toolCallId, providerMetadata: meta });
      return true;
    }
    const read = parseInput(call.text, inputEncoding ?? extra.inputEncoding);
    const { input, invalid } = extra.input === undefined ? read : { input: extra.input, invalid: undefined };
    this.#messages.setArguments(toolCallId, input, call.text);
    const fault = isFields(extra.invalid) ? (extra.invalid as Fault) : invalid;
    // The executor may be declared only at the end.
    const executor = parseExecutor(extra.executor);
    call.body = { ...call.body, ...callFields(extra), ...defined({ executor }) };
    emit({ type: 'tool-call', ...call.body, input, ...(fault && { invalid: fault }) });
    if (call.held) emit(call.held);
    return true;
  }

  result(event: Fields, emit: Write): boolean {
    const wireId = String(event.toolCallId);
    const toolCallId = this.findId(wireId) ?? this.#showSuspended(wireId, emit);
    if (toolCallId === undefined) return false;
    const messageId = asNonEmptyText(event.messageId);
    if (messageId !== undefined) this.#results.set(messageId, wireId);
    const call = this.#calls.get(wireId);
    if (!this.isAwaitingResult(wireId)) {
      this.#onLoss({ kind: 'late', what: 'TOOL_CALL_RESULT', why: 'The call already has a result.', id: toolCallId });
      return true;
    }
    if (call) call.isSettled = true;
    else this.#baseline.set(wireId, true);
    const result = this.#read(event, toolCallId);
    if (result === undefined) return true;
    this.#messages.addResult(messageId, toolCallId, result, event.content);
    if (call?.isOpen) call.held = result;
    else emit(result);
    return true;
  }

  /** Emits a call whose result is the first event about it. The agent's messages do not contain it. */
  #showSuspended(wireId: string, emit: Write): string | undefined {
    const call = this.#suspended.get(wireId);
    if (call === undefined) return undefined;
    const body = { toolCallId: this.#ids.open(wireId), toolName: call.toolName };
    this.#calls.set(wireId, { body, text: '', isOpen: false, isSettled: false });
    emit({ type: 'tool-call', ...body, input: call.args });
    return body.toolCallId;
  }

  /** Adds an encrypted value to a held result. Emitted results cannot be changed, so the value is then reported as a loss. */
  addEncryptedToResult(messageId: string, value: string, last: EventOf<'tool-result'> | undefined): boolean {
    const wireId = this.#results.get(messageId);
    if (wireId === undefined) return false;
    const call = this.#calls.get(wireId);
    const held = last?.toolCallId === this.findId(wireId) ? last : call?.isOpen ? call.held : undefined;
    if (held) held.providerMetadata = mergeMeta(held.providerMetadata, fromEncryptedValue(value));
    else {
      const why = 'It belongs to a result that was already emitted and cannot be changed.';
      this.#onLoss({ kind: 'unsupported', what: 'REASONING_ENCRYPTED_VALUE', why, id: this.findId(wireId) ?? wireId });
    }
    return true;
  }

  /** Whether the arguments of a call are open. */
  get isStreaming(): boolean {
    for (const { isOpen } of this.#calls.values()) if (isOpen) return true;
    return false;
  }

  /** Returns the complete calls of client tools without a result. */
  pending(): string[] {
    return [...this.#calls.values()].flatMap(({ body, isSettled, isOpen }) =>
      body.executor === 'client' && !isSettled && !isOpen ? [body.toolCallId] : [],
    );
  }

  #readLaterMeta(call: Call, event: Fields): Meta | undefined {
    const later = readLaterMeta(event, call.body.providerMetadata, this.#onLoss);
    if (later) call.body = { ...call.body, providerMetadata: mergeMeta(call.body.providerMetadata, later) };
    return later;
  }

  #read(event: Fields, toolCallId: string): EventOf<'tool-result'> | undefined {
    const result = readToolMessage(event, toolCallId, this.#onLoss);
    const meta = withEncryptedValue(readMeta(event, this.#onLoss), event.encryptedValue);
    return result && { type: 'tool-result', toolCallId, ...defined({ providerMetadata: meta }), ...result };
  }

  #executor(toolName: string, extra: JsonObject): Executor | undefined {
    // Our encoder declares the executor as soon as it is known. Other agents execute every tool that is not the client's.
    return parseExecutor(extra.executor) ?? (this.#clientTools.has(toolName) ? 'client' : undefined);
  }
}

function readSuspendedCall(part: MessagePart): Array<[string, { toolName: string; args: Json }]> {
  const call = part.type === 'question' ? part.providerMetadata?.['ag-ui']?.call : undefined;
  if (!isJsonObject(call) || typeof call.toolCallId !== 'string' || typeof call.toolName !== 'string') return [];
  return [[call.toolCallId, { toolName: call.toolName, args: call.args ?? {} }]];
}

function parseExecutor(value: Json | undefined): Executor | undefined {
  return value === 'provider' || value === 'runtime' || value === 'client' ? value : undefined;
}

function callFields(extra: JsonObject): Partial<CallBody> {
  const { dynamic, title, inputEncoding, toolMetadata } = extra;
  return {
    ...(typeof dynamic === 'boolean' && { dynamic }),
    ...(typeof title === 'string' && { title }),
    ...((inputEncoding === 'json' || inputEncoding === 'text') && { inputEncoding }),
    ...(toolMetadata !== undefined && { toolMetadata }),
  };
}

function parseInput(text: string, encoding: Json | undefined): { input: Json; invalid?: Fault } {
  if (encoding === 'text') return { input: text };
  if (text.trim() === '') return { input: {} };
  try {
    return { input: JSON.parse(text) as Json };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { input: text, invalid: { message: `The arguments are not valid JSON: ${why}`, code: 'invalid-json' } };
  }
}
