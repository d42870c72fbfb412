import type { EventOf, Json, JsonObject, MessagePart, Question } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import { approveName, askTool, toAskArguments, toAskCallId } from '../shared/questions.ts';
import type { Flavour, OutputItem } from '../shared/response-event.ts';
import type { ItemEntry, OutputItems } from './output-items.ts';

type Call = {
  name: string;
  isClient: boolean;
  /** Input as JSON text, as far as it is known. */
  input: string;
  stepId?: string | undefined;
  approvalId?: string | undefined;
  /** Whether a delta of the input was sent. */
  hasDelta?: true;
  entry?: ItemEntry | undefined;
  /** Whether `tool-call` has arrived: the input is complete. */
  isComplete: boolean;
  isSettled: boolean;
};

/**
 * Encodes tool calls and questions. A call of a client tool is a `function_call`. A call that the runtime executes is an `mcp_call`,
 * because clients execute every `function_call`. Open Responses has no `mcp_call`: there, a call and its result are written together.
 */
export class ToolItems {
  #items: OutputItems;
  #flavour: Flavour;
  #label: string;
  #calls = new Map<string, Call>();

  constructor(items: OutputItems, flavour: Flavour, label: string) {
    this.#items = items;
    this.#flavour = flavour;
    this.#label = label;
  }

