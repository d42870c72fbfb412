import type { EventOf, Json, JsonObject, Meta, OnLoss } from '@intertie/core';
import { equalJson, mergeMeta, omit, type CallBody, type Attribution, type ToolPart } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { ownerField } from './encode-agents.ts';
import { toEncryptedValue } from '../shared/encrypted-value.ts';
import { toMetadata } from '../shared/intertie-metadata.ts';
import type { MessageGroups } from './message-groups.ts';
import { callMetadata } from './part-metadata.ts';
import { encodeToolResult } from '../shared/tool-content.ts';

/** START, CONTENT and END events, or chunks. */
export type Form = 'triads' | 'chunks';
type Write = (event: AGUIEvent) => void;
type Call = {
  body: CallBody & Attribution;
  parentMessageId: string;
  owner: string | undefined;
  form: Form;
  state: 'input' | 'called' | 'settled';
  /** Arguments that the client has received. */
  text: string;
  isOpen: boolean;
  /** Buffered, because its events would separate the chunks of another call. `end`: metadata of its end, once complete. */
  held?: { end?: JsonObject };
  meta: Meta | undefined;
  isBaseline: boolean;
  isInvalid: boolean;
  /** Metadata of the start event. */
  metadata: JsonObject;
};

export interface ToolEncoderOptions {
  /** Whether the client accepts content parts in results. */
  contentParts: boolean;
  /** Whether the client continues a call whose chunks are separated by another event. Clients before 0.0.58 add it twice. */
  reopenedCalls: boolean | 'unknown';
  /** Whether preliminary results are sent as activities. */
  preliminary: 'activity' | 'withhold';
  onLoss: OnLoss;
}

/** Encodes tool calls and their results. A call is closed when it is complete, so that its end can carry late metadata. */
export class ToolEncoder {
  /** Id of the assistant message of each call. */
  readonly assistants: Map<string, string> = new Map();
  #options: ToolEncoderOptions;
  #groups: MessageGroups;
  #calls = new Map<string, Call>();
  #open = 0;
  /** Calls of this run without a result. */
  #unsettled = 0;
  /** Open call in chunks, for a client that may not accept other events between them. */
  #inChunks: Call | undefined;
  #held = new Set<Call>();

  constructor(options: ToolEncoderOptions, groups: MessageGroups) {
    this.#options = options;
    this.#groups = groups;
  }

