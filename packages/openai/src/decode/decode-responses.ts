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
  type RunInput,
  type Usage,
} from '@intertie/core';
import { asFields, asNonEmptyText, asNumber, asText, defined, isFields } from '@intertie/core/internal';
import type { Fields, PartIds } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { parseOutput } from '../shared/questions.ts';

export type ResponsesDecoderOptions = {
  onLoss?: OnLoss;
  /** Emits a checkpoint before each item, with the response and the sequence number to continue after. Default: false. */
  checkpoints?: boolean;
  /** Calls that wait for the client in the part of the response before the decoded events. */
  waiting?: readonly Waiting[];
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
  #waiting: Waiting[];
  #emit: Emit<AgentEvent> = () => undefined;

  constructor(run: RunInput, options: ResponsesDecoderOptions) {
    this.#run = run;
    this.#ids = createPartIds(run);
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
    if (item.type === 'function_call') this.#openCall(item, asNonEmptyText(item.call_id), 'client');
    if (item.type === 'mcp_call') this.#openCall(item, asNonEmptyText(item.id), 'provider');
    return true;
  }

  #openCall(item: Fields, wireId: string | undefined, executor: 'client' | 'provider'): void {
    const toolCallId = this.#ids.open(wireId);
    this.#calls.set(String(item.id), { toolCallId, hasInput: false });
    this.#emit({ type: 'tool-input-start', toolCallId, toolName: asNonEmptyText(item.name) ?? 'unknown', executor });
  }

  #inputDelta({ item_id: itemId, delta }: Fields): boolean {
    const call = this.#calls.get(String(itemId));
    if (call === undefined) return false;
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
        return this.#endCall(item, 'client');
      case 'mcp_call':
        return this.#endCall(item, 'provider');
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

  #endCall(item: Fields, executor: 'client' | 'provider'): boolean {
    const call = this.#calls.get(String(item.id));
    if (call === undefined) return false;
    const { toolCallId } = call;
    const toolName = asNonEmptyText(item.name) ?? 'unknown';
    const text = asText(item.arguments) ?? '';
    if (!call.hasInput && text !== '') this.#emit({ type: 'tool-input-delta', toolCallId, delta: text });
    this.#emit({ type: 'tool-input-end', toolCallId });
    // An incomplete call was withdrawn by the server.
    if (item.status === 'incomplete') return true;
    this.#emit({ type: 'tool-call', toolCallId, toolName, executor, input: text === '' ? {} : parseOutput(text) });
    if (executor === 'client') this.#waiting.push({ type: 'tool', toolCallId });
    else this.#endHostedResult(toolCallId, item);
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
    const questionId = asNonEmptyText(item.id);
    if (questionId === undefined) return false;
    const toolCallId = this.#ids.open(questionId);
    const toolName = asNonEmptyText(item.name) ?? 'unknown';
    const input = parseOutput(asText(item.arguments) || '{}');
    this.#emit({ type: 'tool-call', toolCallId, toolName, executor: 'provider', input });
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
