import {
  createPartIds,
  toJson,
  type AgentEvent,
  type Codec,
  type Emit,
  type EventOf,
  type Fault,
  type Json,
  type OnLoss,
  type ResumePoint,
  type RunInput,
  type Usage,
} from '@intertie/core';
import { asFields, asNonEmptyText, asNumber, asText, defined, isFields } from '@intertie/core/internal';
import type { Fields, PartIds } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { approveName, isAskCall, parseOutput } from '../shared/questions.ts';

export type ResponsesDecoderOptions = {
  onLoss?: OnLoss;
  /** Emits a checkpoint before each item, with the response and the sequence number to continue after. Default: false. */
  checkpoints?: boolean;
  /** Calls that wait for the client in the part of the response before the decoded events. */
  waiting?: readonly Waiting[];
  /** The part of a resumed run before the decoded events. Its ids are not used again. */
  from?: Pick<ResumePoint, 'events' | 'message'>;
};

type OpenText = { id: string; kind: 'text' | 'reasoning'; text: string };
type OpenCall = { toolCallId: string; hasInput: boolean };

/** Creates a decoder of events of the Responses API, in the flavour of OpenAI or of Open Responses. */
export function createResponsesDecoder(
  run: RunInput,
  options: ResponsesDecoderOptions = {},
): Codec<unknown, AgentEvent> {
  return new ResponsesDecoder(run, options);
}

class ResponsesDecoder implements Codec<unknown, AgentEvent> {
  #run: RunInput;
  #ids: PartIds;
  #options: ResponsesDecoderOptions;
  #responseId: string | undefined;
  #texts = new Map<string, OpenText>();
  #calls = new Map<string, OpenCall>();
  #openItems = new Set<string>();
  #incomplete: Fields[] = [];
  #waiting: Waiting[];
  #emit: Emit<AgentEvent> = () => undefined;

  constructor(run: RunInput, options: ResponsesDecoderOptions) {
    this.#run = run;
    this.#ids = createPartIds(run, options.from);
    this.#options = options;
    this.#waiting = [...(options.waiting ?? [])];
  }