  has(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  /** Whether the arguments of a call are open. Chunks of another part would end them. */
  get isStreaming(): boolean {
    return this.#open > 0;
  }

  /** Registers a call of the message that the run continues; the client has it. */
  register(part: ToolPart, owner: string | undefined): void {
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
      metadata: {},
    });
  }

  start(
    event: EventOf<'tool-input-start' | 'tool-call'>,
    owner: string | undefined,
    preferredForm: Form,
    write: Write,
  ): Call {
    const form = preferredForm === 'chunks' && this.#mayBeSeparated() ? 'triads' : preferredForm;
    const body = omit(event as EventOf<'tool-call'>, 'type', 'at', 'origin', 'input', 'invalid');
    const { toolCallId, executor, providerMetadata: meta } = body;
    const parentMessageId = this.#groups.call(toolCallId, body);
    this.assistants.set(toolCallId, parentMessageId);
    if (executor === 'provider') this.#groups.markProviderExecuted(toolCallId, body);
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
      metadata: callMetadata(body, owner),
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
    const fields = { parentMessageId, ...ownerField(owner), ...toMetadata(call.metadata) };
    if (form === 'triads') write({ type: 'TOOL_CALL_START', toolCallId, toolCallName: toolName, ...fields });
    else write({ type: 'TOOL_CALL_CHUNK', toolCallId, toolCallName: toolName, ...fields });
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
    const { input, invalid } = event;
    const body = omit(event, 'type', 'at', 'origin', 'input', 'invalid');
    const { toolCallId } = body;
    const known = this.#calls.get(toolCallId);
    const call = known ?? this.start(event, owner, form, write);
    if (known !== undefined && (known.isBaseline || !known.isOpen)) return;
    call.body = { ...call.body, ...body };
    call.meta = mergeMeta(call.meta, body.providerMetadata);
    if (body.executor === 'provider') this.#groups.markProviderExecuted(toolCallId, call.body);
    if (call.text === '') this.#args(call, toArgumentsText(input, call.body.inputEncoding), write);
    call.state = 'called';
    call.isInvalid = invalid !== undefined;
    const fields: JsonObject = invalid === undefined ? {} : { invalid };
    // A schema may have transformed the model's arguments, so the input of the tool can differ from their text.
    if (!isInput(call.text, input, call.body.inputEncoding)) fields.input = input;
    this.#end(call, fields, write);
  }
  getStep(toolCallId: string): string | undefined {
    const call = this.#calls.get(toolCallId);
    return call?.isBaseline ? undefined : call?.body.stepId;
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
    // The client executed the tool and would show the result twice.
    if (call.body.executor === 'client' && event.status !== 'denied' && !call.isInvalid) {
      const why = 'The client gave this result and would show it twice.';
      this.#options.onLoss({ kind: 'withheld', what: 'tool-result', why, id: toolCallId });
      return true;
    }
    const { content, metadata: extra } = encodeToolResult(event, this.#options.contentParts);
    if (event.providerMetadata) extra.providerMetadata = event.providerMetadata;
    const messageId = `${toolCallId}:result`;
    write({
      type: 'TOOL_CALL_RESULT',
      messageId,
      toolCallId,
      content,
      role: 'tool',
      ...ownerField(call.owner),
      ...toMetadata(extra),
    });
    return true;
  }

  /** Merges metadata that arrived after the input of a call. */
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

  /** Closes calls whose input is incomplete. Only at the end of a run: a call may be completed after its step has ended. */
  closeInputs(write: Write): void {
    if (this.#open === 0) return;
    for (const call of this.#calls.values()) {
      if (call.isOpen) this.#end(call, { cut: true }, write);
    }
  }

  /**
   * Writes an empty result with the status `unsettled` for each call that will not get one: clients treat unanswered calls as
   * their own, and providers reject a history with dangling calls. Returns the calls that the client will answer.
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
      const fields = { ...ownerField(call.owner), ...toMetadata({ status: 'unsettled' }) };
      write({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content: '', role: 'tool', ...fields });
    }
    return left;
  }

  /** Opens calls with open arguments again, for a client that joins. */
  reopen(write: Write): void {
    this.#inChunks = undefined;
    for (const call of this.#calls.values()) {
      if (!call.isOpen) continue;
      delete call.held;
      this.#held.delete(call);
      const { toolCallId, toolName: toolCallName } = call.body;
      const { parentMessageId, owner } = call;
      call.form = 'triads';
      write({ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId, ...ownerField(owner) });
    }
  }

  #markSettled(call: Call): void {
    if (call.state !== 'settled' && !call.isBaseline) this.#unsettled -= 1;
    call.state = 'settled';
  }

  /** Whether a result can arrive between the chunks of a call that starts now, for a client that would add the call twice. */
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
    else write({ type: 'TOOL_CALL_CHUNK', toolCallId, toolCallName, parentMessageId, delta, ...ownerField(owner) });
  }

  #end(call: Call, fields: JsonObject, write: Write): void {
    if (!call.isOpen) return;
    if (call.held) {
      call.held.end ??= fields;
      return;
    }
    call.isOpen = false;
    this.#open -= 1;
    const { toolCallId } = call.body;
    const extra = { ...callMetadata(call.body, call.owner, call.meta), ...fields };
    if (call.form === 'triads') {
      write({
        type: 'TOOL_CALL_END',
        toolCallId,
        ...(equalJson(extra, call.metadata) ? undefined : toMetadata(extra)),
      });
    } else if (!equalJson(extra, call.metadata)) {
      write({ type: 'TOOL_CALL_CHUNK', toolCallId, toolCallName: call.body.toolName, ...toMetadata(extra) });
    }
    this.#encrypted(call, write);
    if (this.#inChunks !== call) return;
    this.#inChunks = undefined;
    for (const held of this.#held) this.#release(held, write);
  }

  #encrypted({ body, meta }: Call, write: Write): void {
    const encryptedValue = toEncryptedValue(meta);
    if (encryptedValue === undefined) return;
    write({ type: 'REASONING_ENCRYPTED_VALUE', subtype: 'tool-call', entityId: body.toolCallId, encryptedValue });
  }

  #preliminary({ body: { toolCallId, toolName }, owner }: Call, output: Json, write: Write): void {
    if (this.#options.preliminary === 'withhold') {
      const why = 'Clients treat every result as final.';
      return this.#options.onLoss({ kind: 'withheld', what: 'preliminary tool-result', why, id: toolCallId });
    }
    const content = { toolCallId, toolName, output };
    const messageId = `${toolCallId}:progress`;
    write({ type: 'ACTIVITY_SNAPSHOT', messageId, activityType: 'TOOL_PROGRESS', content, ...ownerField(owner) });
  }
}

function toArgumentsText(input: Json, encoding: 'json' | 'text' | undefined): string {
  return typeof input === 'string' && encoding === 'text' ? input : JSON.stringify(input);
}

/** Whether a reader of the arguments' text gets the same input. */
function isInput(text: string, input: Json, encoding: 'json' | 'text' | undefined): boolean {
  if (encoding === 'text') return input === text;
  try {
    return equalJson(JSON.parse(text) as Json, input);
  } catch {
    return input === text;
  }
}
