import type { EventOf, Json, JsonObject, Meta, OnLoss } from '@intertie/core';
import {
  equalJson,
  mergeMeta,
  type CallBody,
  type Executor,
  type Attribution,
  type ToolPart,
} from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { tag } from './encode-agents.ts';
import { encryptedValueOf } from '../shared/encrypted-value.ts';
import { slot } from '../shared/intertie-metadata.ts';
import type { MessageGroups } from './message-groups.ts';
import { callSlot } from './part-metadata.ts';
import { encodeToolResult } from '../shared/tool-content.ts';

export type Form = 'triads' | 'chunks';
type Write = (event: AGUIEvent) => void;
type Call = {
  body: CallBody & Attribution;
  parentMessageId: string;
  owner: string | undefined;
  form: Form;
  state: 'input' | 'called' | 'settled';
  /** The arguments as the client has them. */
  text: string;
  isOpen: boolean;
  /** Not written yet: it would separate the chunks of another call. With `end`, it is complete. */
  held?: { end?: JsonObject };
  meta: Meta | undefined;
  isBaseline: boolean;
  isInvalid: boolean;
  /** What the client was told at the start. */
  slot: JsonObject;
};

export interface AGUIToolsOptions {
  /** Whether the client takes content parts in results. */
  contentParts: boolean;
  /** Whether the client continues a call whose chunks are separated by another event. Clients before 0.0.58 add it twice. */
  reopenedCalls: boolean | 'unknown';
  /** Preliminary results as activities, or not at all. */
  preliminary: 'activity' | 'withhold';
  onLoss: OnLoss;
}

/** Tool calls and their results. A call ends when it is complete, so that what is learned late is said at its end. */
export class AGUITools {
  /** The message that each call is in. */
  readonly assistants: Map<string, string> = new Map();
  #options: AGUIToolsOptions;
  #groups: MessageGroups;
  #calls = new Map<string, Call>();
  #open = 0;
  /** Calls of this run without a result. */
  #unsettled = 0;
  /** The open call that is written as chunks, for a client that may not take another event between them. */
  #inChunks: Call | undefined;
  #held = new Set<Call>();

  constructor(options: AGUIToolsOptions, groups: MessageGroups) {
    this.#options = options;
    this.#groups = groups;
  }