  /** Records the call of an earlier response, whose result may follow in this one. */
  register(part: ToolPart): void {
    const { toolCallId, toolName, executor, args, argsText, approval, state } = part;
    this.#calls.set(toolCallId, {
      name: toolName,
      isClient: executor === 'client',
      input: args === undefined ? (argsText ?? '') : toText(args),
      approvalId: approval && toApprovalId(approval),
      isComplete: true,
      isSettled: state !== 'call' && state !== 'partial-call',
    });
  }

  start({ toolCallId, toolName, executor, stepId }: EventOf<'tool-input-start' | 'tool-call'>): Call {
    const isClient = executor === 'client';
    const call: Call = { name: toolName, isClient, input: '', stepId, isComplete: false, isSettled: false };
    this.#calls.set(toolCallId, call);
    if (isClient || this.#flavour === 'openai') this.#open(toolCallId, call);
    return call;
  }

  /** Returns whether the call is known. */
  delta({ toolCallId, delta }: EventOf<'tool-input-delta'>): boolean {
    const call = this.#calls.get(toolCallId);
    if (call === undefined) return false;
    call.input += delta;
    if (call.entry?.isOpen) this.#writeDelta(call.entry, call, delta);
    return true;
  }

  call(event: EventOf<'tool-call'>): void {
    const { toolCallId, input, invalid } = event;
    const call = this.#calls.get(toolCallId) ?? this.start(event);
    if (call.isComplete) return;
    if (call.input === '' || invalid) call.input = toText(input);
    call.isComplete = true;
    // A client would execute an invalid call too.
    if (call.isClient && invalid) return this.#withdraw(call);
    this.#completeInput(call);
    if (call.isClient && call.entry) this.#items.close(call.entry, { arguments: call.input, status: 'completed' });
  }

  /** Returns whether the call is known. Results of client tools come from the client, so it does not get them. */
  result(event: EventOf<'tool-result'>): boolean {
    const call = this.#calls.get(event.toolCallId);
    if (call === undefined) return false;
    if (call.isSettled || call.isClient || (event.status === 'ok' && event.preliminary)) return true;
    call.isSettled = true;
    if (this.#flavour === 'open-responses') this.#writeCallWithOutput(event, call);
    else this.#settle(event, call);
    return true;
  }

  /** Asks the client: an `mcp_approval_request` for an approval, a call of the client tool `ask` for an input. */
  ask(question: EventOf<'question'>): void {
    const { kind, toolCallId } = question;
    const call = toolCallId === undefined ? undefined : this.#calls.get(toolCallId);
    const name = call?.name ?? approveName;
    if (kind === 'approval' && this.#flavour === 'openai') {
      // The call gets its own item after the approval, in the response that continues.
      if (call) this.#withdraw(call);
      const id = toApprovalId(question);
      if (call) call.approvalId = id;
      const input = call?.input ?? toText(toAskArguments(question));
      const item = { id, type: 'mcp_approval_request', server_label: this.#label, name, arguments: input };
      return this.#items.close(this.#items.add(item));
    }
    const input = toText(toAskArguments(question, call && { name, arguments: call.input }));
    const callId = toAskCallId(question);
    const body = { id: `fc_${callId}`, type: 'function_call', call_id: callId, name: askTool };
    const entry = this.#items.add({ ...body, arguments: '', status: 'in_progress' });
    this.#items.writeOf(entry, 'response.function_call_arguments.delta', { delta: input });
    this.#items.writeOf(entry, 'response.function_call_arguments.done', { arguments: input, name: askTool });
    this.#items.close(entry, { arguments: input, status: 'completed' });
  }

  /** Ends the open item of a call that gets no result in this response. */
  endItem(entry: ItemEntry): void {
    for (const call of this.#calls.values()) if (call.entry === entry) this.#close(call);
  }

  endAll(): void {
    for (const call of this.#calls.values()) this.#close(call);
  }

  #open(toolCallId: string, call: Call): void {
    const { name, isClient, stepId, approvalId = null } = call;
    const body = { name, arguments: '', status: 'in_progress' };
    const item: OutputItem = isClient
      ? { id: `fc_${toolCallId}`, type: 'function_call', call_id: toolCallId, ...body }
      : { id: `mcp_${toolCallId}`, type: 'mcp_call', server_label: this.#label, ...body, ...noResult(approvalId) };
    call.entry = this.#items.add(item, stepId);
    if (!isClient) this.#items.writeOf(call.entry, 'response.mcp_call.in_progress');
  }

  #writeDelta(entry: ItemEntry, call: Call, delta: string): void {
    call.hasDelta = true;
    this.#items.writeOf(entry, `${getArgumentsEvent(call)}.delta`, { delta });
  }

  #completeInput(call: Call): void {
    const { entry, input, name, isClient, hasDelta } = call;
    if (!entry?.isOpen) return;
    // Clients and the compliance suite expect at least one delta, also if the runtime sends the input at once.
    if (!hasDelta && input !== '') this.#writeDelta(entry, call, input);
    entry.item = { ...entry.item, arguments: input };
    const event = `${getArgumentsEvent({ isClient })}.done`;
    this.#items.writeOf(entry, event, { arguments: input, ...(isClient && { name }) });
  }

  #settle(event: EventOf<'tool-result'>, call: Call): void {
    if (!call.entry?.isOpen) {
      this.#open(event.toolCallId, call);
      this.#completeInput(call);
    }
    const entry = call.entry!;
    const text = toResultText(event);
    if (event.status === 'ok') {
      this.#items.writeOf(entry, 'response.mcp_call.completed');
      return this.#items.close(entry, { status: 'completed', output: text });
    }
    this.#items.writeOf(entry, 'response.mcp_call.failed');
    const error = { type: 'mcp_tool_execution_error', content: [{ type: 'text', text }] };
    this.#items.close(entry, { status: 'failed', error });
  }

  #writeCallWithOutput(event: EventOf<'tool-result'>, call: Call): void {
    const { toolCallId } = event;
    const body = { call_id: toolCallId, status: 'completed' };
    const item = { id: `fc_${toolCallId}`, type: 'function_call', name: call.name, arguments: call.input, ...body };
    this.#items.close(this.#items.add(item, call.stepId));
    const output = { id: `fco_${toolCallId}`, type: 'function_call_output', output: toResultText(event), ...body };
    this.#items.close(this.#items.add(output, call.stepId));
  }

  #withdraw(call: Call): void {
    this.#close(call);
    if (call.entry) call.entry.isWithdrawn = true;
  }

  #close({ entry, input }: Call): void {
    if (entry?.isOpen) this.#items.close(entry, { arguments: input, status: 'incomplete' });
  }
}

const noResult = (approvalId: string | null): JsonObject => ({
  approval_request_id: approvalId,
  output: null,
  error: null,
});

function getArgumentsEvent({ isClient }: Pick<Call, 'isClient'>): string {
  return isClient ? 'response.function_call_arguments' : 'response.mcp_call_arguments';
}

export function toApprovalId({ questionId }: Pick<Question, 'questionId'>): string {
  return `mcpr_${questionId}`;
}

/** Text of a value: a text as it is, any other value as JSON. */
export function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Text of a result for a model: output as JSON, or the reason why there is none. */
function toResultText(result: EventOf<'tool-result'>): string {
  switch (result.status) {
    case 'ok':
      return result.content ? toContentText(result.output) : toText(result.output);
    case 'error':
      return result.error.message;
    case 'denied':
      return result.reason === undefined ? 'The call was denied.' : `The call was denied: ${result.reason}`;
  }
}

function toContentText(output: Json): string {
  if (!Array.isArray(output)) return toText(output);
  const parts = output as unknown as MessagePart[];
  return parts.every((part) => part.type === 'text') ? parts.map(({ text }) => text).join('\n') : toText(output);
}