  feed(event: unknown, emit: Emit<AgentEvent>): void {
    this.#emit = emit;
    if (isFields(event) && this.#decode(event)) return;
    emit({ type: 'raw', dialect: 'openai-responses', value: toJson(event) });
  }

  end(): void {}

  /** Returns whether the event is known. */
  #decode(event: Fields): boolean {
    const type = asText(event.type) ?? '';
    const item = asFields(event.item);
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return this.#start(asFields(event.response));
      case 'response.output_item.added':
        return this.#addItem(event, item);
      case 'response.output_item.done':
        return this.#endItem(event, item);
      case 'response.content_part.added':
      case 'response.reasoning_summary_part.added':
        return this.#openText(event, asFields(event.part).type) !== undefined;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
      case 'response.reasoning_summary_text.delta':
        return this.#delta(event, type);
      case 'response.output_text.done':
      case 'response.refusal.done':
      case 'response.reasoning_text.done':
      case 'response.reasoning.done':
      case 'response.reasoning_summary_text.done':
        return this.#endText(event, type);
      case 'response.function_call_arguments.delta':
      case 'response.mcp_call_arguments.delta':
        return this.#inputDelta(event);
      case 'response.output_text.annotation.added':
        return this.#cite(event, asFields(event.annotation));
      case 'response.completed':
      case 'response.failed':
      case 'response.incomplete':
        return this.#endRun(asFields(event.response));
      case 'error':
        this.#fail(isFields(event.error) ? event.error : event);
        return true;
      default:
        // Other events of a known item repeat its state, which `output_item.done` contains.
        return type === 'keepalive' || (type.startsWith('response.') && event.output_index !== undefined);
    }
  }

  #start({ id }: Fields): boolean {
    const responseId = asNonEmptyText(id);
    if (responseId === undefined || this.#responseId === responseId) return true;
    this.#responseId = responseId;
    this.#checkpoint(0);
    return true;
  }

  #checkpoint(sequence: number): void {
    if (!this.#options.checkpoints || this.#responseId === undefined || this.#openItems.size > 0) return;
    this.#emit({ type: 'checkpoint', token: { responseId: this.#responseId, sequence } });
  }

  #addItem({ sequence_number: sequence, output_index: index }: Fields, item: Fields): boolean {
    // At this point nothing is open, so the events of the items before are complete.
    if (Number.isSafeInteger(sequence)) this.#checkpoint(Number(sequence) - 1);
    this.#openItems.add(String(index));
    if (item.type === 'function_call' && !isAskCall(item)) this.#openCall(item);
    return true;
  }

  #openCall(item: Fields): void {
    const toolCallId = this.#ids.open(asNonEmptyText(item.call_id));
    this.#calls.set(String(item.id), { toolCallId, hasInput: false });
    this.#emit({ type: 'tool-input-start', toolCallId, toolName: getName(item), executor: 'client' });
  }

  #inputDelta({ item_id: itemId, delta }: Fields): boolean {
    const call = this.#calls.get(String(itemId));
    // The input of other calls is decoded at the end of their item.
    if (call === undefined) return true;
    call.hasInput = true;
    this.#emit({ type: 'tool-input-delta', toolCallId: call.toolCallId, delta: asText(delta) ?? '' });
    return true;
  }

  #endItem({ output_index: index }: Fields, item: Fields): boolean {
    this.#openItems.delete(String(index));
    switch (item.type) {
      case 'message':
      case 'reasoning':
        this.#endTexts(item);
        return true;
      case 'function_call':
        return isAskCall(item) ? this.#ask(item) : this.#endCall(item);
      case 'mcp_call':
        return this.#endServerCall(item);
      case 'function_call_output':
        return this.#endOutput(item);
      case 'mcp_approval_request':
        return this.#askApproval(item);
      case 'image_generation_call':
        return this.#endImage(item);
      default:
        return this.#endHostedCall(item);
    }
  }

  #endCall(item: Fields): boolean {
    const call = this.#calls.get(String(item.id));
    if (call === undefined) return false;
    const { toolCallId } = call;
    const text = asText(item.arguments) ?? '';
    if (!call.hasInput && text !== '') this.#emit({ type: 'tool-input-delta', toolCallId, delta: text });
    this.#emit({ type: 'tool-input-end', toolCallId });
    if (item.status === 'incomplete') return true;
    this.#emit({ type: 'tool-call', toolCallId, toolName: getName(item), executor: 'client', input: readInput(item) });
    this.#waiting.push({ type: 'tool', toolCallId });
    return true;
  }

  /** An incomplete call of the server counts only if the final response contains it: it may wait for an approval. */
  #endServerCall(item: Fields): boolean {
    if (item.status === 'incomplete') this.#incomplete.push(item);
    else this.#endHostedResult(this.#callServerTool(item), item);
    return true;
  }

  #callServerTool(item: Fields): string {
    const toolCallId = this.#ids.open(asNonEmptyText(item.id));
    this.#emit({
      type: 'tool-call',
      toolCallId,
      toolName: getName(item),
      executor: 'provider',
      input: readInput(item),
    });
    return toolCallId;
  }

  /** Question of an Intertie agent, see `toAskArguments`. */
  #ask(item: Fields): boolean {
    const { kind, message, schema } = asFields(readInput(item));
    const questionId = String(item.call_id);
    this.#emit({
      type: 'question',
      questionId,
      kind: kind === 'approval' ? 'approval' : 'input',
      ...defined({ message: asText(message), schema: schema === undefined ? undefined : toJson(schema) }),
    });
    this.#waiting.push({ type: 'question', questionId });
    return true;
  }

  #endHostedResult(toolCallId: string, { output, error }: Fields): void {
    if (error !== null && error !== undefined) {
      const message = asText(error) ?? findErrorText(error) ?? 'The tool failed.';
      this.#emit({ type: 'tool-result', toolCallId, status: 'error', error: { message } });
    } else {
      const text = asText(output) ?? '';
      this.#emit({ type: 'tool-result', toolCallId, status: 'ok', output: parseOutput(text) });
    }
  }

  /** Result of a tool that the server has executed, in the flavour of Open Responses. */
  #endOutput({ call_id: callId, output }: Fields): boolean {
    const isEarlier = this.#waiting.some((open) => open.type === 'tool' && open.toolCallId === callId);
    const toolCallId = isEarlier ? String(callId) : this.#ids.of(String(callId));
    if (toolCallId === undefined) return false;
    this.#waiting = this.#waiting.filter((open) => open.type !== 'tool' || open.toolCallId !== toolCallId);
    const result: Json = typeof output === 'string' ? parseOutput(output) : toJson(output);
    this.#emit({ type: 'tool-result', toolCallId, status: 'ok', output: result });
    return true;
  }

  #askApproval(item: Fields): boolean {
    const id = asNonEmptyText(item.id);
    if (id === undefined) return false;
    const { kind, message } = asFields(readInput(item));
    // An approval of an Intertie agent that is not about a tool call.
    if (item.name === approveName && kind === 'approval') {
      this.#emit({ type: 'question', questionId: id, kind: 'approval', ...defined({ message: asText(message) }) });
      this.#waiting.push({ type: 'question', questionId: id });
      return true;
    }
    const toolCallId = this.#callServerTool(item);
    this.#emit({ type: 'question', questionId: toolCallId, kind: 'approval', toolCallId });
    this.#waiting.push({ type: 'question', questionId: toolCallId });
    return true;
  }

  #endImage(item: Fields): boolean {
    const data = asNonEmptyText(item.result);
    if (data === undefined) return true;
    const format = (asNonEmptyText(item.output_format) ?? 'png').replace(/^svg$/, 'svg+xml');
    this.#emit({ type: 'file', id: this.#toPartId(item.id), mimeType: `image/${format}`, data });
    return true;
  }

  /** Calls of tools that the server hosts, such as `web_search_call`. */
  #endHostedCall(item: Fields): boolean {
    const toolName = /^(\w+)_call$/.exec(asText(item.type) ?? '')?.[1];
    if (toolName === undefined) return false;
    const toolCallId = this.#ids.open(asNonEmptyText(item.id));
    const call = { toolCallId, toolName, executor: 'provider' as const };
    this.#emit({ type: 'tool-call', ...call, input: toJson(item.action ?? {}) });
    this.#emit({ type: 'tool-result', toolCallId, status: 'ok', output: toJson(item) });
    return true;
  }

  #openText(event: Fields, partType: unknown): OpenText | undefined {
    const key = getTextKey(event);
    const known = this.#texts.get(key);
    if (known) return known;
    const kind = partType === 'reasoning_text' || partType === 'summary_text' ? 'reasoning' : 'text';
    const open: OpenText = { id: this.#toPartId(key), kind, text: '' };
    this.#texts.set(key, open);
    this.#emit({ type: `${kind}-start`, id: open.id });
    return open;
  }

  #delta(event: Fields, type: string): boolean {
    const open = this.#openText(event, type.includes('reasoning') ? 'reasoning_text' : 'output_text');
    const delta = asText(event.delta);
    if (open === undefined || delta === undefined) return false;
    open.text += delta;
    this.#emit({ type: `${open.kind}-delta`, id: open.id, delta });
    return true;
  }

  #endText(event: Fields, type: string): boolean {
    const open = this.#openText(event, type.includes('reasoning') ? 'reasoning_text' : 'output_text');
    if (open === undefined) return false;
    const full = asText(event.text) ?? asText(event.refusal) ?? '';
    const rest = full.startsWith(open.text) ? full.slice(open.text.length) : '';
    if (rest !== '') this.#emit({ type: `${open.kind}-delta`, id: open.id, delta: rest });
    this.#texts.delete(getTextKey(event));
    this.#emit({ type: `${open.kind}-end`, id: open.id });
    return true;
  }

  /** Closes parts of an item that the server left open. */
  #endTexts({ id }: Fields): void {
    for (const [key, open] of this.#texts) {
      if (!key.startsWith(`${String(id)}:`)) continue;
      this.#texts.delete(key);
      this.#emit({ type: `${open.kind}-end`, id: open.id });
    }
  }

  #cite(event: Fields, { type, url, title }: Fields): boolean {
    const link = asNonEmptyText(url);
    if (type !== 'url_citation' || link === undefined) return false;
    this.#emit({
      type: 'source',
      id: this.#toPartId(`${getTextKey(event)}:${String(event.annotation_index)}`),
      sourceType: 'url',
      url: link,
      ...defined({ title: asText(title) }),
    });
    return true;
  }

  #endRun(response: Fields): boolean {
    const { status, incomplete_details: details, error, id } = response;
    this.#responseId ??= asNonEmptyText(id);
    const output = new Set(Array.isArray(response.output) ? response.output.map((item) => asFields(item).id) : []);
    for (const item of this.#incomplete) if (output.has(item.id)) this.#callServerTool(item);
    if (status === 'failed') this.#fail(asFields(error), response);
    else if (status === 'cancelled') this.#end({ outcome: 'aborted' }, response);
    else if (status === 'incomplete') {
      const isFiltered = asFields(details).reason === 'content_filter';
      this.#end({ outcome: 'complete', finishReason: isFiltered ? 'content-filter' : 'length' }, response);
    } else if (this.#waiting.length > 0) this.#end({ outcome: 'paused', waitingFor: this.#waiting }, response);
    else this.#end({ outcome: 'complete', finishReason: 'stop' }, response);
    return true;
  }

  #fail({ message, code }: Fields, response: Fields = {}): void {
    const error: Fault = { message: asNonEmptyText(message) ?? 'The server reported an error without a message.' };
    const known = asNonEmptyText(code);
    this.#end({ outcome: 'error', error: known === undefined ? error : { ...error, code: known } }, response);
  }

  #end(outcome: Record<string, unknown>, response: Fields): void {
    const usage = decodeUsage(response);
    const resume = this.#responseId === undefined ? undefined : { responseId: this.#responseId };
    this.#emit({ type: 'run-end', ...outcome, ...defined({ usage, resume }) } as EventOf<'run-end'>);
  }

  /** Ids contain the item of the server instead of a count, so that a resumed run creates the same ones. */
  #toPartId(item: unknown): string {
    return `${this.#run.runId}:${String(item)}`;
  }
}

