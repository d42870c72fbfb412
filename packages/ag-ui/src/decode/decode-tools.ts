import type { AgentEvent, Emit, EventOf, Fault, Json, JsonObject, Meta, OnLoss, RunInput } from '@intertie/core';
import type { CallBody, Executor, PartIds, Attribution } from '@intertie/core/internal';
import { mergeMeta } from '@intertie/core/internal';
import { slotOf } from './decode-agents.ts';
import { metaOfEncryptedValue, withEncryptedValue } from '../shared/encrypted-value.ts';
import { laterMetaOf, metaOf } from '../shared/event-meta.ts';
import { readToolMessage } from '../messages/read-tool-message.ts';
import { defined, isFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

type Write = Emit<AgentEvent>;
type Call = {
  body: CallBody & Attribution;
  text: string;
  isOpen: boolean;
  isSettled: boolean;
  held?: EventOf<'tool-result'>;
};

/** Tool calls by their wire ids. A call is complete at its end; a result that comes before that waits for it. */
export class AGUIToolReader {
  #ids: PartIds;
  #clientTools: ReadonlySet<string>;
  /** The calls of the message that goes on, and whether they have their results. */
  #baseline: Map<string, boolean>;
  /** The calls by the messages of their results. */
  #results = new Map<string, string>();
  #onLoss: OnLoss;
  #calls = new Map<string, Call>();

  constructor(run: RunInput, ids: PartIds, onLoss: OnLoss) {
    this.#ids = ids;
    this.#onLoss = onLoss;
    this.#clientTools = new Set(run.tools.map(({ name }) => name));
    const parts = run.message?.parts ?? [];
    const given = new Set(run.answers.flatMap((answer) => ('questionId' in answer ? [] : [answer.toolCallId])));
    this.#baseline = new Map(
      parts.flatMap((part) => {
        if (part.type !== 'tool-invocation') return [];
        const { toolCallId, state } = part;
        return [[toolCallId, (state !== 'call' && state !== 'partial-call') || given.has(toolCallId)] as const];
      }),
    );
  }

  idOf(wireId: string): string | undefined {
    return this.#calls.get(wireId)?.body.toolCallId ?? (this.#baseline.has(wireId) ? wireId : undefined);
  }

  has(wireId: string): boolean {
    return this.idOf(wireId) !== undefined;
  }

  /** Whether the result of a call is still to come. */
  awaits(wireId: string): boolean {
    const call = this.#calls.get(wireId);
    return call ? !call.isSettled : this.#baseline.get(wireId) === false;
  }

  start(event: Fields, said: Attribution, emit: Write): boolean {
    const wireId = asNonEmptyText(event.toolCallId);
    const toolName = asText(event.toolCallName);
    if (wireId === undefined || toolName === undefined || this.#calls.get(wireId)?.isOpen) return false;
    const kept = slotOf(event);
    const toolCallId = this.#ids.open(wireId);
    const renamed: Meta | undefined = toolCallId === wireId ? undefined : { 'ag-ui': { toolCallId: wireId } };
    const body: CallBody & Attribution = {
      toolCallId,
      toolName,
      ...callFields(kept),
      ...defined({ executor: this.#executor(toolName, kept) }),
      ...said,
      ...((renamed ?? said.providerMetadata) && { providerMetadata: { ...said.providerMetadata, ...renamed } }),
    };
    this.#calls.set(wireId, { body, text: '', isOpen: true, isSettled: false });
    emit({ type: 'tool-input-start', ...body });
    return true;
  }

  args(event: Fields, emit: Write): boolean {
    const call = this.#calls.get(String(event.toolCallId));
    const delta = asText(event.delta);
    if (call === undefined || !call.isOpen || delta === undefined) return false;
    call.text += delta;
    const said = event.metadata === undefined ? undefined : this.#later(call, event);
    const { toolCallId } = call.body;
    if (said) emit({ type: 'tool-input-delta', toolCallId, delta, providerMetadata: said });
    else if (delta !== '') emit({ type: 'tool-input-delta', toolCallId, delta });
    return true;
  }

  end(event: Fields, emit: Write): boolean {
    const call = this.#calls.get(String(event.toolCallId));
    if (call === undefined || !call.isOpen) return false;
    call.isOpen = false;
    const { toolCallId, inputEncoding } = call.body;
    const kept = slotOf(event);
    const said = this.#later(call, event);
    emit({ type: 'tool-input-end', toolCallId });
    if (kept.cut === true) {
      // By itself: where the step is over, so is the input, and nothing more can be said at its end.
      if (said) emit({ type: 'metadata', id: toolCallId, providerMetadata: said });
      return true;
    }
    const read = inputOf(call.text, inputEncoding ?? kept.inputEncoding);
    const { input, invalid } = kept.input === undefined ? read : { input: kept.input, invalid: undefined };
    const fault = isFields(kept.invalid) ? (kept.invalid as Fault) : invalid;
    // Whose tool it is may be said at the end only.
    const executor = executorOf(kept.executor);
    call.body = { ...call.body, ...callFields(kept), ...defined({ executor }) };
    emit({ type: 'tool-call', ...call.body, input, ...(fault && { invalid: fault }) });
    if (call.held) emit(call.held);
    return true;
  }

  result(event: Fields, emit: Write): boolean {
    const wireId = String(event.toolCallId);
    const toolCallId = this.idOf(wireId);
    if (toolCallId === undefined) return false;
    const messageId = asNonEmptyText(event.messageId);
    if (messageId !== undefined) this.#results.set(messageId, wireId);
    const call = this.#calls.get(wireId);
    if (!this.awaits(wireId)) {
      this.#onLoss({ kind: 'late', what: 'TOOL_CALL_RESULT', why: 'The call had its result already.', id: toolCallId });
      return true;
    }
    if (call) call.isSettled = true;
    else this.#baseline.set(wireId, true);
    const result = this.#read(event, toolCallId);
    if (result === undefined) return true;
    if (call?.isOpen) call.held = result;
    else emit(result);
    return true;
  }

  /** An encrypted value of a result. What was told cannot be added to: then it is entered in the ledger. */
  resultEncrypted(messageId: string, value: string, last: EventOf<'tool-result'> | undefined): boolean {
    const wireId = this.#results.get(messageId);
    if (wireId === undefined) return false;
    const call = this.#calls.get(wireId);
    const held = last?.toolCallId === this.idOf(wireId) ? last : call?.isOpen ? call.held : undefined;
    if (held) held.providerMetadata = mergeMeta(held.providerMetadata, metaOfEncryptedValue(value));
    else {
      const why = 'It is about a result that was told before, and nothing can be said of a result afterwards.';
      this.#onLoss({ kind: 'unsupported', what: 'REASONING_ENCRYPTED_VALUE', why, id: this.idOf(wireId) ?? wireId });
    }
    return true;
  }

  /** Whether a call's arguments are being said. */
  get isStreaming(): boolean {
    for (const { isOpen } of this.#calls.values()) if (isOpen) return true;
    return false;
  }

  /** The client's calls that nobody has answered. */
  pending(): string[] {
    return [...this.#calls.values()].flatMap(({ body, isSettled, isOpen }) =>
      body.executor === 'client' && !isSettled && !isOpen ? [body.toolCallId] : [],
    );
  }

  #later(call: Call, event: Fields): Meta | undefined {
    const later = laterMetaOf(event, call.body.providerMetadata, this.#onLoss);
    if (later) call.body = { ...call.body, providerMetadata: mergeMeta(call.body.providerMetadata, later) };
    return later;
  }

  #read(event: Fields, toolCallId: string): EventOf<'tool-result'> | undefined {
    const result = readToolMessage(event, toolCallId, this.#onLoss);
    const meta = withEncryptedValue(metaOf(event, this.#onLoss), event.encryptedValue);
    return result && { type: 'tool-result', toolCallId, ...defined({ providerMetadata: meta }), ...result };
  }

  #executor(toolName: string, kept: JsonObject): Executor | undefined {
    // Our own encoder says who runs a tool as soon as it knows; other agents run what is not the client's.
    return executorOf(kept.executor) ?? (this.#clientTools.has(toolName) ? 'client' : undefined);
  }
}

function executorOf(value: Json | undefined): Executor | undefined {
  return value === 'provider' || value === 'runtime' || value === 'client' ? value : undefined;
}

function callFields(kept: JsonObject): Partial<CallBody> {
  const { dynamic, title, inputEncoding, toolMetadata } = kept;
  return {
    ...(typeof dynamic === 'boolean' && { dynamic }),
    ...(typeof title === 'string' && { title }),
    ...((inputEncoding === 'json' || inputEncoding === 'text') && { inputEncoding }),
    ...(toolMetadata !== undefined && { toolMetadata }),
  };
}

function inputOf(text: string, encoding: Json | undefined): { input: Json; invalid?: Fault } {
  if (encoding === 'text') return { input: text };
  if (text.trim() === '') return { input: {} };
  try {
    return { input: JSON.parse(text) as Json };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { input: text, invalid: { message: `The arguments are no JSON: ${why}`, code: 'invalid-json' } };
  }
}