  has(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  /** Whether a call's arguments are open, which chunks of something else would cut off. */
  get isStreaming(): boolean {
    return this.#open > 0;
  }

  /** A call of the message that the run goes on with; the client has it. */
  learn(part: ToolPart, owner: string | undefined): void {
    const { toolCallId, toolName, executor } = part;
    const isSettled = part.state === 'result' || part.state === 'error' || part.state === 'denied';
    this.#calls.set(toolCallId, {
      body: { toolCallId, toolName, ...(executor && { executor }) },
      parentMessageId: '',
      owner,
      form: 'triads',
      state: isSettled ? 'settled' : 'called',
      text: '',
      isOpen: false,
      meta: part.providerMetadata,
      isBaseline: true,
      isInvalid: part.invalid === true,
      slot: {},
    });
  }

  start(event: EventOf<'tool-input-start' | 'tool-call'>, owner: string | undefined, asked: Form, write: Write): Call {
    const form = asked === 'chunks' && this.#mayBeSeparated() ? 'triads' : asked;
    const { type: _, at: __, origin: ___, ...body } = bodyOf(event);
    const { toolCallId, executor, providerMetadata: meta } = body;
    const parentMessageId = this.#groups.call(toolCallId, body);
    this.assistants.set(toolCallId, parentMessageId);
    if (executor === 'provider') this.#groups.isProviders(toolCallId, body);
    const call: Call = {
      body,
      parentMessageId,
      owner,
      form,
      state: 'input',
      text: '',
      isOpen: true,
      meta,
      isBaseline: false,
      isInvalid: false,
      slot: callSlot(body, owner),
    };
    this.#calls.set(toolCallId, call);
    this.#open += 1;
    this.#unsettled += 1;
    if (this.#inChunks) {
      call.held = {};
      this.#held.add(call);
      return call;
    }
    if (form === 'chunks' && this.#options.reopenedCalls === 'unknown') this.#inChunks = call;
    this.#writeStart(call, write);
    return call;
  }

  #writeStart(call: Call, write: Write): void {
    const { body, parentMessageId, owner, form } = call;
    const { toolCallId, toolName } = body;
    const more = { parentMessageId, ...tag(owner), ...slot(call.slot) };
    if (form === 'triads') write({ type: 'TOOL_CALL_START', toolCallId, toolCallName: toolName, ...more });
    else write({ type: 'TOOL_CALL_CHUNK', toolCallId, toolCallName: toolName, ...more });
  }

  #release(call: Call, write: Write): void {
    const { held } = call;
    if (!held) return;
    delete call.held;
    this.#held.delete(call);
    this.#writeStart(call, write);
    if (call.text !== '') this.#writeArgs(call, call.text, write);
    if (held.end) this.#end(call, held.end, write);
  }

  delta({ toolCallId, delta, providerMetadata }: EventOf<'tool-input-delta'>, write: Write): boolean {
    const call = this.#calls.get(toolCallId);
    if (call === undefined || !call.isOpen) return false;
    if (providerMetadata) call.meta = mergeMeta(call.meta, providerMetadata);
    if (delta !== '') this.#args(call, delta, write);
    return true;
  }

  inputEnd({ toolCallId, providerMetadata }: EventOf<'tool-input-end'>): boolean {
    const call = this.#calls.get(toolCallId);
    if (call === undefined || !call.isOpen) return false;
    if (providerMetadata) call.meta = mergeMeta(call.meta, providerMetadata);
    return true;
  }

  call(event: EventOf<'tool-call'>, owner: string | undefined, form: Form, write: Write): void {
    const { type: _, at: __, origin: ___, input, invalid, ...body } = event;
    const { toolCallId } = body;
    const known = this.#calls.get(toolCallId);
    const call = known ?? this.start(event, owner, form, write);
    if (known !== undefined && (known.isBaseline || !known.isOpen)) return;
    call.body = { ...call.body, ...body };
    call.meta = mergeMeta(call.meta, body.providerMetadata);
    if (body.executor === 'provider') this.#groups.isProviders(toolCallId, call.body);
    if (call.text === '') this.#args(call, argumentsOf(input, call.body.inputEncoding), write);
    call.state = 'called';
    call.isInvalid = invalid !== undefined;
    const more: JsonObject = invalid === undefined ? {} : { invalid };
    // A schema may have changed what the model wrote; the tool was called with this.
    if (!isInput(call.text, input, call.body.inputEncoding)) more.input = input;
    this.#end(call, more, write);
  }

  /** Who runs a call, as far as it is known. */
  executorOf(toolCallId: string): Executor | undefined {
    return this.#calls.get(toolCallId)?.body.executor;
  }

  stepOf(toolCallId: string): string | undefined {
    const call = this.#calls.get(toolCallId);
    return call?.isBaseline ? undefined : call?.body.stepId;
  }

  ownerOf(toolCallId: string): string | undefined {
    return this.#calls.get(toolCallId)?.owner;
  }

  result(event: EventOf<'tool-result'>, write: Write): boolean {
    const { toolCallId } = event;
    const call = this.#calls.get(toolCallId);
    if (call === undefined) return false;
    this.#release(call, write);
    if (event.status === 'ok' && event.preliminary) {
      this.#preliminary(call, event.output, write);
      return true;
    }
    this.#end(call, {}, write);
    this.#markSettled(call);
    // It is the client that ran it: to tell it of its own result would show it twice.
    if (call.body.executor === 'client' && event.status !== 'denied' && !call.isInvalid) {
      const why = 'The client has given it, and would show it twice.';
      this.#options.onLoss({ kind: 'withheld', what: 'tool-result', why, id: toolCallId });
      return true;
    }
    const { content, slot: kept } = encodeToolResult(event, this.#options.contentParts);
    if (event.providerMetadata) kept.providerMetadata = event.providerMetadata;
    const messageId = `${toolCallId}:result`;
    write({
      type: 'TOOL_CALL_RESULT',
      messageId,
      toolCallId,
      content,
      role: 'tool',
      ...tag(call.owner),
      ...slot(kept),
    });
    return true;
  }

  /** A late word on a call. */
  metadata(toolCallId: string, meta: Meta, write: Write): void {
    const call = this.#calls.get(toolCallId);
    if (call === undefined) return;
    call.meta = mergeMeta(call.meta, meta);
    if (!call.isOpen) this.#encrypted(call, write);
  }

  discard(stepId: string, write: Write): void {
    for (const call of this.#calls.values()) {
      if (call.isBaseline || call.body.stepId !== stepId) continue;
      this.#end(call, { cut: true }, write);
      this.#markSettled(call);
    }
  }

  /** Only a run's end cuts a call short: it may still be completed when its turn is over. */
  closeInputs(write: Write): void {
    if (this.#open === 0) return;
    for (const call of this.#calls.values()) {
      if (call.isOpen) this.#end(call, { cut: true }, write);
    }
  }

  /**
   * A call of ours that nobody will answer any more is answered with nothing and a flag: a client takes every unanswered
   * call for one that waits for it, and a history in which one dangles is refused by providers. Gives the others: those that
   * the client will answer.
   */
  settle(waiting: ReadonlySet<string>, write: Write): string[] {
    const left: string[] = [];
    for (const [toolCallId, call] of this.#calls) {
      const { executor } = call.body;
      if (call.state === 'settled' || call.isBaseline) continue;
      if (waiting.has(toolCallId) || (executor === 'client' && call.state === 'called')) {
        left.push(toolCallId);
        continue;
      }
      this.#markSettled(call);
      const messageId = `${toolCallId}:result`;
      const more = { ...tag(call.owner), ...slot({ status: 'unsettled' }) };
      write({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content: '', role: 'tool', ...more });
    }
    return left;
  }

  /** The calls whose arguments are open, told again to a client that joins now. */
  reopen(write: Write): void {
    this.#inChunks = undefined;
    for (const call of this.#calls.values()) {
      if (!call.isOpen) continue;
      delete call.held;
      this.#held.delete(call);
      const { toolCallId, toolName: toolCallName } = call.body;
      const { parentMessageId, owner } = call;
      call.form = 'triads';
      write({ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId, ...tag(owner) });
    }
  }

  #markSettled(call: Call): void {
    if (call.state !== 'settled' && !call.isBaseline) this.#unsettled -= 1;
    call.state = 'settled';
  }

  /** Whether a result can come between the chunks of a call that starts now, for a client that would then add the call twice. */
  #mayBeSeparated(): boolean {
    const { reopenedCalls } = this.#options;
    return reopenedCalls === 'unknown' ? this.#unsettled > 0 : !reopenedCalls;
  }

  #args(call: Call, delta: string, write: Write): void {
    call.text += delta;
    if (!call.held) this.#writeArgs(call, delta, write);
  }

  #writeArgs({ body, parentMessageId, owner, form }: Call, delta: string, write: Write): void {
    const { toolCallId, toolName: toolCallName } = body;
    if (form === 'triads') write({ type: 'TOOL_CALL_ARGS', toolCallId, delta });
    else write({ type: 'TOOL_CALL_CHUNK', toolCallId, toolCallName, parentMessageId, delta, ...tag(owner) });
  }

  #end(call: Call, more: JsonObject, write: Write): void {
    if (!call.isOpen) return;
    if (call.held) {
      call.held.end ??= more;
      return;
    }
    call.isOpen = false;
    this.#open -= 1;
    const { toolCallId } = call.body;
    const kept = { ...callSlot(call.body, call.owner, call.meta), ...more };
    if (call.form === 'triads') {
      write({ type: 'TOOL_CALL_END', toolCallId, ...(equalJson(kept, call.slot) ? undefined : slot(kept)) });
    } else if (!equalJson(kept, call.slot)) {
      write({ type: 'TOOL_CALL_CHUNK', toolCallId, toolCallName: call.body.toolName, ...slot(kept) });
    }
    this.#encrypted(call, write);
    if (this.#inChunks !== call) return;
    this.#inChunks = undefined;
    for (const held of this.#held) this.#release(held, write);
  }

  #encrypted({ body, meta }: Call, write: Write): void {
    const encryptedValue = encryptedValueOf(meta);
    if (encryptedValue === undefined) return;
    write({ type: 'REASONING_ENCRYPTED_VALUE', subtype: 'tool-call', entityId: body.toolCallId, encryptedValue });
  }

  #preliminary({ body: { toolCallId, toolName }, owner }: Call, output: Json, write: Write): void {
    if (this.#options.preliminary === 'withhold') {
      const why = 'A client takes every result for the last one.';
      return this.#options.onLoss({ kind: 'withheld', what: 'preliminary tool-result', why, id: toolCallId });
    }
    const content = { toolCallId, toolName, output };
    const messageId = `${toolCallId}:progress`;
    write({ type: 'ACTIVITY_SNAPSHOT', messageId, activityType: 'TOOL_PROGRESS', content, ...tag(owner) });
  }
}

function argumentsOf(input: Json, encoding: 'json' | 'text' | undefined): string {
  return typeof input === 'string' && encoding === 'text' ? input : JSON.stringify(input);
}

/** Whether a reader of the arguments' text comes to the same input. */
function isInput(text: string, input: Json, encoding: 'json' | 'text' | undefined): boolean {
  if (encoding === 'text') return input === text;
  try {
    return equalJson(JSON.parse(text) as Json, input);
  } catch {
    return input === text;
  }
}

/** Of a call that was not streamed: without what only the complete call says. */
function bodyOf(event: EventOf<'tool-input-start' | 'tool-call'>): EventOf<'tool-input-start'> {
  if (event.type === 'tool-input-start') return event;
  const { input: _, invalid: __, ...start } = event;
  return { ...start, type: 'tool-input-start' };
}