function getName({ name }: Fields): string {
  return asNonEmptyText(name) ?? 'unknown';
}

function readInput({ arguments: text }: Fields): Json {
  return parseOutput(asNonEmptyText(text) ?? '{}');
}

function getTextKey({ item_id: id, content_index: index, summary_index: summary }: Fields): string {
  const part = summary === undefined ? String(asNumber(index) ?? 0) : `s${asNumber(summary) ?? 0}`;
  return `${String(id)}:${part}`;
}

function findErrorText(error: unknown): string | undefined {
  const { message, content } = asFields(error);
  const [first] = Array.isArray(content) ? content : [];
  return asText(message) ?? asText(asFields(first).text);
}

function decodeUsage({ usage, model }: Fields): Usage[] | undefined {
  if (!isFields(usage)) return undefined;
  const { input_tokens: input, output_tokens: output, total_tokens: total } = usage;
  const counts = defined({
    model: asNonEmptyText(model),
    inputTokens: asNumber(input),
    outputTokens: asNumber(output),
    totalTokens: asNumber(total),
    reasoningTokens: asNumber(asFields(usage.output_tokens_details).reasoning_tokens),
    cacheReadTokens: asNumber(asFields(usage.input_tokens_details).cached_tokens),
  });
  // Zeros stand for a runtime that does not count.
  return total === 0 ? undefined : [counts];
}
